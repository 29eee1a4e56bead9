"""Latencies interval by interval: a column of a heat map is what the histogram of one subject gained in an interval."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from iocast.metrics import NO_BOUND, SUM_NS, bucket_upper_ns
from iocast.model.view import View

ENDLESS_NS: Final = 1 << 62  # the bound of what lies above all bounds
SHADES: Final = 6
_TWO_SIDED = 1.96  # standard errors, 95 %
_MIDDLE = 0.75  # of its upper bound: the middle of a bucket that is twice as high as its lower bound


class Latencies(Struct, frozen=True, dict=True):
    """What one histogram gained in one interval. `counts`: upper bound (exclusive) → I/Os or waits, without zeros."""

    elapsed_ns: int
    counts: Mapping[int, int]
    sum_ns: int | None = None  # None: its source does not sum its times up

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self.counts.values())

    @property
    def mean_ns(self) -> float | None:
        """Exact where the source sums its times; estimated from the buckets otherwise; None without any."""
        return self.waited_ns / self.total if self.total else None

    @property
    def waited_ns(self) -> float:
        """The time of all of them together."""
        return float(self.sum_ns) if self.sum_ns is not None else sum(self.estimated_ns(upper) for upper in self.counts)

    def mean_within(self, traced_share: float) -> float | None:
        """How far the mean of all may be from that of the traced ones, as a share of it, in 95 of 100 cases.

        For I/Os that depend on each other it is farther. None of fewer than two traced ones.
        """
        traced, mean_ns = self.total * traced_share, self.mean_ns
        if traced < 2 or not mean_ns:
            return None
        spread = sum(count * (self.estimated_ns(upper) / count - mean_ns) ** 2 for upper, count in self.counts.items())
        scatter = math.sqrt(spread / self.total) / mean_ns
        return _TWO_SIDED * scatter * math.sqrt(max(0.0, 1 - traced_share) / traced)

    def estimated_ns(self, upper_ns: int) -> float:
        """The time of one bucket, by its middle; what lies above all bounds counts with the highest of them."""
        known = [each for each in self.counts if each != ENDLESS_NS]
        bound_ns = upper_ns if upper_ns != ENDLESS_NS else max(known, default=0)
        return _MIDDLE * bound_ns * self.counts.get(upper_ns, 0)

    def spent_ns(self, upper_ns: int) -> float:
        """The time of one bucket, so that all buckets together give the sum where it is known."""
        estimated = sum(self.estimated_ns(each) for each in self.counts)
        return self.estimated_ns(upper_ns) * (self.waited_ns / estimated if estimated else 0.0)


def latencies(view: View) -> Latencies | None:
    """The latencies of a subject in an interval; None for a subject that has no histogram, or lost it in between."""
    counts = {}
    for metric, gained in view.deltas.items():
        upper_ns = ENDLESS_NS if metric == NO_BOUND else bucket_upper_ns(metric)
        if upper_ns is not None and gained:
            counts[upper_ns] = gained
    has_buckets = counts or any(metric == NO_BOUND or bucket_upper_ns(metric) for metric in view.deltas)
    return Latencies(view.elapsed_ns, counts, view.delta(SUM_NS)) if has_buckets else None


def on_grid(times: Latencies, bounds: Sequence[int]) -> list[int]:
    """Counts on coarser bounds, ascending, and one for what lies above the last; a bucket goes where its bound lies.

    A bound between two of the grid goes to the next higher one: no count ever moves below its own bound.
    """
    counts = [0] * (len(bounds) + 1)
    for upper_ns, count in times.counts.items():
        counts[next((at for at, bound_ns in enumerate(bounds) if upper_ns <= bound_ns), len(bounds))] += count
    return counts


def grid_of(uppers_ns: Iterable[int], bounds: Sequence[int]) -> tuple[int, ...]:
    """Bounds that a source with these bounds fits: 1.024 times as high where it counts by powers of two of nanoseconds.

    `bounds` are powers of two of microseconds. On them, 262,144 to 524,288 ns would stand below 1,024 us, not 512.
    """
    if any(upper_ns != ENDLESS_NS and upper_ns & (upper_ns - 1) == 0 for upper_ns in uppers_ns):
        return tuple(bound_ns * 128 // 125 for bound_ns in bounds)
    return tuple(bounds)


class HeatMap:
    """The newest columns of one histogram, on a grid of bounds; what is older falls out on the left."""

    def __init__(self, bounds: Sequence[int], width: int) -> None:
        self.bounds = tuple(bounds)
        self._columns: deque[Latencies | None] = deque(maxlen=width)
        self.taken = 0

    def add(self, times: Latencies | None) -> None:
        """A column; None where the interval is unknown: it stays blank."""
        self._columns.append(times)
        self.taken += 1

    @property
    def columns(self) -> tuple[Latencies | None, ...]:
        """From the oldest to the newest."""
        return tuple(self._columns)

    def frequencies(self) -> list[list[float] | None]:
        """Per column, counts per second of each bound, and above the last."""
        return [
            None if each is None else [n * 1e9 / each.elapsed_ns for n in on_grid(each, self.bounds)]
            for each in self._columns
        ]

    def intensities(self) -> list[list[float] | None]:
        """Per column, the time waited in ms per second of each bound, and above the last."""
        return [None if each is None else _spent(each, self.bounds) for each in self._columns]


def _spent(times: Latencies, bounds: Sequence[int]) -> list[float]:
    """ms per second: ns of waiting per ns of time, times a thousand."""
    spent = [0.0] * (len(bounds) + 1)
    for upper_ns in times.counts:
        at = next((at for at, bound_ns in enumerate(bounds) if upper_ns <= bound_ns), len(bounds))
        spent[at] += times.spent_ns(upper_ns)
    return [each * 1000 / times.elapsed_ns for each in spent]


def shade(value: float, most: float) -> int:
    """0 for nothing, then 1 to 6 by shares of the largest value."""
    if value <= 0:
        return 0
    return SHADES if value >= most else math.ceil(SHADES * value / most)
