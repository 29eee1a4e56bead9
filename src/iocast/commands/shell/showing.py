"""Reports and messages on a terminal: data on stdout, everything else on stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from iocast.commands.shell.streams import work_goes_on
from iocast.errors import SpecError
from iocast.text import harmless, harmless_json

if TYPE_CHECKING:
    from iocast.model.report import Report
    from iocast.sessions.card import Card
    from iocast.sessions.comparing import Comparison, Repeats
    from iocast.sessions.gating import Gated

FORMATS = ("terminal", "classic", "r", "json", "csv", "markdown")
OF_ONE_RUN = ("classic", "r", "orion", "vdbench", "flatfile", "latencymap")
OF_FILES = (*FORMATS, "vdbench", "flatfile")  # of verbs that run job files of other tools
OF_MATRICES = (*FORMATS, "orion", "vdbench", "flatfile", "latencymap")  # of verbs that show a run of `iocast matrix`
THEMES = ("light", "dark", "print", "classic")  # report.plot.theme.THEMES, without importing it


class Into(NamedTuple):
    """The file that a report goes into, the colours of pictures, and whether any file may be replaced."""

    path: Path
    theme: str
    force: bool = False


def say(text: str) -> None:
    """A message for the person at the terminal: stderr, so that stdout is data only."""
    print(harmless(text), file=sys.stderr, flush=True)


def named_run(directory: str, name: str) -> str:
    """The run that is meant; where a path hides the run of a tag, that is said. Raises ArchiveError."""
    from iocast.archive.catalogue import find_run, hidden_tag

    folder = find_run(directory, name)
    if other := hidden_tag(directory, name, folder):
        say(f"note: {name} is a path here and is taken; the run with the tag {name} is {other}")
    return folder


def put(text: str) -> None:
    """Words on stdout, of which some may be from a file or the name of one."""
    print(harmless(text))


def show_card(card: Card, report: Report, form: str) -> None:
    """Prints the card of a run on stdout in one of FORMATS."""
    if form not in OF_ONE_RUN:
        present(report, form)
        return
    run = card.run
    match form:
        case "orion":
            from iocast.report.matrix.orion_files import render_summary

            render_summary(run, sys.stdout)
        case "vdbench":
            from iocast.archive import load_courses
            from iocast.report.renderers.vdbench.vdbench_console import render_console

            render_console(run, load_courses(card.folder), sys.stdout)
        case "flatfile":
            from iocast.archive import load_courses
            from iocast.report.renderers.vdbench.vdbench_flatfile import render_flatfile

            render_flatfile(run, load_courses(card.folder), sys.stdout)
        case "latencymap":
            from iocast.archive import load_courses
            from iocast.report.renderers.latency_map_records import render_records

            render_records(run, load_courses(card.folder), sys.stdout)
        case "r":
            from iocast.report.renderers.r_matrix import render_matrix

            render_matrix(run, sys.stdout)
        case _:
            from iocast.report.renderers.classic import render_run

            render_run(run, sys.stdout)
    say(f"run folder: {card.folder}")


def present(report: Report, form: str) -> None:
    """Prints any report on stdout in one of the renderers' forms."""
    from iocast.report.renderers import RENDERERS

    if form not in RENDERERS:
        raise SpecError(f"--format {form} shows one run only", "choose another format, or name one run")
    RENDERERS[form].render(report, sys.stdout, colour=_colour(), width=width())


def tell_report(report: Report) -> None:
    """A report that nobody asked for, on stderr, so that stdout is data only."""
    from iocast.report.renderers import RENDERERS

    RENDERERS["terminal"].render(report, sys.stderr, colour=False, width=width())


def deliver(outcome: Comparison | Repeats | Gated, form: str, into: Into | None) -> None:
    """Prints a report, or writes it into a file with charts. Raises IocastError."""
    deliver_report(outcome.report(charts=into is not None), form, into)


def deliver_measured(outcome: Comparison | Repeats | Gated, form: str, into: Into | None, again: str = "") -> None:
    """The same for runs that were just made; where they are, and what shows them `again`, is said even if nothing can
    be printed or written."""
    from shlex import quote

    try:
        with work_goes_on():
            deliver(outcome, form, into)
    finally:
        folder = os.path.relpath(outcome.folder)
        say(f"run folders: {folder}" + ("/A and B" if os.path.isdir(os.path.join(outcome.folder, "A")) else ""))
        say(f"to see this again: {again or f'iocast report {quote(folder)}'}")


def deliver_report(report: Report, form: str, into: Into | None) -> None:
    """Prints a report that is made, or writes it into a file. Raises IocastError."""
    if into is None:
        present(report, form)
        return
    from iocast.sessions.report_files import write_file

    for file in write_file(report, into.path, into.theme, force=into.force):
        say(f"wrote {file}")


def print_json(value: object) -> None:
    """A value of a verb that has no report, as JSON on stdout."""
    import msgspec

    print(harmless_json(msgspec.json.format(msgspec.json.encode(value), indent=2).decode()))


def _colour() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def print_listed(said: Mapping[str, str]) -> None:
    """Names with what is said of each, which goes on under itself."""
    from textwrap import wrap

    names = max(map(len, said)) + 2
    for name, words in said.items():
        for at, line in enumerate(wrap(words, max(30, width() - names)) or [""]):
            put(f"{'' if at else name:{names}}{line}".rstrip())


def width() -> int:
    """How many columns the terminal has."""
    from shutil import get_terminal_size

    return get_terminal_size((120, 24)).columns
