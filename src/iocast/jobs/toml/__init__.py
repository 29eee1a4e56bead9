"""Job files in TOML, read into a Job and written from one; the schema of their fields."""
