"""Views and line modes of a live watch: lines with styles, and tables."""
