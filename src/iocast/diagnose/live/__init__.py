"""Opinions on what a live watch sees."""
