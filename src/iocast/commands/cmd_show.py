"""iocast show RUN: the card of a run, named by a folder, the beginning of its name, or "last"."""

from __future__ import annotations

import rich_click as click

from iocast import archive
from iocast.archive.catalogue import LAST, find_run
from iocast.commands.options import grading, showing
from iocast.commands.session import RUNS, passed
from iocast.commands.session import show as show_card
from iocast.model.grading import GradeAsked


@click.command()
@click.argument("run", default=LAST)
@click.option("--in", "directory", default=RUNS, show_default=True, metavar="DIR", help="Where run folders are.")
@showing
@grading
def show(run: str, directory: str, form: str, asked: GradeAsked) -> int:
    """Show the card of RUN: a folder, the beginning of the name of one in DIR, or `last` (the default)."""
    from iocast.report.card.judged import judge

    folder = find_run(directory, run)
    judged = judge(archive.load(folder), folder, asked)
    show_card(judged, form)
    return int(not passed(judged, asked))
