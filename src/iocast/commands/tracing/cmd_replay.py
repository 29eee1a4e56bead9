"""iocast replay TRACE PATH: the I/Os of a trace again, on another storage."""

from __future__ import annotations

import rich_click as click

from iocast.commands.shell.options import full_option, showing
from iocast.commands.shell.request_options import asked_by
from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.sessions.requests.replay import ReplayRequest


@click.command()
@asked_by(ReplayRequest, page=(full_option, showing))
def replay(request: ReplayRequest, form: str) -> int:
    """Replay TRACE, a trace of any format that iocast reads or its event table, on PATH (default: the
    current directory).

    In a directory a work file as large as the trace reaches is laid out and filled. Writes are replayed only where a
    job may write: into work files, and on the block device that --destroy names. The result is a run like any other.

    With --map, each target of the trace (a disk, a file) goes to an existing file or device of its own, or to one
    with others; targets that are not mapped are left out. Files are only read.
    """
    from iocast.sessions.tracing.replay_trace import replay

    listener = TerminalListener("screen_with_rows" if form == "screen" else form)
    measured = replay(request, listener)
    return listener.exit_code or int(not measured.passed)
