"""Loads through databases: what caches answered, and what lies between a statement and the layer below."""
