"""iocast calibrate PATH: the highest load within a latency limit, the most IOPS and MB/s, the whole curve."""

from __future__ import annotations

import os
import shlex

import rich_click as click

from iocast.commands.shell.options import page_option, presenting, run_options
from iocast.commands.shell.showing import say
from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.errors import SpecError
from iocast.sessions.requests.run_options import RunOptions


@click.command()
@click.argument("path", default=".")
@click.option("--max-latency", metavar="TIME", help="The limit of the response time, e.g. 10ms; required.")
@click.option(
    "--percentile",
    metavar="NUMBER",
    default="99",
    show_default=True,
    help="The limit is one of this percentile, 50 to 99.9; `mean`: of the mean, as CALIBRATE_IO has it.",
)
@click.option("--disks", type=click.IntRange(1, 10_000), help="Disks below PATH: adds IOPS per disk and a check.")
@click.option("--repeat", "times", type=click.IntRange(2, 1000), metavar="N", help="Calibrate N times: do they agree?")
@click.option("--block", metavar="SIZE", default="8k", show_default=True, help="Size of a random read.")
@run_options(destroy=False, price=True)
@page_option
@presenting
def calibrate(
    path: str,
    max_latency: str | None,
    percentile: str,
    disks: int | None,
    times: int | None,
    block: str,
    options: RunOptions,
    page: bool,
    form: str,
) -> int:
    """Find the IOPS that PATH gives within a latency limit, and the most IOPS and MB/s it gives at all.

    One run, reads only: random reads with more and more outstanding until the storage is saturated, random reads at
    rates around the limit, and large sequential reads by one process and by several. PATH is a directory (default:
    the current one), where a work file is laid out, an existing file, a block device, or a simulated device such as
    `sim:hdd`.
    """
    from iocast.sessions.forecasting.calibrate import CalibrateRequest, calibration_asked
    from iocast.sessions.forecasting.calibrate import calibrate as search

    if max_latency is None:
        raise SpecError(
            "--max-latency is missing: the IOPS are searched that keep it", "for example --max-latency 10ms"
        )
    row_seconds = None if options.duration_ns is None else options.duration_ns / 1e9
    asked = calibration_asked(max_latency, percentile, block, disks, row_seconds)
    listener = TerminalListener(form)
    request = CalibrateRequest(path=path, asked=asked, options=options, page=page)
    if times is None:
        search(request, listener)
        return listener.exit_code
    from iocast.sessions.forecasting.repeat_calibration import repeat_calibration

    made = repeat_calibration(request, times, listener)
    if made is not None:
        folder = os.path.relpath(made.folder)
        say(f"run folders: {folder}")
        say(f"to see this again: iocast report {shlex.quote(folder)}")
    return listener.exit_code
