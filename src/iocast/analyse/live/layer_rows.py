"""The layers that an I/O passes, as rows of one table: each layer's own clock, its I/Os, their sizes and latencies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from iocast.analyse.live.latency_columns import Latencies, latencies
from iocast.metrics import BLOCK_LAYER, BYTES, PART, SYSTEM_CALLS
from iocast.model.codes import ClockCode
from iocast.model.live.readings import Readings
from iocast.model.view import View

# Calls by what they do to storage: ioh's R, W and sync. sync_file_range only begins to write: it is none of them.
READING: Final = ("pread64", "read", "preadv", "preadv2", "readv", "uring_read")
WRITING: Final = ("pwrite64", "write", "pwritev", "pwritev2", "writev", "uring_write")
SYNCING: Final = ("fdatasync", "fsync", "msync", "sync", "syncfs", "uring_fsync")
_CLOCKS: Final[tuple[ClockCode, ...]] = ("bio", "request", "driver")


class LayerRow(Struct, frozen=True):
    """One layer and what it was asked. `op` is a call or an operation of the block layer; `where` a device or ""."""

    layer: ClockCode
    op: str
    where: str
    times: Latencies
    size_bytes: int | None  # all bytes of the interval; None where the layer does not count them

    @property
    def per_s(self) -> float:
        """I/Os or calls a second."""
        return self.times.total * 1e9 / self.times.elapsed_ns

    @property
    def bytes_per_s(self) -> float | None:
        """Bytes a second."""
        return None if self.size_bytes is None else self.size_bytes * 1e9 / self.times.elapsed_ns

    @property
    def mean_size_bytes(self) -> float | None:
        """Bytes of an I/O; None without any."""
        return None if self.size_bytes is None or not self.times.total else self.size_bytes / self.times.total


def layer_rows(readings: Readings, commands: Iterable[str] = ()) -> list[LayerRow]:
    """System calls, reads first, then the clocks of each device and operation; rows without I/Os are left out.

    `commands`: only their calls; none named: all that are watched.
    """
    wanted = frozenset(commands)
    calls: dict[tuple[str, str], list[View]] = {}
    for subject, view in readings.views(SYSTEM_CALLS).items():
        command, _, rest = subject.partition(PART)
        if rest and (not wanted or command in wanted):
            calls.setdefault(("", rest.partition(PART)[0]), []).append(view)
    rows = [*_rows("system_call", calls)]
    order = {call: at for at, call in enumerate((*READING, *WRITING, *SYNCING))}
    rows.sort(key=lambda row: order.get(row.op, len(order)))
    for clock in _CLOCKS:
        rows += sorted(_rows(clock, _of_clock(readings, clock)), key=lambda row: (row.where, row.op))
    return rows


def _of_clock(readings: Readings, clock: ClockCode) -> dict[tuple[str, str], list[View]]:
    by_subject: dict[tuple[str, str], list[View]] = {}
    for subject, view in readings.views(BLOCK_LAYER).items():
        parts = subject.split(PART)
        if len(parts) >= 3 and parts[1] == clock:
            by_subject.setdefault((parts[0], parts[2]), []).append(view)
    return by_subject


def _rows(layer: ClockCode, views: dict[tuple[str, str], list[View]]) -> Iterator[LayerRow]:
    for (where, op), each in views.items():
        all_times = together([one for view in each if (one := latencies(view)) is not None])
        if all_times is not None and all_times.total:
            sizes = [view.delta(BYTES) for view in each]
            yield LayerRow(layer, op, where, all_times, _sum(sizes))


def _sum(sizes: Iterable[int | None]) -> int | None:
    """Size classes that count no bytes (a flush) make the sum unknown only where none does."""
    known = [size for size in sizes if size is not None]
    return sum(known) if known else None


def together(parts: list[Latencies]) -> Latencies | None:
    """Several histograms of one interval as one; None of none."""
    if not parts:
        return None
    counts: dict[int, int] = {}
    for part in parts:
        for upper_ns, count in part.counts.items():
            counts[upper_ns] = counts.get(upper_ns, 0) + count
    sums = [part.sum_ns for part in parts]
    known = [each for each in sums if each is not None]
    return Latencies(max(part.elapsed_ns for part in parts), counts, sum(known) if len(known) == len(sums) else None)
