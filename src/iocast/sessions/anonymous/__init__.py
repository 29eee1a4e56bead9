"""Outputs without names: copies of folders, reels of a watch, and the key of their pseudonyms."""
