"""capture: the I/Os of this machine become a trace; or the counters of its disks a long, cheap log."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from iocast.archive.file_names import EVENTS_FILE
from iocast.archive.trace_tables import write_without_names
from iocast.archive.writing.named_outputs import growing_output
from iocast.archive.writing.private_rooms import private_room
from iocast.archive.writing.whole_files import PRIVATE, growing
from iocast.errors import SpecError, TargetError
from iocast.model.anonymity.anonymised import anonymised
from iocast.model.anonymity.name_kinds import pseudonym
from iocast.observe.capture import Captured, Capturing, HeldCommand, start
from iocast.observe.counter_log import CounterLog
from iocast.observe.target.whole_disk import find_device
from iocast.sessions.events import CaptureBegun, CaptureEnded, CommandGoesOn, CountersLogged
from iocast.sessions.listener import Listener
from iocast.sessions.requests.capture import CaptureRequest, CountersRequest
from iocast.tools.traces import TraceReport

_LOOK_S = 0.05


def capture(request: CaptureRequest, listener: Listener) -> TraceReport:
    """Captures until it is over; the report accounts for every record. Raises TargetError, SpecError."""
    _check(request)
    with _table(request) as table, listener.working() as stopping:
        command = HeldCommand(request.command) if request.command else None
        try:
            capturing = start(_captured(request, command), table)
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
    return report if request.names is None else anonymised(report, request.names)


@contextmanager
def _table(request: CaptureRequest) -> Iterator[str]:
    """Where the table is written. With names to hide that is a folder which nobody else can open, until it is written
    anew without them: they never stand under the name that was asked for."""
    with growing_output(Path(request.to), mode=PRIVATE) as output:
        if request.names is None:
            yield output.place
        else:
            with (
                private_room(os.path.dirname(request.to) or ".", ".iocast-capture-") as room,
                growing(room.descriptor, EVENTS_FILE, PRIVATE) as table,
            ):
                yield table.place
                write_without_names(Path(table.place), output.place, request.names)
        output.finish()


def log_counters(request: CountersRequest, listener: Listener) -> CountersLogged:
    """Copies the disk counters until it is stopped. Raises TargetError."""
    names = tuple(find_device(name)[1] for name in request.devices)
    hide = None if (hidden := request.names) is None else lambda name: pseudonym(hidden, "device", name)
    log = CounterLog(request.to, names, called=hide)
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
        raise SpecError(f"--time {request.seconds:g} is not above 0", "omit it to capture until Ctrl-C")
    if os.path.lexists(request.to):  # a link that leads nowhere, too
        raise TargetError(f"{request.to} exists", "give another file (-o), or move it away")
    for pid in request.pids:
        if not os.path.exists(f"/proc/{pid}"):
            raise TargetError(f"process {pid} does not exist", "`ps` lists the processes of this machine")
    if request.path and not os.path.exists(request.path):
        raise TargetError(f"{request.path} does not exist", "give a directory or a file")


def _captured(request: CaptureRequest, command: HeldCommand | None) -> Captured:
    devices = [find_device(name) for name in request.devices]
    return Captured(
        devices=tuple(((number.major, number.minor), name) for number, name in devices),
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
