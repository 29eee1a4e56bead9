"""Profiles as folders."""
