"""The verbs of calibration, forecasts and sizing, one file each."""
