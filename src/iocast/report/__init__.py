"""Runs, findings and forecasts become a Report, which says what is to be told; renderers write it out."""
