"""Detectors of other load on the same storage, and of what the way to it made of the requests."""
