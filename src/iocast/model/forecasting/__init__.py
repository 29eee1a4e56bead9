"""Nouns of forecasting: what is asked of a search, and what is kept of it with the run."""
