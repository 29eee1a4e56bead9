"""iocast report FOLDER...: the card of finished runs, from their folders alone."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from iocast import archive
from iocast.commands.options import filing, grading, showing
from iocast.commands.session import passed, say, show
from iocast.commands.writing import Into, begin_page, form_of, get_ready, write_file
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
    from iocast.report.complete import judge

    get_ready(into)
    failed = False
    for folder in folders:
        run = archive.load(folder)
        if into is not None and form_of(into.path) == "html":
            begin_page(run)
        judged = judge(run, folder, asked)
        if into is None:
            show(judged, form)
        else:
            file = _file(into.path, folder, len(folders))
            for written in write_file(judged.report(charts=True), file, into.theme):
                say(f"wrote {written}")
        failed |= not passed(judged, asked)
    return int(failed)


def _file(output: Path, folder: str, count: int) -> Path:
    if count == 1:
        return output
    return output.with_name(f"{output.stem}-{Path(folder).resolve().name}{output.suffix}")
