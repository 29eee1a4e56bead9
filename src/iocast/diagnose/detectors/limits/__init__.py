"""Detectors of what capped the rate: credits, caps, links, locks, depth."""
