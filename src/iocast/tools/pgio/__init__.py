"""pgio, SLOB's method for PostgreSQL: its pgio.conf, and what its runit.sh prints."""
