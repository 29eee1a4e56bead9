"""Folders of copies."""
