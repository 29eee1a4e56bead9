"""iocast verify RUN: reads back what a run wrote, whatever happened in between."""

from __future__ import annotations

import rich_click as click

from iocast.commands.shell.options import presenting, within
from iocast.commands.shell.showing import present
from iocast.commands.shell.terminal_listener import TerminalListener


@click.command()
@click.argument("run")
@click.option(
    "--after-crash",
    is_flag=True,
    help="The storage lost power: check only durable writes. Implied after a reboot of this machine.",
)
@within
@presenting
def verify(run: str, after_crash: bool, directory: str, form: str) -> int:
    """Read back everything that the run in folder RUN wrote with verify; report torn, lost or misplaced blocks.

    The run may have ended in any way: its journal records what was submitted and acknowledged. Exit code 1
    when a block is bad.
    """
    from iocast.archive.catalogue import find_run
    from iocast.sessions.verify_run import verify as read_back

    listener = TerminalListener()
    verified = read_back(find_run(directory, run), listener, after_crash=after_crash)
    present(verified.report(), form)
    return listener.exit_code or int(bool(verified.verification.bad_blocks))
