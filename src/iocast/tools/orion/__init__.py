"""The language of ORION: its command line and data points, its summaries, matrices and histograms."""
