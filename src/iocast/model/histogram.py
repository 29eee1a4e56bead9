"""Histogram: counts in log-linear buckets of nanoseconds, as the core records them (record/histogram.rs).

512 buckets a power of two: values below 1024 ns are exact, all others within 1/512 (0.2 %).
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import cache, cached_property
from itertools import accumulate

from msgspec import Struct

from iocast.model.stated import Coarse, combined

SUB_BITS = 9
SUB_BUCKETS = 1 << SUB_BITS


def bucket_index(value_ns: int) -> int:
    """The bucket that holds `value_ns`."""
    if value_ns < SUB_BUCKETS:
        return value_ns
    exponent = value_ns.bit_length() - 1 - SUB_BITS
    return ((exponent + 1) << SUB_BITS) + ((value_ns >> exponent) & (SUB_BUCKETS - 1))


@cache
def bucket_bounds_ns(index: int) -> tuple[int, int]:
    """The lowest and the highest value (both inside) of bucket `index`."""
    if index < SUB_BUCKETS:
        return index, index
    exponent = (index >> SUB_BITS) - 1
    low = (SUB_BUCKETS + (index & (SUB_BUCKETS - 1))) << exponent
    return low, low + (1 << exponent) - 1


class Histogram(Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """A sparse histogram with exact sum, least and largest value. `index` ascends.

    What another tool measured is `coarse`: then there are no buckets of ours, and `sum_ns` is mean x total.
    """

    # It has a dictionary (`dict=True`) for what is asked again and again; that is no part of its value.

    index: tuple[int, ...] = ()
    count: tuple[int, ...] = ()
    sum_ns: int = 0
    sum_squares: float = 0.0  # ns squared
    min_ns: int = 0
    max_ns: int = 0
    coarse: Coarse | None = None

    @classmethod
    def stated(cls, coarse: Coarse) -> Histogram:
        """The histogram of a distribution that another tool states."""
        sum_ns = round((coarse.mean_ns or 0.0) * coarse.total)
        return cls(sum_ns=sum_ns, min_ns=coarse.min_ns or 0, max_ns=coarse.max_ns or 0, coarse=coarse)

    @cached_property
    def total(self) -> int:
        """How many values were recorded."""
        return sum(self.count) if self.coarse is None else self.coarse.total

    @cached_property
    def _cumulated(self) -> list[int]:
        """How many values are in each bucket and all before it."""
        return list(accumulate(self.count))

    @property
    def least_ns(self) -> float:
        """The least value, nan when empty or not stated."""
        return float(self.min_ns) if self._says(self.coarse and self.coarse.min_ns) else math.nan

    @property
    def most_ns(self) -> float:
        """The largest value, nan when empty or not stated."""
        return float(self.max_ns) if self._says(self.coarse and self.coarse.max_ns) else math.nan

    @property
    def spread_known(self) -> bool:
        """True when it says how the values share out over buckets."""
        return bool(self.total) and (self.coarse is None or bool(self.coarse.buckets))

    def _says(self, stated: object) -> bool:
        return bool(self.total) and (self.coarse is None or stated is not None)

    @property
    def mean_ns(self) -> float:
        """Exact mean, nan when empty or not stated."""
        if self.coarse is not None:
            return math.nan if self.coarse.mean_ns is None else self.coarse.mean_ns
        total = self.total
        return self.sum_ns / total if total else math.nan

    @property
    def stdev_ns(self) -> float:
        """Standard deviation (n - 1), nan when empty or not stated, 0 for one value."""
        if self.coarse is not None:
            return math.nan if self.coarse.stdev_ns is None else self.coarse.stdev_ns
        total = self.total
        if total < 2:
            return math.nan if not total else 0.0
        spread = self.sum_squares - self.sum_ns * (self.sum_ns / total)
        return math.sqrt(max(0.0, spread) / (total - 1))

    def quantile_ns(self, q: float) -> float:
        """The highest value of the bucket that holds rank ceil(q n), never above the true maximum.

        Of what another tool measured: what it states itself, else nan; `quantile_bounds_ns` says between what.
        """
        if self.coarse is not None:
            return self.coarse.stated_ns(q)
        total = self.total
        if not total:
            return math.nan
        rank = max(1, math.ceil(q * total - 1e-9))
        at = bisect_left(self._cumulated, rank)
        return float(max(self.min_ns, min(self.max_ns, bucket_bounds_ns(self.index[at])[1])))

    def quantile_bounds_ns(self, q: float) -> tuple[float, float] | None:
        """Between which values quantile `q` lies; None when nothing can be said. The upper one may be infinite."""
        if self.coarse is not None:
            return self.coarse.bounds_ns(q)
        return None if not self.total else (self.quantile_ns(q), self.quantile_ns(q))

    def share_up_to(self, value_ns: int) -> float:
        """Which share of the values is at most `value_ns` (exact to one bucket)."""
        if self.coarse is not None:
            return self.coarse.share_up_to(value_ns)
        return self.count_up_to(value_ns) / self.total if self.total else 0.0

    def count_below(self, bucket: int) -> int:
        """How many values are in the buckets before one."""
        upto = bisect_left(self.index, bucket)
        return self._cumulated[upto - 1] if upto else 0

    def count_up_to(self, value_ns: int) -> int:
        """How many values are at most `value_ns` (exact to one bucket)."""
        if self.coarse is not None:
            return round(self.coarse.share_up_to(value_ns) * self.coarse.total)
        upto = bisect_right(self.index, bucket_index(value_ns))
        return self._cumulated[upto - 1] if upto else 0


def merge(parts: Iterable[Histogram]) -> Histogram:
    """The exact histogram of all values of all parts."""
    kept = [part for part in parts if part.total]
    if any(part.coarse is not None for part in kept):
        return Histogram.stated(combined([part.coarse or _bare(part) for part in kept]))
    if len(kept) == 1:
        return kept[0]
    if not kept:
        return Histogram()
    counts = dict(zip(kept[0].index, kept[0].count, strict=True))
    for part in kept[1:]:
        for index, count in zip(part.index, part.count, strict=True):
            counts[index] = counts.get(index, 0) + count
    order = sorted(counts)
    return Histogram(
        tuple(order),
        tuple(map(counts.__getitem__, order)),
        sum(part.sum_ns for part in kept),
        math.fsum(part.sum_squares for part in kept),
        min(part.min_ns for part in kept),
        max(part.max_ns for part in kept),
    )


def _bare(part: Histogram) -> Coarse:
    """A histogram of ours without its buckets, which do not go together with those of another tool."""
    return Coarse(
        total=part.total, mean_ns=part.mean_ns, stdev_ns=part.stdev_ns, min_ns=part.min_ns, max_ns=part.max_ns
    )
