"""Reports and messages on a terminal: data on stdout, everything else on stderr."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from iocast.errors import SpecError

if TYPE_CHECKING:
    from iocast.model.report import Report
    from iocast.sessions.comparing import Comparison, Repeats
    from iocast.sessions.run_card import Card

FORMATS = ("terminal", "classic", "json", "csv", "markdown")
THEMES = ("light", "dark", "print", "classic")  # report.charts.drawing.theme.THEMES, without importing it


class Into(NamedTuple):
    """The file that a report goes into, and the colours of pictures."""

    path: Path
    theme: str


def say(text: str) -> None:
    """A message for the person at the terminal: stderr, so that stdout is data only."""
    print(text, file=sys.stderr, flush=True)


def show_card(card: Card, report: Report, form: str) -> None:
    """Prints the card of a run on stdout in one of FORMATS."""
    if form == "classic":
        from iocast.report.renderers.classic import render_run

        render_run(card.run, sys.stdout)
        say(f"run folder: {card.folder}")
    else:
        present(report, form)


def present(report: Report, form: str) -> None:
    """Prints any report on stdout in one of the renderers' forms."""
    from iocast.report.renderers import RENDERERS

    if form not in RENDERERS:
        raise SpecError(f"--format {form} shows one run only", "choose another format, or name one run")
    RENDERERS[form].render(report, sys.stdout, colour=_colour(), width=_width())


def deliver(made: Comparison | Repeats, form: str, into: Into | None) -> None:
    """Prints a report, or writes it into a file with charts. Raises IocastError."""
    deliver_report(made.report(charts=into is not None), form, into)


def deliver_report(report: Report, form: str, into: Into | None) -> None:
    """Prints a report that is made, or writes it into a file. Raises IocastError."""
    if into is None:
        present(report, form)
        return
    from iocast.sessions.report_files import write_file

    for file in write_file(report, into.path, into.theme):
        say(f"wrote {file}")


def print_json(value: object) -> None:
    """A value of a verb that has no report, as JSON on stdout."""
    import msgspec

    print(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def _colour() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _width() -> int:
    from shutil import get_terminal_size

    return get_terminal_size((120, 24)).columns
