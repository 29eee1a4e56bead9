"""Plots: typed marks between axes, and the SVG that is written of them. Nothing here knows what is plotted."""
