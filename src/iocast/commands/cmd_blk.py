"""iocast blk: what the block layer does, live: queue and device times of every device, or of some."""

from __future__ import annotations

import rich_click as click

from iocast.commands.session import option_value, say
from iocast.errors import SpecError
from iocast.units import parse_duration, parse_size

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
def blk(
    devices: tuple[str, ...],
    interval: str,
    count: int | None,
    ops: tuple[str, ...],
    size: str | None,
    slow: str | None,
    iolatency: bool,
    micro: bool,
    queue: bool,
    as_json: bool,
) -> int:
    """Watch the requests of block devices: how long they wait in the kernel's queue, and how long devices take.

    DEVICE is a disk such as `vda`, `/dev/sda` or `8:0`; without any, all are watched. Needs root. Nothing is
    written anywhere; a watch costs about 1 µs of CPU time a request.
    """
    from iocast.commands.interrupts import Interrupts
    from iocast.observe.block import watch
    from iocast.observe.target.whole_disk import find_device, name_of
    from iocast.report.renderers import block_lines

    if (micro or queue) and not iolatency:
        raise SpecError("--micro and --queue are of --iolatency", "add --iolatency, or leave them out")
    interval_ns = option_value("--interval", interval, parse_duration)
    if interval_ns < 10_000_000:
        raise SpecError(f"--interval {interval} is too short", "10ms or more")
    slow_ns = option_value("--slow", slow, parse_duration) if slow else None
    found = dict(find_device(each) for each in devices)
    options = {"ops": ops, "size_bytes": option_value("--size", size, parse_size) if size else None, "slow_ns": slow_ns}
    unit: block_lines.Unit = "us" if micro else "ms"
    with watch(tuple(found), options) as watching, Interrupts() as interrupts:
        for note in watching.notes:
            say(f"note: {note}")
        said = ", ".join(found.values()) or "all devices"
        say(f"tracing requests of {said}, every {interval}; Ctrl-C ends it")
        for times, ended_unix_ns in watching.every(interval_ns, count, interrupts.stopped, name_of):
            if as_json:
                print(block_lines.json_line(times, ended_unix_ns), flush=True)
                continue
            lines = [*block_lines.slow(times, slow_ns)] if slow_ns is not None else []
            if iolatency:
                lines += block_lines.iolatency(block_lines.powers(times, unit, queued=queue), unit)
                lines += block_lines.losses(times)
            else:
                lines += block_lines.live(times)
            print("\n".join(["", *lines]), flush=True)
    return 0
