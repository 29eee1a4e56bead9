"""MySQL and MariaDB: their performance_schema and status counters, and their sessions."""
