"""What laws, forecasts, calibrations and sizings say, as reports: the verdict in a line, and what it stands on."""
