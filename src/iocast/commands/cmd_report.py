"""iocast report FOLDER...: the card of finished runs, from their folders alone."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from iocast import archive
from iocast.commands.options import filing, grading, showing
from iocast.commands.session import passed, say, show
from iocast.commands.writing import Into, begin_page, get_ready, write_file
from iocast.model.grading import GradeAsked


@click.command()
@click.argument("folders", metavar="FOLDER...", nargs=-1, required=True)
@filing
@showing
@grading
def report(folders: tuple[str, ...], into: Into | None, form: str, asked: GradeAsked) -> int:
    """Show the card of the run in FOLDER again, without touching any device.

    With `-o card.html` it becomes one page that needs nothing else. Of several folders each gets a file of its own,
    with the folder's name in it.
    """
    from iocast.report.card.judged import judge

    get_ready(into)
    failed = False
    files = _files(into.path, folders) if into is not None else ()
    for at, folder in enumerate(folders):
        run = archive.load(folder)
        begin_page(into, run)
        judged = judge(run, folder, asked)
        if into is None:
            show(judged, form)
        else:
            for written in write_file(judged.report(charts=True), files[at], into.theme):
                say(f"wrote {written}")
        failed |= not passed(judged, asked)
    return int(failed)


def _files(output: Path, folders: tuple[str, ...]) -> tuple[Path, ...]:
    """One for each folder, with its name in it, and a number where that is taken."""
    from iocast.report.unique_names import numbered

    if len(folders) == 1:
        return (output,)
    stems = numbered(f"{output.stem}-{Path(folder).resolve().name}" for folder in folders)
    return tuple(output.with_name(f"{stem}{output.suffix}") for stem in stems)
