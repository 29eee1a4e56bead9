"""The language of ORION: its summaries, matrices and histograms."""
