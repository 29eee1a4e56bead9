"""Job files that load a database: their tables, and how they are read."""
