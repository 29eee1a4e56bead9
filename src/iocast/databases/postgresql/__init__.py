"""PostgreSQL 14 to 18: its cumulative statistics, and its sessions."""
