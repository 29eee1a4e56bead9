"""Capture, profile and replay of real workloads: each a story of one screen."""
