"""Themes: see report/plot/theme.py."""

from iocast.report.plot.theme import *  # noqa: F403
