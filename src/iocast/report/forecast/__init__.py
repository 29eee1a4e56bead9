"""What laws, forecasts and sizings say, as reports: the verdict in a line, what it stands on, the arithmetic."""
