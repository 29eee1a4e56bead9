"""How far the work is: one live line on a terminal, one plain line a phase elsewhere; all on stderr."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from iocast import metrics
from iocast.model.measurement import Measurement
from iocast.model.plan import Phase
from iocast.model.run import PhaseRecord
from iocast.model.view import View
from iocast.text import capacity, counted, duration, harmless_line, megabytes_per_s, rate

if TYPE_CHECKING:
    from iocast.sessions.listener import Progress

BAR = 24
_RATE_AFTER_NS = 300_000_000  # sooner it jumps about
_CLEAR_TO_END = "\x1b[K"


def progress(stopped: Callable[[], bool], out: TextIO | None = None) -> Progress:
    """The progress that suits where stderr goes."""
    out = out or sys.stderr
    if out.isatty() and os.environ.get("TERM") != "dumb":
        return LiveProgress(out, stopped)
    return PlainProgress(out)


class PlainProgress:
    """One line when a phase ends."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._place = ""
        self._left: float | None = None

    def begin(self, phase: Phase, number: int, total: int, seconds_left: float | None) -> None:
        """Remembers where it is."""
        self._place = f"[{number + 1:{len(str(total))}}/{total}]"
        self._left = None if seconds_left is None else seconds_left - (phase.length.seconds or 0.0)

    def tick(self, elapsed_ns: int, ios: int, bytes_moved: int, errors: int) -> None:
        """Says nothing."""

    def end(self, record: PhaseRecord) -> None:
        """What the phase did."""
        left = f", {_left(self._left)}" if self._left else ""
        print(f"{self._place} {harmless_line(record.phase.name)}: {_outcome(record)}{left}", file=self._out, flush=True)

    def close(self) -> None:
        """Nothing is to be put away."""


class LiveProgress:
    """One line that is written over; nothing of it stays."""

    def __init__(self, out: TextIO, stopped: Callable[[], bool]) -> None:
        self._out, self._stopped = out, stopped
        self._phase: Phase | None = None
        self._at: tuple[int, int, float | None] = (0, 0, None)
        self._drawn = 0  # signs of the line that stands there now

    def begin(self, phase: Phase, number: int, total: int, seconds_left: float | None) -> None:
        """A new phase."""
        self._phase, self._at, self._begun = phase, (number, total, seconds_left), time.monotonic()
        self.tick(0, 0, 0, 0)

    def tick(self, elapsed_ns: int, ios: int, bytes_moved: int, errors: int) -> None:
        """Draws the line again."""
        if self._phase is None:
            return
        number, total, planned = self._at
        elapsed = time.monotonic() - self._begun
        seconds, goal = self._phase.length.seconds, self._phase.length.bytes
        part = elapsed / seconds if seconds else bytes_moved / goal if goal else 0.0
        left = None if planned is None else max(0.0, planned - (min(elapsed, seconds) if seconds else 0.0))
        if left is not None and not seconds and part:
            left += elapsed / part * (1 - part)
        shown = elapsed_ns > _RATE_AFTER_NS and ios
        view = View("", elapsed_ns, {metrics.IOS: ios, metrics.BYTES: bytes_moved})
        speed = f"{rate(view.per_s(metrics.IOS) or 0.0)} IOPS" if shown and self._phase.role != "fill" else ""
        if shown and self._phase.role == "fill":
            speed = f"{megabytes_per_s(view.per_s(metrics.BYTES) or 0.0)} MB/s"
        wrong = counted(errors, "error") if errors else ""
        end = "stopping" if self._stopped() else "" if left is None else _left(left)
        name = harmless_line(self._phase.name)
        done = min(1.0, (number + min(1.0, part)) / max(1, total))
        self._draw(live_line(done, f"{number + 1}/{total}", name, speed, wrong, end, self._columns() - 1))

    def end(self, record: PhaseRecord) -> None:
        """The next phase, or `close`, writes over the line."""

    def close(self) -> None:
        """Takes the line away."""
        self._phase = None
        self._draw("")

    def _draw(self, line: str) -> None:
        # Where the window has become narrower, the old line now takes several: most terminals wrap it anew.
        above = max(0, self._drawn - 1) // self._columns()
        back = f"\x1b[{above}A\r\x1b[J" if above else "\r"
        self._out.write(f"{back}{line}{_CLEAR_TO_END}")
        self._out.flush()
        self._drawn = len(line)

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._out.fileno()).columns or 80
        except (OSError, ValueError):
            return 80


def live_line(done: float, place: str, name: str, speed: str, wrong: str, end: str, width: int) -> str:
    """The live line in at most `width` signs: what matters least goes first."""

    def line(bar: int, *parts: str) -> str:
        drawn = ("━" * round(done * bar)).ljust(bar, "╌")
        return "  ".join(part for part in (drawn, place, *parts) if part)

    for candidate in (
        line(BAR, name, speed, wrong, end),
        line(BAR // 3, name, speed, wrong, end),
        line(0, name, speed, wrong, end),
        line(0, name, wrong, end),
        line(0, wrong, end),
    ):
        if len(candidate) <= width:
            return candidate
    return line(0, end)[: max(0, width)]


def _left(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02} left" if hours else f"{minutes}:{rest:02} left"


def _outcome(record: PhaseRecord) -> str:
    measurement = record.measurement
    if record.phase.role == "fill":
        said = f"{capacity(measurement.bytes)} in {duration(measurement.elapsed_ns)}"
    else:
        speed = megabytes_per_s(measurement.bytes_per_s)
        said = f"{rate(measurement.iops)} IOPS, {speed} MB/s"
        if record.plan.tree is not None and not measurement.bytes:
            said = f"{rate(measurement.rate_per_s)} ops/s"
    return f"{said}{_troubles(measurement)}"


def _troubles(measurement: Measurement) -> str:
    errors = f", {counted(measurement.error_count, 'error')}" if measurement.error_count else ""
    end = {"finished": "", "errors": ", stopped by errors"}.get(measurement.stopped, f", {measurement.stopped}")
    return errors + end
