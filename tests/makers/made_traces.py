"""Traces with known properties, written as any table of text, and profiled."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from makers.read_anew import read_anew

from iocast.analyse.profiling.measure_profile import measure_profile
from iocast.model.profiling.profile import Profile
from iocast.tools.traces import Columns, TraceOptions

# time in ns, target, R or W, offset and size in bytes, latency in ns
Io = tuple[int, int, str, int, int, int]
COLUMNS = Columns(6, 6, time=(0, "ns"), target=(1, 1), op=(2, "words"), offset=(3, 1), size=(4, 1), latency=(5, "ns"))
OPTIONS = TraceOptions(columns=COLUMNS)
SECOND = 1_000_000_000


def write_trace(path: Path, ios: Iterable[Io]) -> Path:
    """A trace in which 0 stands for no latency measured below a nanosecond."""
    path.write_text("".join(",".join(map(str, io)) + "\n" for io in ios))
    return path


def profile_of(folder: Path, ios: Iterable[Io], **options: Any) -> Profile:
    """The profile of these I/Os."""
    trace, events = write_trace(folder / "made.csv", ios), str(folder / "made.parquet")
    read_anew((str(trace),), events, OPTIONS)
    return measure_profile(events, "made", "0", spill=folder, **options)


def random_reads(count: int, rate_per_s: float = 1000.0, *, seed: int = 1, blocks: int = 1 << 20) -> list[Io]:
    """Uniform 8k reads of 1 ms that come at random."""
    drawn, at, found = random.Random(seed), 0.0, []
    for _ in range(count):
        at += drawn.expovariate(rate_per_s) * SECOND
        found.append((int(at), 0, "R", drawn.randrange(blocks) * 8192, 8192, 1_000_000))
    return found


def scan(start_ns: int, offset: int, size: int, requests: int, gap_ns: int = 1_000_000) -> list[Io]:
    """One sequential read of target 1."""
    return [(start_ns + at * gap_ns, 1, "R", offset + at * size, size, gap_ns // 2) for at in range(requests)]


def database_load(seconds: int = 60, *, seed: int = 7) -> list[Io]:
    """8k random reads with an 80/20 skew, 3:1 to sequential log writes of 2k, and a scan of 16 MiB every 10 s."""
    drawn, ios = random.Random(seed), list[Io]()
    log = at = 0.0
    while at < seconds * SECOND:
        at += drawn.expovariate(400) * SECOND
        hot = drawn.random() < 0.8
        block = drawn.randrange(2000) if hot else 2000 + drawn.randrange(8000)
        if drawn.random() < 0.75:
            ios.append((int(at), 0, "R", block * 8192, 8192, int(drawn.lognormvariate(14, 0.3))))
        else:
            ios.append((int(at), 2, "W", int(log), 2048, 300_000))
            log += 2048
    for start in range(0, seconds, 10):
        ios += scan(start * SECOND + SECOND // 2, 0, 1 << 20, 16, 20_000_000)
    return sorted(ios)
