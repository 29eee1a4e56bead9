"""Histograms of latency without the load behind them: what tracing tools, hypervisors and databases counted."""
