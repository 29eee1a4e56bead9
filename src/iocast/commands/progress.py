"""How far the work is: one live line on a terminal, one plain line a phase elsewhere; all on stderr."""

from __future__ import annotations

import sys
import time
from typing import TextIO

from iocast.model.plan import Phase
from iocast.model.run import PhaseRecord
from iocast.report.format import capacity, duration, megabytes_per_s, rate
from iocast.runner import Progress

_BAR = 24


def progress(out: TextIO | None = None) -> Progress:
    """The progress that suits where stderr goes."""
    out = out or sys.stderr
    return LiveProgress(out) if out.isatty() else PlainProgress(out)


def _left(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02} left"


class PlainProgress:
    """One line when a phase ends."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._at = (0, 0, 0.0)

    def begin(self, phase: Phase, number: int, total: int, seconds_left: float) -> None:
        """Remembers where it is."""
        self._at = (number + 1, total, seconds_left - (phase.length.seconds or 0.0))

    def tick(self, elapsed_ns: int, ios: int, bytes_moved: int, errors: int) -> None:
        """Says nothing."""

    def end(self, record: PhaseRecord) -> None:
        """What the phase did."""
        number, total, left = self._at
        width = len(str(total))
        print(f"[{number:{width}}/{total}] {_outcome(record)}, {_left(left)}", file=self._out, flush=True)


class LiveProgress:
    """One line that is written over."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._phase: Phase | None = None
        self._at = (0, 0, 0.0)
        self._begun = 0.0

    def begin(self, phase: Phase, number: int, total: int, seconds_left: float) -> None:
        """A new phase."""
        self._phase, self._at, self._begun = phase, (number, total, seconds_left), time.monotonic()
        self.tick(0, 0, 0, 0)

    def tick(self, elapsed_ns: int, ios: int, bytes_moved: int, errors: int) -> None:
        """Draws the line again."""
        if self._phase is None:
            return
        number, total, left = self._at
        elapsed = time.monotonic() - self._begun
        seconds, goal = self._phase.length.seconds, self._phase.length.bytes
        part = elapsed / seconds if seconds else bytes_moved / goal if goal else 0.0
        done = min(1.0, (number + min(1.0, part)) / max(1, total))
        bar = ("━" * round(done * _BAR)).ljust(_BAR, "╌")
        speed = f"{rate(ios * 1e9 / elapsed_ns)} IO/s" if elapsed_ns > 3e8 and ios else ""
        wrong = f"  {errors} errors" if errors else ""
        line = f"{bar} {number + 1}/{total}  {self._phase.name}  {speed}{wrong}  {_left(max(0.0, left - elapsed))}"
        self._out.write(f"\r\x1b[2K{line[: _columns() - 1]}")
        self._out.flush()

    def end(self, record: PhaseRecord) -> None:
        """Clears the line after the last phase."""
        self._out.write("\r\x1b[2K")
        self._out.flush()


def _columns() -> int:
    from shutil import get_terminal_size

    return get_terminal_size((100, 24)).columns


def _outcome(record: PhaseRecord) -> str:
    measurement = record.measurement
    took = duration(measurement.elapsed_ns)
    if record.phase.role == "fill":
        return f"{record.phase.name}: {capacity(measurement.bytes)} in {took}"
    said = f"{record.phase.name}: {rate(measurement.rate_per_s)} IO/s, {megabytes_per_s(measurement.bytes_per_s)} MB/s"
    return said + (f", {measurement.error_count} errors" if measurement.error_count else "")
