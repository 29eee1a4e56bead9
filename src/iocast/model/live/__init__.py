"""Nouns of a live watch: moments, and what happened between two of them."""
