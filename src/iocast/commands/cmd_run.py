"""iocast run JOB: a job file or preset on a target."""

from __future__ import annotations

import rich_click as click

from iocast.commands.shell.options import filing, full_option, showing_files
from iocast.commands.shell.request_options import asked_by
from iocast.commands.shell.showing import Into
from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.sessions.requests.measure import MeasureRequest


@click.command()
@asked_by(MeasureRequest, without=("diagnosing", "server"), page=(full_option, showing_files, filing))
def run(request: MeasureRequest, form: str, into: Into | None) -> int:
    """Run JOB (a job file of iocast, fio or vdbench, or a preset) on PATH (default: the directory that a fio job
    names, else the current directory).

    Work files are laid out in PATH if it is a directory; a job of [[database]] tables takes the URL of a database.
    Jobs that write are refused on files that iocast did not create and on block devices that --destroy does not name.
    `iocast plan JOB PATH` shows what a job would do.
    """
    from iocast.sessions.hosts.where_asked import measure_where_asked

    listener = TerminalListener("screen_with_rows" if form == "screen" else form, into)
    measured = measure_where_asked(request, listener)
    return listener.exit_code or int(measured is not None and not measured.passed)
