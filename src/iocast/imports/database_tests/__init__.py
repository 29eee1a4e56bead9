"""Results of tools that make their load through a database."""
