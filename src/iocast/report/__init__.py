"""Runs, findings and forecasts become a Report; a renderer, one file each, writes it out."""

from __future__ import annotations

from typing import Protocol, TextIO

from iocast.model.report import Report
from iocast.report import html, machine, markdown, table_csv, terminal


class Renderer(Protocol):
    """A module that writes a report in one form."""

    def render(self, report: Report, out: TextIO, *, colour: bool, width: int) -> None:
        """Writes the whole report to `out`."""
        ...


RENDERERS: dict[str, Renderer] = {
    "terminal": terminal,
    "html": html,
    "markdown": markdown,
    "json": machine,
    "csv": table_csv,
}

# Which renderer writes a file of this name.
SUFFIXES = {".html": "html", ".htm": "html", ".md": "markdown", ".json": "json", ".csv": "csv", ".txt": "terminal"}
