"""A tape of a live watch as a report."""
