"""Writes a report into a file whose suffix says in which form."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

from iocast.archive.writing.held_folder import HeldFolder
from iocast.errors import SpecError
from iocast.model.report import Report
from iocast.model.run import Run

WIDTH = 120  # of a text file
# Of one run, from its intervals: no form of a report.
SUFFIXES_OF_RUNS = {".flatfile": "flatfile"}


def put_page(report: Report, folder: HeldFolder) -> None:
    """Writes the page of a report into a folder that iocast made. Raises ArchiveError."""
    from iocast.archive import REPORT_PAGE
    from iocast.archive.writing import named_outputs

    named_outputs.put_page(folder, REPORT_PAGE, _rendered(report, "html"))


def _rendered(report: Report, form: str) -> bytes:
    from iocast.report.renderers import RENDERERS

    out = StringIO(newline="")
    RENDERERS[form].render(report, out, colour=False, width=WIDTH)
    return out.getvalue().encode(errors="backslashreplace")


def write_file(report: Report, path: Path, theme: str = "light", *, force: bool = False) -> list[Path]:
    """Writes any report in the form that the suffix asks for; returns the files. Raises IocastError.

    A file that iocast did not make is replaced with `force` only.
    """
    from iocast.archive.writing.named_outputs import check_output, put_output
    from iocast.report.renderers.pictures import write_pictures

    form = form_of(path)
    if form in SUFFIXES_OF_RUNS.values():
        raise SpecError(f"-o {path}: a {form} is of one run", "name one run folder, or choose another suffix")
    if form == "pictures":
        from iocast.report.plot.theme import THEMES

        return write_pictures(report, path, THEMES[theme], force=force)
    check_output(path, force=force)
    put_output(path, _rendered(report, form), force=force)
    return [path]


def write_flatfile(run: Run, folder: str, path: Path, *, force: bool = False) -> None:
    """Writes the intervals of a run as vdbench's flatfile. Raises IocastError."""
    from iocast.archive import load_courses
    from iocast.archive.writing.named_outputs import put_output
    from iocast.report.renderers.vdbench.vdbench_flatfile import render_flatfile

    out = StringIO(newline="")
    render_flatfile(run, load_courses(folder), out)
    put_output(path, out.getvalue().encode(errors="backslashreplace"), force=force)


def check_file(path: Path, *, force: bool) -> None:
    """Refuses, before anything is measured, a file that `write_file` would refuse. Raises IocastError.

    Pictures have names that depend on what will be drawn.
    """
    from iocast.archive.writing.named_outputs import check_output

    if form_of(path) != "pictures":
        check_output(path, force=force)


def form_of(path: Path) -> str:
    """The form that the suffix of a file asks for: a renderer's name, "flatfile" or "pictures". Raises SpecError."""
    from iocast.report.renderers import SUFFIXES
    from iocast.report.renderers.pictures import SUFFIXES as PICTURES

    suffix = path.suffix.lower()
    if suffix in PICTURES:
        return "pictures"
    if suffix in SUFFIXES_OF_RUNS:
        return SUFFIXES_OF_RUNS[suffix]
    if suffix not in SUFFIXES:
        known = ", ".join((*SUFFIXES, *SUFFIXES_OF_RUNS, *PICTURES))
        raise SpecError(f"-o {path}: unknown suffix; known are {known}", "for example -o card.html")
    return SUFFIXES[suffix]
