"""The report of a comparison of two runs or groups of repeats."""
