"""Histograms in powers of two, as tracing tools print them."""
