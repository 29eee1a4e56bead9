"""Captures the I/Os of this machine into an event table: by the core, or by strace where tracing cannot be used."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Protocol

import msgspec
from msgspec import Struct

from iocast.archive.writing.private_rooms import temporary_room
from iocast.errors import LoadError, TargetError
from iocast.starting import starting
from iocast.tools.traces import TraceOptions, TraceReport, read_traces

STRACE_CALLS = (
    "trace=read,write,pread64,pwrite64,readv,writev,preadv,pwritev,preadv2,pwritev2,fsync,fdatasync,"
    "openat,open,creat,close,dup,dup2,dup3,lseek,fcntl,fallocate"
)
_STRACE_BEGINS_S = 5.0  # how long it may take to attach
_STRACE_ENDS_S = 10.0  # how long strace may take to let go


class CaptureProgress(Struct, frozen=True):
    """How far a capture is. None: not known before its end."""

    events: int | None
    lost: int


class Capturing(Protocol):
    """A capture that is on."""

    notes: tuple[str, ...]

    def progress(self) -> CaptureProgress:
        """How far it is. Raises TargetError when it cannot go on."""

    def finish(self) -> TraceReport:
        """Ends it and writes the table. Raises TargetError, SourceError."""

    def stop(self) -> None:
        """Ends it without a table; harmless when it is over."""


class Captured(Struct, frozen=True, kw_only=True):
    """What is captured: requests of devices (number, name), calls of processes, calls on files below a path."""

    devices: tuple[tuple[tuple[int, int], str], ...] = ()
    pids: tuple[int, ...] = ()
    path: str = ""
    ring_kb: int | None = None


class CoreCapture:
    """By tracepoints: a private tracing instance for each kind of record."""

    def __init__(self, what: Captured, to: str) -> None:
        from iocast._core import Capture

        devices = [{"device": {"major": number[0], "minor": number[1]}, "name": name} for number, name in what.devices]
        options = {"devices": devices, "pids": what.pids, "path": what.path, "ring_kb": what.ring_kb}
        self._core = Capture(msgspec.json.encode(options).decode(), to)
        self.notes = tuple(self._core.notes())

    def progress(self) -> CaptureProgress:
        """Asks the core."""
        return msgspec.json.decode(self._answer(self._core.progress), type=CaptureProgress)

    def finish(self) -> TraceReport:
        """Asks the core."""
        return msgspec.json.decode(self._answer(self._core.finish), type=TraceReport)

    def stop(self) -> None:
        """Asks the core."""
        self._core.stop()

    @staticmethod
    def _answer(ask: Callable[[], str]) -> str:
        from iocast._core import CoreError

        try:
            return ask()
        except CoreError as error:
            message, hint, _ = error.args
            raise TargetError(f"capture: {message}", hint) from error


class StraceCapture:
    """By strace: it stops a process at each of its calls, and so costs far more than tracepoints."""

    def __init__(self, pids: tuple[int, ...], to: str, why_not_core: str) -> None:
        strace = shutil.which("strace")
        if strace is None:
            raise TargetError(f"capture: {why_not_core}", "run it as root, or install strace")
        self.notes: tuple[str, ...] = (
            f"{why_not_core}. strace is used instead: it slows the process down, so that times are not its own",
        )
        self._to = to
        self._room = ExitStack()
        self._file = str(self._room.enter_context(temporary_room("iocast-strace-")).place / "calls.strace")
        attach = [word for pid in pids for word in ("-p", str(pid))]
        command = [strace, "-f", "-ttt", "-T", "-y", "-s", "0", "-e", STRACE_CALLS, "-o", self._file, *attach]
        try:
            with starting():
                self._strace = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        except LoadError:
            self._room.close()
            raise
        self._wait_until_it_follows(pids)

    def _wait_until_it_follows(self, pids: tuple[int, ...]) -> None:
        """What a process does before strace has attached is not seen. Raises TargetError where it cannot attach."""
        end = time.monotonic() + _STRACE_BEGINS_S
        while not all(_is_traced(pid) for pid in pids):
            if self._strace.poll() is not None or time.monotonic() > end:
                self._end()
                said = self._strace.stderr.read().decode(errors="replace").strip() if self._strace.stderr else ""
                self._room.close()
                raise TargetError(f"capture: strace cannot follow the process: {said}", "run it as root")
            time.sleep(0.01)

    def progress(self) -> CaptureProgress:
        """Nothing is known before its end."""
        return CaptureProgress(None, 0)

    def finish(self) -> TraceReport:
        """Ends strace and reads what it wrote."""
        self._end()
        try:
            return read_traces((self._file,), self._to, TraceOptions(format="strace"))
        finally:
            self._room.close()

    def stop(self) -> None:
        """Ends strace."""
        self._end()
        self._room.close()

    def _end(self) -> None:
        if self._strace.poll() is None:
            self._strace.send_signal(signal.SIGINT)  # it detaches, and the process goes on
            try:
                self._strace.wait(_STRACE_ENDS_S)
            except subprocess.TimeoutExpired:
                self._strace.kill()
                self._strace.wait()


def _is_traced(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as status:
            return any(line.startswith("TracerPid:") and line.split()[1] != "0" for line in status)
    except OSError:
        return True  # it is gone


def start(what: Captured, to: str) -> Capturing:
    """Begins a capture into the Parquet file `to`. Raises TargetError."""
    from iocast._core import CoreError

    try:
        return CoreCapture(what, to)
    except CoreError as error:
        message, hint, number = error.args
        if what.devices or not what.pids or number is None:
            raise TargetError(f"capture: {message}", hint) from error
        return StraceCapture(what.pids, to, str(message))


class HeldCommand:
    """A command that waits, before it begins, until it is let go."""

    def __init__(self, command: Sequence[str]) -> None:
        if shutil.which(command[0]) is None:
            raise TargetError(f"{command[0]}: no such command", "check its name, or give its path")
        held = 'kill -STOP $$; exec "$@"'
        with starting():
            self._process = subprocess.Popen(["/bin/sh", "-c", held, "sh", *command])
        os.waitpid(self.pid, os.WUNTRACED)  # it has stopped itself

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    def let_go(self) -> None:
        """It begins."""
        self._process.send_signal(signal.SIGCONT)

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._process.poll()

    def kill(self) -> None:
        """Ends a command that was never let go."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
