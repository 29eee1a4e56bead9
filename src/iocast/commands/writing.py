"""Writes a report into a file whose name says in which form; `card` and `run` leave one in the run folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from iocast.errors import ArchiveError, IocastError, SpecError

if TYPE_CHECKING:
    from iocast.model.report import Report
    from iocast.model.run import Run
    from iocast.report.card.judged import Judged

PAGE = "report.html"
THEMES = ("light", "dark", "print", "classic")  # report.charts.drawing.theme.THEMES, without importing it
WIDTH = 120  # of a text file


class Into(NamedTuple):
    """The file that a report goes into, and the colours of pictures."""

    path: Path
    theme: str


def get_ready(into: Into | None) -> None:
    """Lets what draws a page start, before what is drawn has been read and computed."""
    if _is_page(into):
        from iocast.report.charts.drawing import engine

        engine.get_ready()


def begin_page(into: Into | None, run: Run) -> None:
    """Begins to draw what the page of a run will show, before the run is examined."""
    if _is_page(into):
        from iocast.report.charts import early
        from iocast.report.charts.drawing.theme import PAGE as THEME
        from iocast.report.charts.svg import begin

        for chart in early(run):
            begin(chart, THEME)


def _is_page(into: Into | None) -> bool:
    return into is not None and form_of(into.path) == "html"


def deliver(report: Report, form: str, into: Into | None) -> None:
    """Prints a report in one of the renderers' forms, or writes it into a file. Raises IocastError."""
    from iocast.commands.session import present, say

    if into is None:
        present(report, form)
        return
    for file in write_file(report, into.path, into.theme):
        say(f"wrote {file}")


def write_file(report: Report, path: Path, theme: str = "light") -> list[Path]:
    """Writes any report in the form that the suffix asks for; returns the files. Raises IocastError."""
    from iocast.report.renderers import RENDERERS
    from iocast.report.renderers.pictures import write_pictures

    form = form_of(path)
    if form == "pictures":
        from iocast.report.charts.drawing.theme import THEMES as KNOWN

        return write_pictures(report, path, KNOWN[theme])
    # Written beside and renamed, so that a page that is open in a browser is never half a page.
    fresh = path.with_name(path.name + ".new")
    try:
        with fresh.open("w", encoding="utf-8", newline="") as out:
            RENDERERS[form].render(report, out, colour=False, width=WIDTH)
        os.replace(fresh, path)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise ArchiveError(f"cannot write {path}: {error.strerror}", "name another place with -o") from error
    return [path]


def form_of(path: Path) -> str:
    """The form that the suffix of a file asks for: a renderer's name, or "pictures". Raises SpecError."""
    from iocast.report.renderers import SUFFIXES
    from iocast.report.renderers.pictures import SUFFIXES as PICTURES

    suffix = path.suffix.lower()
    if suffix in PICTURES:
        return "pictures"
    if suffix not in SUFFIXES:
        known = ", ".join((*SUFFIXES, *PICTURES))
        raise SpecError(f"-o {path}: what form is that? The suffix says it: {known}", "for example -o card.html")
    return SUFFIXES[suffix]


def leave_page(judged: Judged) -> str:
    """Writes the page into a run folder; says where it is, or why it could not be. The measurement is safe already."""
    page = Path(judged.folder, PAGE)
    try:
        write_file(judged.report(charts=True), page)
    except IocastError as error:
        return f"note: no {PAGE}: {error.message}"
    from iocast.report.charts.drawing.engine import what_is_missing

    missing = what_is_missing()
    return f"report: {os.path.relpath(page)}" + (f"\nnote: {missing}" if missing else "")
