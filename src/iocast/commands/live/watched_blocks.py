"""iocast watch blk: what the block layer does, live: queue and device times of every device, or of some."""

from __future__ import annotations

from typing import Any

import rich_click as click

from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.errors import SpecError

OPS = ("read", "write", "trim", "flush", "other")


@click.command()
@click.argument("devices", nargs=-1, metavar="[DEVICE]...")
@click.option("--interval", default="1s", show_default=True, metavar="TIME", help="Time between reports.")
@click.option("--count", type=click.IntRange(1), metavar="N", help="Stop after N intervals.")
@click.option("--op", "ops", type=click.Choice(OPS), multiple=True, help="Show only this operation; may be repeated.")
@click.option("--size", metavar="SIZE", help="Show only requests of exactly this size, e.g. 8KiB.")
@click.option("--slow", metavar="TIME", help="List each request that took longer, e.g. 500ms.")
@click.option("--iolatency", is_flag=True, help="Print histograms in the format of perf-tools iolatency.")
@click.option("--micro", is_flag=True, help="With --iolatency: use microseconds.")
@click.option("--queue", is_flag=True, help="With --iolatency: include queue time (its -Q), not device time only.")
@click.option("--time", "-T", "timed", is_flag=True, help="Print the local time above each interval.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per interval.")
def blk(iolatency: bool, micro: bool, queue: bool, timed: bool, as_json: bool, **which: Any) -> int:
    """Trace requests of block devices: queue time in the kernel and service time of the device.

    DEVICE is a disk such as `vda`, `/dev/sda` or `8:0`; by default, all disks are traced. Needs root and writes
    nothing to storage; tracing costs about 1 µs of CPU time per request.
    """
    from iocast.report.renderers.block_lines import Shown, interval_text
    from iocast.sessions.live.watch_blocks import watch_blocks, watch_request
    from iocast.text import harmless

    if (micro or queue) and not iolatency:
        raise SpecError("--micro and --queue need --iolatency", "add --iolatency, or omit them")
    request, listener = watch_request(**which), TerminalListener()
    shown = Shown(iolatency, "us" if micro else "ms", queue, as_json, request.slow_ns, timed)
    for times, ended_unix_ns in watch_blocks(request, listener):
        print(harmless(interval_text(times, ended_unix_ns, shown)), flush=True)
    return 0
