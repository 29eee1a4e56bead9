"""iocast capture: this machine's I/Os as a trace, or its disk counters as a long log."""

from __future__ import annotations

import rich_click as click
from msgspec.structs import replace

from iocast.commands.shell.options import json_option
from iocast.commands.shell.request_options import asked_by
from iocast.commands.shell.showing import print_json
from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.errors import SpecError
from iocast.sessions.requests.capture import CaptureRequest, CountersRequest

_COUNTERS = (
    click.option("--iostat", is_flag=True, help="Log the disk counters instead: cheap enough for days."),
    click.option("--interval", metavar="TIME", help="With --iostat: time between copies; default 1s."),
)


@click.command(context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False})
@asked_by(CaptureRequest, names=_COUNTERS)
@json_option
def capture(request: CaptureRequest, iostat: bool, interval: str | None, as_json: bool) -> int:
    """Capture I/Os of this machine into a trace: of a device, a process and its children, a directory, or a COMMAND.

    Needs root: it uses the kernel's tracepoints. Where these cannot be used, strace follows the process instead. The
    trace is a table of events (Parquet) for `iocast replay`. With --iostat, a log of disk counters for
    `iocast import`.
    """
    from iocast.sessions.tracing.capture_trace import capture as captured

    listener = TerminalListener()
    if iostat:
        return _log_counters(request, interval or "1s", listener, as_json)
    if interval:
        raise SpecError("--interval needs --iostat", "add --iostat, or omit it")
    report = captured(replace(request, to=request.to or "capture.parquet"), listener)
    if as_json:
        print_json(report)
    return 0


def _log_counters(capture_request: CaptureRequest, interval: str, listener: TerminalListener, as_json: bool) -> int:
    """The counters of disks instead of their I/Os."""
    from iocast.sessions.requests.run_options import interval_of
    from iocast.sessions.tracing.capture_trace import log_counters

    if capture_request.command or capture_request.pids or capture_request.path or capture_request.ring_kb:
        raise SpecError("--iostat logs disk counters: no process, path or command", "give --device, or nothing")
    request = CountersRequest(
        to=capture_request.to or "counters.log",
        devices=capture_request.devices,
        interval_ns=interval_of(interval),
        seconds=capture_request.seconds,
        names=capture_request.names,
    )
    logged = log_counters(request, listener)
    if as_json:
        print_json(logged)
    return 0
