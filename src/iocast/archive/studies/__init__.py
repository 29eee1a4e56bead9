"""Folders of studies."""
