"""iocast watch blk: what the block layer does, live: queue and device times of every device, or of some."""

from __future__ import annotations

import rich_click as click

from iocast.commands.shell.request_options import asked_by
from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.errors import SpecError
from iocast.sessions.requests.blk import BlkRequest


@click.command()
@asked_by(BlkRequest)
@click.option("--iolatency", is_flag=True, help="Print histograms in the format of perf-tools iolatency.")
@click.option("--micro", is_flag=True, help="With --iolatency: use microseconds.")
@click.option("--queue", is_flag=True, help="With --iolatency: include queue time (its -Q), not device time only.")
@click.option("--timestamps", "-T", "timed", is_flag=True, help="Print the local time above each interval.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per interval.")
def blk(request: BlkRequest, iolatency: bool, micro: bool, queue: bool, timed: bool, as_json: bool) -> int:
    """Trace requests of block devices: queue time in the kernel and service time of the device.

    DEVICE is a disk such as `vda`, `/dev/sda` or `8:0`; by default, all disks are traced. Needs root and writes
    nothing to storage; tracing costs about 1 µs of CPU time per request.
    """
    from iocast.report.renderers.block_lines import Shown, interval_text
    from iocast.sessions.live.watch_blocks import watch_blocks
    from iocast.text import harmless

    if (micro or queue) and not iolatency:
        raise SpecError("--micro and --queue need --iolatency", "add --iolatency, or omit them")
    listener = TerminalListener()
    shown = Shown(iolatency, "us" if micro else "ms", queue, as_json, request.slow_ns, timed)
    for times, ended_unix_ns in watch_blocks(request, listener):
        print(harmless(interval_text(times, ended_unix_ns, shown)), flush=True)
    return 0
