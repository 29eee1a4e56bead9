"""Detectors of answers that came from something nearer than the medium: caches, holes, reduction, tiers."""
