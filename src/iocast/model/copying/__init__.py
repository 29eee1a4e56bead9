"""Copies of a file as nouns."""
