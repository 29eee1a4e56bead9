"""capture: the I/Os of this machine become a trace; or the counters of its disks a long, cheap log."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from msgspec import Struct

from iocast.errors import SpecError, TargetError
from iocast.sessions.events import CaptureBegun, CaptureEnded, CommandGoesOn, CountersLogged
from iocast.sessions.listener import Listener
from iocast.traces.capture import Captured, Capturing, HeldCommand, start
from iocast.traces.read_traces import TraceReport

_LOOK_S = 0.05


class CaptureRequest(Struct, frozen=True, kw_only=True):
    """What to capture, into which file, for how long: until it is stopped, or the command ends, without `seconds`."""

    to: str
    devices: tuple[str, ...] = ()
    pids: tuple[int, ...] = ()
    path: str = ""
    command: tuple[str, ...] = ()
    seconds: float | None = None
    ring_kb: int | None = None


class CountersRequest(Struct, frozen=True, kw_only=True):
    """Which disks to log the counters of (all when none is named), how often, for how long."""

    to: str
    devices: tuple[str, ...] = ()
    interval_ns: int = 1_000_000_000
    seconds: float | None = None


def capture(request: CaptureRequest, listener: Listener) -> TraceReport:
    """Captures until it is over; the report accounts for every record. Raises TargetError, SpecError."""
    _check(request)
    with listener.working() as stopping:
        command = HeldCommand(request.command) if request.command else None
        try:
            capturing = start(_captured(request, command), request.to)
        except BaseException:
            if command is not None:
                command.kill()
            raise
        try:
            listener.tell(CaptureBegun(_said(request), request.to, capturing.notes))
            if command is not None:
                command.let_go()
            begun = time.monotonic()
            _wait(request, capturing, command, stopping)
            elapsed_ns = round((time.monotonic() - begun) * 1e9)
            report = capturing.finish()
        finally:
            capturing.stop()
    if command is not None and command.exit_code is None:
        listener.tell(CommandGoesOn(command.pid))
    listener.tell(CaptureEnded(request.to, report, elapsed_ns))
    return report


def log_counters(request: CountersRequest, listener: Listener) -> CountersLogged:
    """Copies the disk counters until it is stopped. Raises TargetError."""
    from iocast.observe.target.whole_disk import find_device
    from iocast.traces.counter_log import CounterLog

    names = tuple(find_device(name)[1] for name in request.devices)
    log = CounterLog(request.to, names)
    try:
        with listener.working() as stopping:
            said = f"counters of {', '.join(names) or 'all disks'}"
            listener.tell(CaptureBegun(said, request.to, ()))
            log.run(request.interval_ns, request.seconds, stopping)
    finally:
        log.close()
    logged = CountersLogged(request.to, log.copies, log.bytes)
    listener.tell(logged)
    return logged


def _check(request: CaptureRequest) -> None:
    if not (request.devices or request.pids or request.path or request.command):
        raise SpecError("nothing to capture", "give --device, --pid, --path, or -- COMMAND")
    if request.seconds is not None and request.seconds <= 0:
        raise SpecError(f"--seconds {request.seconds:g} is not above 0", "omit it to capture until Ctrl-C")
    if os.path.lexists(request.to):  # a link that leads nowhere, too
        raise TargetError(f"{request.to} exists", "give another file (-o), or move it away")
    for pid in request.pids:
        if not os.path.exists(f"/proc/{pid}"):
            raise TargetError(f"process {pid} does not exist", "`ps` lists the processes of this machine")
    if request.path and not os.path.exists(request.path):
        raise TargetError(f"{request.path} does not exist", "give a directory or a file")


def _captured(request: CaptureRequest, command: HeldCommand | None) -> Captured:
    from iocast.observe.target.whole_disk import find_device

    found = [find_device(name) for name in request.devices]
    return Captured(
        devices=tuple(((number.major, number.minor), name) for number, name in found),
        pids=(*request.pids, *(() if command is None else (command.pid,))),
        path=os.path.realpath(request.path) if request.path else "",
        ring_kb=request.ring_kb,
    )


def _said(request: CaptureRequest) -> str:
    """In words: calls on files below a path are those of the processes that are named, or of all."""
    requests = [f"requests of {', '.join(request.devices)}"] if request.devices else []
    callers = [f"process {', '.join(map(str, request.pids))}"] if request.pids else []
    callers += [request.command[0]] if request.command else []
    calls = f"calls of {' and '.join(callers) or 'all processes'}"
    calls += f" on files below {request.path}" if request.path else ""
    return " and ".join([*requests, calls] if callers or request.path else requests)


def _wait(
    request: CaptureRequest, capturing: Capturing, command: HeldCommand | None, stopping: Callable[[], bool]
) -> None:
    """Until it is to end: by a signal, by its time, or with its last process."""
    end = None if request.seconds is None else time.monotonic() + request.seconds
    while not stopping() and (end is None or time.monotonic() < end):
        if command is not None and command.exit_code is not None:
            return
        if request.pids and not any(os.path.exists(f"/proc/{pid}") for pid in request.pids):
            return
        capturing.progress()  # raises where it cannot go on
        time.sleep(_LOOK_S)
