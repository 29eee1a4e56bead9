"""Calibration, forecasts, sizing: each a story of one screen."""
