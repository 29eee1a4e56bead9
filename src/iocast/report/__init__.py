"""Runs, findings and forecasts become a Report; a renderer, one file each, writes it out."""

from __future__ import annotations

from typing import Protocol, TextIO

from iocast.model.report import Report
from iocast.report import machine, terminal


class Renderer(Protocol):
    """A module that writes a report in one form."""

    def render(self, report: Report, out: TextIO, *, colour: bool, width: int) -> None:
        """Writes the whole report to `out`."""
        ...


RENDERERS: dict[str, Renderer] = {"terminal": terminal, "json": machine}
