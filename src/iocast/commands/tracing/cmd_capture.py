"""iocast capture: this machine's I/Os as a trace, or its disk counters as a long log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import rich_click as click

from iocast.commands.shell.options import anonymous_option, json_option
from iocast.commands.shell.showing import print_json
from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.errors import SpecError

if TYPE_CHECKING:
    from iocast.model.anonymity.pseudonyms import Pseudonyms


@click.command(context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False})
@click.argument("command", nargs=-1, metavar="[-- COMMAND]...")
@click.option("--device", "devices", multiple=True, metavar="NAME", help="Block requests of this disk; repeatable.")
@click.option("--pid", "pids", type=click.IntRange(1), multiple=True, help="System calls of this process; repeatable.")
@click.option(
    "--path",
    "below",
    default="",
    metavar="DIR",
    help="Only system calls on files below DIR; of all processes, or of those that --pid or COMMAND names.",
)
@click.option("-o", "--output", "to", metavar="FILE", help="The trace; default capture.parquet, counters.log.")
@click.option("--seconds", type=float, metavar="N", help="Stop after so long; otherwise at Ctrl-C.")
@click.option("--ring", metavar="SIZE", help="Trace buffer of each processor, e.g. 64MiB, where records are lost.")
@click.option("--iostat", is_flag=True, help="Log the disk counters instead: cheap enough for days.")
@click.option("--interval", metavar="TIME", help="With --iostat: time between copies; default 1s.")
@anonymous_option
@json_option
def capture(
    command: tuple[str, ...],
    devices: tuple[str, ...],
    pids: tuple[int, ...],
    below: str,
    to: str | None,
    seconds: float | None,
    ring: str | None,
    iostat: bool,
    interval: str | None,
    as_json: bool,
    names: Pseudonyms | None,
) -> int:
    """Capture I/Os of this machine into a trace: of a device, a process and its children, a directory, or a COMMAND.

    Needs root: it uses the kernel's tracepoints. Where these cannot be used, strace follows the process instead. The
    trace is a table of events (Parquet) for `iocast replay`. With --iostat, a log of disk counters for
    `iocast import`.
    """
    from iocast.sessions.live.watch_blocks import interval_of
    from iocast.sessions.requests.run_options import option_value
    from iocast.sessions.tracing.capture_trace import CaptureRequest, CountersRequest, log_counters
    from iocast.sessions.tracing.capture_trace import capture as captured
    from iocast.units import parse_size

    listener = TerminalListener()
    if iostat:
        if command or pids or below or ring:
            raise SpecError("--iostat logs disk counters: no process, path or command", "give --device, or nothing")
        every_ns = interval_of(interval or "1s")
        wanted = CountersRequest(
            to=to or "counters.log", devices=devices, interval_ns=every_ns, seconds=seconds, names=names
        )
        logged = log_counters(wanted, listener)
        if as_json:
            print_json(logged)
        return 0
    if interval:
        raise SpecError("--interval needs --iostat", "add --iostat, or omit it")
    request = CaptureRequest(
        to=to or "capture.parquet",
        devices=devices,
        pids=pids,
        path=below,
        command=command,
        seconds=seconds,
        ring_kb=None if ring is None else max(64, option_value("--ring", ring, parse_size) >> 10),
        names=names,
    )
    report = captured(request, listener)
    if as_json:
        print_json(report)
    return 0
