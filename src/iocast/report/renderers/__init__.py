"""Renderers: each writes the same report in one form; one file a form, listed here."""

from __future__ import annotations

from typing import Protocol, TextIO

from iocast.model.report import Report
from iocast.report.renderers import (
    csv_table,
    html,
    json_report,
    junit,
    markdown,
    screen,
    screen_with_rows,
    terminal,
)


class Renderer(Protocol):
    """A module that writes a report in one form."""

    def render(self, report: Report, out: TextIO, *, colour: bool, width: int) -> None:
        """Writes the whole report to `out`."""
        ...


RENDERERS: dict[str, Renderer] = {
    "terminal": terminal,
    "screen": screen,
    "screen_with_rows": screen_with_rows,
    "html": html,
    "markdown": markdown,
    "json": json_report,
    "csv": csv_table,
    "junit": junit,
}

# Which renderer writes a file of this name.
SUFFIXES = {
    ".html": "html",
    ".htm": "html",
    ".md": "markdown",
    ".json": "json",
    ".csv": "csv",
    ".xml": "junit",
    ".txt": "terminal",
}
