"""Forecasts as reports: the verdict in a line, what it stands on, and its arithmetic."""
