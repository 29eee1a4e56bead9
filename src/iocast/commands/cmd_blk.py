"""iocast blk: what the block layer does, live: queue and device times of every device, or of some."""

from __future__ import annotations

from typing import Any

import rich_click as click

from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.errors import SpecError

OPS = ("read", "write", "trim", "flush", "other")


@click.command()
@click.argument("devices", nargs=-1, metavar="[DEVICE]...")
@click.option("--interval", default="1s", show_default=True, metavar="TIME", help="How often to write.")
@click.option("--count", type=click.IntRange(1), metavar="N", help="End after so many intervals.")
@click.option("--op", "ops", type=click.Choice(OPS), multiple=True, help="Only this operation; may be given again.")
@click.option("--size", metavar="SIZE", help="Only requests of exactly this size, e.g. 8KiB.")
@click.option("--slow", metavar="TIME", help="Name each request that took longer, e.g. 500ms.")
@click.option("--iolatency", is_flag=True, help="Histograms as iolatency of perf-tools prints them.")
@click.option("--micro", is_flag=True, help="With --iolatency: in microseconds.")
@click.option("--queue", is_flag=True, help="With --iolatency: from the queue on (its -Q), not from the device.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object an interval.")
def blk(iolatency: bool, micro: bool, queue: bool, as_json: bool, **which: Any) -> int:
    """Watch the requests of block devices: how long they wait in the kernel's queue, and how long devices take.

    DEVICE is a disk such as `vda`, `/dev/sda` or `8:0`; without any, all are watched. Needs root. Nothing is
    written anywhere; a watch costs about 1 µs of CPU time a request.
    """
    from iocast.report.renderers.block_lines import Shown, interval_text
    from iocast.sessions.watch_blocks import watch_blocks, watch_request

    if (micro or queue) and not iolatency:
        raise SpecError("--micro and --queue are of --iolatency", "add --iolatency, or leave them out")
    request, listener = watch_request(**which), TerminalListener()
    shown = Shown(iolatency, "us" if micro else "ms", queue, as_json, request.slow_ns)
    for times, ended_unix_ns in watch_blocks(request, listener):
        print(interval_text(times, ended_unix_ns, shown), flush=True)
    return 0
