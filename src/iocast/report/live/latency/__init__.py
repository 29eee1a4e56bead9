"""Latency histograms of a live watch: heat maps and tables of any source of them."""
