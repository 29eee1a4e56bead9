"""iocast repeat N JOB: the same job several times, and whether its figures repeat."""

from __future__ import annotations

import rich_click as click

from iocast.commands.shell.options import filing, presenting
from iocast.commands.shell.request_options import asked_by
from iocast.commands.shell.showing import Into, deliver_measured
from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.errors import SpecError
from iocast.sessions.requests.compare import RepeatRequest


@click.command()
@asked_by(RepeatRequest)
@filing
@presenting
def repeat(request: RepeatRequest, into: Into | None, form: str) -> int:
    """Run JOB N times on PATH (default: the current directory) and show whether its figures repeat.

    Each run uses the next seed, so offsets differ. The run folders go into one new folder, which `iocast compare`
    takes as a group.
    """
    if request.job == "calibrate":
        raise SpecError(
            "calibrate is not a job: it chooses its rows as it runs",
            "for example iocast calibrate PATH --max-latency 10ms --repeat 3",
        )
    from iocast.sessions.comparing import repeat as measure_again

    listener = TerminalListener()
    repeats = measure_again(request, listener)
    if repeats is not None:
        deliver_measured(repeats, form, into)
    return listener.exit_code
