"""Charts of a forecast."""
