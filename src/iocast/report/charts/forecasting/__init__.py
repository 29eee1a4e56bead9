"""Charts of forecasts and sizes."""
