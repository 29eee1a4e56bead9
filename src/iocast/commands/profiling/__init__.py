"""Doors to profiles of traces."""
