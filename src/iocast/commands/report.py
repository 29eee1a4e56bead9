"""iocast report FOLDER...: the card of finished runs, from their folders alone."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from iocast import archive
from iocast.commands.options import grading, showing
from iocast.commands.session import fulfils, say, show
from iocast.commands.writing import THEMES, form_of, write_report
from iocast.model.grading import GradeAsked


@click.command()
@click.argument("folders", metavar="FOLDER...", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write a file instead, with charts: .html, .md, .json, .csv, .txt; .png or .svg for one picture a chart.",
)
@click.option(
    "--theme", type=click.Choice(THEMES), default="light", show_default=True, help="Colours of .png and .svg."
)
@showing
@grading
def report(folders: tuple[str, ...], output: str | None, theme: str, form: str, asked: GradeAsked) -> int:
    """Show the card of the run in FOLDER again, without touching any device.

    With `-o card.html` it becomes one page that needs nothing else. Of several folders each gets a file of its own,
    with the folder's name in it.
    """
    if output is not None:
        form_of(Path(output))  # a mistake is said before anything is read
    passed = True
    for folder in folders:
        run = archive.load(folder)
        if output is None:
            passed &= show(run, folder, form, asked)
            continue
        for file in write_report(run, folder, _file(Path(output), folder, len(folders)), asked, theme):
            say(f"wrote {file}")
        passed &= fulfils(run, folder, asked)
    return 0 if passed else 1


def _file(output: Path, folder: str, count: int) -> Path:
    if count == 1:
        return output
    return output.with_name(f"{output.stem}-{Path(folder).resolve().name}{output.suffix}")
