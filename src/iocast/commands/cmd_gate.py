"""iocast gate BASELINE [PATH]: is storage worse than its baseline? For systems of continuous integration."""

from __future__ import annotations

import rich_click as click

from iocast.commands.shell.options import filing, presenting
from iocast.commands.shell.request_options import asked_by
from iocast.commands.shell.showing import Into, deliver_measured
from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.sessions.requests.compare import GateRequest

CODES = {"passed": 0, "regression": 1, "undecided": 3}


@click.command()
@asked_by(GateRequest)
@filing
@presenting
def gate(request: GateRequest, into: Into | None, form: str) -> int:
    """Measure PATH against BASELINE until throughput and p99 of each row are known to hold, or one to be worse.

    BASELINE is a folder of `iocast repeat`, whose job is run again on PATH (default: where it ran) with the offsets of
    each of its runs. With `--job` it is a path that is measured in turn with PATH: slow changes of the machine then
    cannot pass for a regression. Exits with 0 when PATH passed, with 1 on a regression, with 3 when that is still open
    after the last round. On equal storage at most 5% of gates find a regression, however many rounds and figures there
    are.
    """
    from iocast.sessions.gating import gate as hold_against

    listener = TerminalListener()
    gated = hold_against(request, listener)
    if gated is None:
        return listener.exit_code
    deliver_measured(gated, form, into, again=gated.again)
    return CODES[gated.verdict.outcome]
