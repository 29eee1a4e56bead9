"""iocast show RUN: the card of a run, named by a folder, the beginning of its name, or "last"."""

from __future__ import annotations

import rich_click as click

from iocast.archive.catalogue import LAST
from iocast.commands.shell.options import grading, showing_matrices, within
from iocast.commands.shell.showing import named_run
from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.model.grading import GradeRequest


@click.command()
@click.argument("run", default=LAST)
@within
@showing_matrices
@grading
def show(run: str, directory: str, form: str, grade_request: GradeRequest) -> int:
    """Show the card of RUN: a folder, the start of a folder's name in DIR, or `last` (the default)."""
    from iocast.sessions.show_again import show_again

    return int(not show_again(named_run(directory, run), grade_request, TerminalListener(form)))
