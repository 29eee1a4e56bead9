"""What the laws and the forecasts say, as reports."""
