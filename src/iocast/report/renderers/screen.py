"""Renders a card as one screen: verdict, next steps, then a line each for letters, figures, findings and bottleneck."""

from __future__ import annotations

from typing import TextIO

from iocast.model.report import Report
from iocast.report.renderers.terminal import Page


def render(report: Report, out: TextIO, *, colour: bool, width: int) -> None:
    """Writes what a report comes to, at most `width` columns wide; the figures stand on the page."""
    Page(out, colour=colour, width=width).write_screen(report)
