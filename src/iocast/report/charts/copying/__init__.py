"""Charts of copies."""
