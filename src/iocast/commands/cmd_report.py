"""iocast report FOLDER...: the card of finished runs, from their folders alone."""

from __future__ import annotations

import rich_click as click

from iocast.commands.shell.options import filing, grading, showing
from iocast.commands.shell.showing import Into
from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.model.grading import GradeAsked


@click.command()
@click.argument("folders", metavar="FOLDER...", nargs=-1, required=True)
@filing
@showing
@grading
def report(folders: tuple[str, ...], into: Into | None, form: str, asked: GradeAsked) -> int:
    """Show the card of the run in FOLDER again, without any I/O to its target.

    `-o card.html` writes one self-contained page. With several folders, each gets its own file,
    named after the folder.
    """
    from iocast.sessions.show_again import ReportFile, show_again, write_again

    listener = TerminalListener(form)
    if into is None:
        passed = [show_again(folder, asked, listener) for folder in folders]
    else:
        passed = write_again(folders, ReportFile(into.path, into.theme), asked, listener)
    return int(not all(passed))
