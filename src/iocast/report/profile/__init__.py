"""A profile, and two profiles beside each other, as reports."""
