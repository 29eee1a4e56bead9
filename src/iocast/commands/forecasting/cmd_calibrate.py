"""iocast calibrate PATH: the highest load within a latency limit, the most IOPS and MB/s, the whole curve."""

from __future__ import annotations

import os
import shlex

import rich_click as click

from iocast.commands.shell.options import presenting
from iocast.commands.shell.request_options import asked_by
from iocast.commands.shell.showing import say
from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.sessions.requests.calibrate import CalibrateRequest

_REPEAT = click.option(
    "--repeat", "times", type=click.IntRange(2, 1000), metavar="N", help="Calibrate N times: do they agree?"
)


@click.command()
@asked_by(CalibrateRequest, block=(_REPEAT,))
@presenting
def calibrate(request: CalibrateRequest, times: int | None, form: str) -> int:
    """Find the IOPS that PATH gives within a latency limit, and the most IOPS and MB/s it gives at all.

    One run, reads only: random reads with more and more outstanding until the storage is saturated, random reads at
    rates around the limit, and large sequential reads by one process and by several. PATH is a directory (default:
    the current one), where a work file is laid out, an existing file, a block device, or a simulated device such as
    `sim:hdd`.
    """
    from iocast.sessions.forecasting.calibrate import calibrate as search

    listener = TerminalListener(form)
    if times is None:
        search(request, listener)
        return listener.exit_code
    from iocast.sessions.forecasting.repeat_calibration import repeat_calibration

    repeats = repeat_calibration(request, times, listener)
    if repeats is not None:
        folder = os.path.relpath(repeats.folder)
        say(f"run folders: {folder}")
        say(f"to see this again: iocast report {shlex.quote(folder)}")
    return listener.exit_code
