"""Traces in the format of MSR, as regular as a test needs them: time, operation, place and service time of each I/O."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

_BEGINS = 128_166_372_000_000_000  # in 2007, counted in 100 ns
Io = tuple[float, str, int, int, float]  # issued at (ms), "Read" or "Write", offset, size, served in (ms)


def msr(folder: Path, ios: Iterable[Io], name: str = "trace.csv", disk: int = 0) -> str:
    """The path of a trace of these I/Os."""
    lines = (
        f"{_BEGINS + round(at * 10_000)},host,{disk},{op},{offset},{size},{round(served * 10_000)}\n"
        for at, op, offset, size, served in ios
    )
    path = folder / name
    path.write_text("".join(lines))
    return str(path)


def every(gap_ms: float, count: int, served_ms: float, size: int = 4096) -> list[Io]:
    """Reads at equal distances, one block after the other."""
    return [(number * gap_ms, "Read", number * size, size, served_ms) for number in range(count)]
