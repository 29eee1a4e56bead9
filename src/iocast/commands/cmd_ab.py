"""iocast ab JOB TARGET_A TARGET_B: the same job on two targets in turns, and the comparison."""

from __future__ import annotations

import rich_click as click

from iocast.commands.shell.options import filing, presenting
from iocast.commands.shell.request_options import asked_by
from iocast.commands.shell.showing import Into, deliver_measured
from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.sessions.requests.compare import AbRequest


@click.command()
@asked_by(AbRequest)
@filing
@presenting
def ab(request: AbRequest, into: Into | None, form: str) -> int:
    """Run JOB on TARGET_A and TARGET_B in turn and compare them.

    Each round measures both targets in random order (set by the seed), so that slow drift of the machine does
    not favour one of them.
    """
    from iocast.sessions.comparing import ab as measure_both

    listener = TerminalListener()
    comparison = measure_both(request, listener)
    if comparison is not None:
        deliver_measured(comparison, form, into)
    return listener.exit_code
