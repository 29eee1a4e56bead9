"""Coarse: what another tool states of a distribution: its own buckets and quantiles, nothing read between them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

SAME_Q = 1e-9  # two ways to write one quantile


class Bucket(Struct, frozen=True, forbid_unknown_fields=True):
    """One bucket of a source, with its own edges. `high_ns` None: it is open at the top."""

    low_ns: int
    high_ns: int | None
    weight: float  # as stated: a count, or per cent


class Quantile(Struct, frozen=True, forbid_unknown_fields=True):
    """A quantile that the source itself states."""

    q: float  # 0.99
    value_ns: int


class Coarse(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A distribution as stated. None: the source does not say. Buckets ascend; weights are parts of `whole`."""

    total: int
    counted: bool = True  # False: `total` is a stated rate for a second, or for a length that is unknown
    mean_ns: float | None = None
    stdev_ns: float | None = None
    min_ns: int | None = None
    max_ns: int | None = None
    buckets: tuple[Bucket, ...] = ()
    whole: float = 0.0  # 100 for percentages, the sum for counts
    quantiles: tuple[Quantile, ...] = ()

    @property
    def holds_counts(self) -> bool:
        """True when the buckets hold numbers of I/Os, not rounded percentages."""
        return bool(self.buckets) and self.whole != 100.0

    def stated_ns(self, q: float) -> float:
        """Quantile `q` if the source states it, else nan."""
        return next((float(each.value_ns) for each in self.quantiles if abs(each.q - q) < SAME_Q), math.nan)

    def bounds_ns(self, q: float) -> tuple[float, float] | None:
        """Between which edges quantile `q` lies; None when that is unknown. The upper one may be infinite."""
        stated = self.stated_ns(q)
        if not math.isnan(stated):
            return stated, stated
        if not self.buckets or not self.whole:
            return None
        passed = 0.0
        for bucket in self.buckets:
            passed += bucket.weight
            # Percentages are rounded: a hair may be missing.
            if bucket.weight and passed >= q * self.whole - 1e-9:
                return self._inside(bucket)
        return None

    def _inside(self, bucket: Bucket) -> tuple[float, float]:
        """The edges of a bucket; no value is above the largest. (The least may be that of another clock: fio's.)"""
        high = math.inf if bucket.high_ns is None else float(bucket.high_ns)
        low = float(bucket.low_ns)
        return low, high if self.max_ns is None else max(low, min(high, float(self.max_ns)))

    @property
    def stated_share(self) -> float:
        """What all buckets make together: about 1, as far as the source's rounding goes."""
        return math.fsum(each.weight for each in self.buckets) / self.whole if self.whole else 0.0

    def share_up_to(self, value_ns: int) -> float:
        """The share of the buckets that end at or below `value_ns`: one that goes on beyond it is not in."""
        inside = (each.weight for each in self.buckets if self._inside(each)[1] <= value_ns)
        return math.fsum(inside) / self.whole if self.whole else 0.0


def combined(parts: Sequence[Coarse]) -> Coarse:
    """All values of all parts. What one of them does not state, or states in other buckets, is not known of all."""
    if len(parts) == 1:
        return parts[0]
    total = sum(part.total for part in parts)
    means = [part.mean_ns for part in parts]
    known = [mean for mean in means if mean is not None]
    mean_ns = None
    if len(known) == len(parts) and total:
        mean_ns = math.fsum(mean * part.total for mean, part in zip(known, parts, strict=True)) / total
    least = [part.min_ns for part in parts if part.min_ns is not None]
    most = [part.max_ns for part in parts if part.max_ns is not None]
    buckets = _merged_buckets(parts)
    return Coarse(
        total=total,
        counted=all(part.counted for part in parts),
        mean_ns=mean_ns,
        stdev_ns=None if mean_ns is None else _spread(parts, mean_ns, total),
        min_ns=min(least) if len(least) == len(parts) else None,
        max_ns=max(most) if len(most) == len(parts) else None,
        buckets=buckets,
        whole=math.fsum(each.weight for each in buckets),
    )


def _spread(parts: Sequence[Coarse], mean_ns: float, total: int) -> float | None:
    """The standard deviation of all values from those of the parts."""
    if total < 2 or any(part.stdev_ns is None or part.mean_ns is None for part in parts):
        return None
    squares = math.fsum(
        max(0, part.total - 1) * (part.stdev_ns or 0.0) ** 2 + part.total * ((part.mean_ns or 0.0) - mean_ns) ** 2
        for part in parts
    )
    return math.sqrt(squares / (total - 1))


def _merged_buckets(parts: Sequence[Coarse]) -> tuple[Bucket, ...]:
    """Buckets with counts; none where the edges of the parts differ."""
    edges = [{(each.low_ns, each.high_ns) for each in part.buckets} for part in parts]
    if any(other != edges[0] for other in edges[1:]):
        return ()
    weights: dict[tuple[int, int | None], float] = {}
    for part in parts:
        for each in part.buckets:
            key = (each.low_ns, each.high_ns)
            weights[key] = weights.get(key, 0.0) + (each.weight / part.whole * part.total if part.whole else 0.0)
    order = sorted(weights, key=lambda key: key[0])
    return tuple(Bucket(*key, weights[key]) for key in order)
