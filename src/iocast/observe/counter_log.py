"""Copies of the kernel's disk counters, one after another, in a file: what `iocast import` reads as a series.

Each copy stands under its time ("TS 1764000000.123456789"). A device is in it from its first I/O on. Nothing is kept in
memory; a copy is one write, so that a machine that goes down leaves whole copies behind.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from iocast._core import unix_ns
from iocast.archive.writing.named_outputs import begin_output
from iocast.errors import TargetError

DISKSTATS = "/proc/diskstats"
Called = Callable[[str], str]
_LOOK_S = 0.1


class CounterLog:
    """A log that is written; `names` are the devices in it, all that had any I/O when it is empty; `called` renames."""

    def __init__(self, to: str, names: tuple[str, ...], source: str = DISKSTATS, called: Called | None = None) -> None:
        self._names = names
        self._called = called
        self._source = source
        self.copies = 0
        self.bytes = 0
        self._file = begin_output(Path(to))

    def copy(self) -> None:
        """Writes one copy. Raises TargetError."""
        try:
            with open(self._source, encoding="ascii", errors="replace") as counters:
                lines = [self._line(line) for line in counters if self._wanted(line)]
            seconds, ns = divmod(unix_ns(), 10**9)
            text = f"TS {seconds}.{ns:09d}\n{''.join(lines)}"
            self.bytes += os.write(self._file, text.encode())
        except OSError as error:
            raise TargetError(f"the counters cannot be copied: {error.strerror}", "check the room there") from error
        self.copies += 1

    def _line(self, line: str) -> str:
        name = line.split()[2]
        return line.replace(f" {name} ", f" {self._called(name)} ", 1) if self._called else line

    def _wanted(self, line: str) -> bool:
        words = line.split()
        if len(words) < 14:
            return False
        return words[2] in self._names if self._names else any(word != "0" for word in words[3:14])

    def run(self, interval_ns: int, seconds: float | None, stopped: Callable[[], bool]) -> None:
        """Copies at every interval until it is stopped, or so long. Raises TargetError."""
        begun_ns = due_ns = time.monotonic_ns()
        end_ns = None if seconds is None else begun_ns + round(seconds * 1e9)
        while not stopped():
            self.copy()
            due_ns = max(due_ns + interval_ns, time.monotonic_ns())
            if end_ns is not None and due_ns > end_ns + interval_ns // 2:
                return
            while (left_ns := due_ns - time.monotonic_ns()) > 0 and not stopped():
                time.sleep(min(left_ns / 1e9, _LOOK_S))

    def close(self) -> None:
        """Closes the file."""
        os.close(self._file)
