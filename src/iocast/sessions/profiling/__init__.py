"""Profiles of traces: made, compared, turned into loads, and held against what a load did."""
