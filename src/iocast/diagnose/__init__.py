"""Opinions with evidence: detectors, trust, grades and experiments; they read runs and never touch the machine."""
