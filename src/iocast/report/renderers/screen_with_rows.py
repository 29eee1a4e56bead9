"""Renders a card as its screen with a table of its rows, where they are eight at most: what `iocast run` shows."""

from __future__ import annotations

from typing import TextIO

from iocast.model.report import Report
from iocast.report.renderers.terminal import Page


def render(report: Report, out: TextIO, *, colour: bool, width: int) -> None:
    """Writes what a report comes to and the figures of its rows, at most `width` columns wide."""
    Page(out, colour=colour, width=width).write_screen(report, rows=True)
