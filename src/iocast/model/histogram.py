"""Histogram: counts in log-linear buckets of nanoseconds, as the core records them (histogram.rs).

512 buckets a power of two: values below 1024 ns are exact, all others within 1/512 (0.2 %).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate

from msgspec import Struct

SUB_BITS = 9
SUB_BUCKETS = 1 << SUB_BITS


def bucket_index(value_ns: int) -> int:
    """The bucket that holds `value_ns`."""
    if value_ns < SUB_BUCKETS:
        return value_ns
    exponent = value_ns.bit_length() - 1 - SUB_BITS
    return ((exponent + 1) << SUB_BITS) + ((value_ns >> exponent) & (SUB_BUCKETS - 1))


def bucket_bounds_ns(index: int) -> tuple[int, int]:
    """The lowest and the highest value (both inside) of bucket `index`."""
    if index < SUB_BUCKETS:
        return index, index
    exponent = (index >> SUB_BITS) - 1
    low = (SUB_BUCKETS + (index & (SUB_BUCKETS - 1))) << exponent
    return low, low + (1 << exponent) - 1


class Histogram(Struct, frozen=True, forbid_unknown_fields=True):
    """A sparse histogram with exact sum, least and largest value. `index` ascends."""

    index: tuple[int, ...] = ()
    count: tuple[int, ...] = ()
    sum_ns: int = 0
    sum_squares: float = 0.0  # ns squared
    min_ns: int = 0
    max_ns: int = 0

    @property
    def total(self) -> int:
        """How many values were recorded."""
        return sum(self.count)

    @property
    def mean_ns(self) -> float:
        """Exact mean, nan when empty."""
        total = self.total
        return self.sum_ns / total if total else math.nan

    @property
    def stdev_ns(self) -> float:
        """Standard deviation (n - 1), nan when empty, 0 for one value."""
        total = self.total
        if total < 2:
            return math.nan if not total else 0.0
        spread = self.sum_squares - self.sum_ns * (self.sum_ns / total)
        return math.sqrt(max(0.0, spread) / (total - 1))

    def quantile_ns(self, q: float) -> float:
        """The highest value of the bucket that holds rank ceil(q n), never above the true maximum."""
        total = self.total
        if not total:
            return math.nan
        rank = max(1, math.ceil(q * total - 1e-9))
        seen = list(accumulate(self.count))
        at = next(i for i, n in enumerate(seen) if n >= rank)
        return float(max(self.min_ns, min(self.max_ns, bucket_bounds_ns(self.index[at])[1])))

    def count_up_to(self, value_ns: int) -> int:
        """How many values are at most `value_ns` (exact to one bucket)."""
        upto = bisect_right(self.index, bucket_index(value_ns))
        return sum(self.count[:upto])


def merge(parts: Iterable[Histogram]) -> Histogram:
    """The exact histogram of all values of all parts."""
    counts: dict[int, int] = {}
    kept = [part for part in parts if part.count]
    for part in kept:
        for index, count in zip(part.index, part.count, strict=True):
            counts[index] = counts.get(index, 0) + count
    if not kept:
        return Histogram()
    order = sorted(counts)
    return Histogram(
        tuple(order),
        tuple(counts[i] for i in order),
        sum(part.sum_ns for part in kept),
        math.fsum(part.sum_squares for part in kept),
        min(part.min_ns for part in kept),
        max(part.max_ns for part in kept),
    )
