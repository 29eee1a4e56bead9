"""Several kinds of load on one device: what they use together, and what a size between two measured ones costs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from iocast.errors import AnalysisError, SpecError


class MixUse(Struct, frozen=True):
    """How busy a mix keeps a device, 0 to 1: between `highest` (each kind has a limit of its own) and `total` (one
    limit for all)."""

    each: tuple[float, ...]
    total: float
    highest: float
    capacity_per_s: float  # of this mix, where one limit is shared
    headroom: float  # by how much all of it may grow: 0.2 is 20 %


def mix_use(rates_per_s: Sequence[float], capacities_per_s: Sequence[float]) -> MixUse:
    """The service demand law: each I/O of a kind costs 1 / capacity of that kind alone. Raises SpecError.

    Exact for a shared pool; on striped disks 13 to 30 % too high in the middle of a ladder (models A7).
    """
    if not rates_per_s or len(rates_per_s) != len(capacities_per_s) or min(*capacities_per_s, 1.0) <= 0:
        raise SpecError("each kind of I/O needs a rate and a capacity", "give one capacity above 0 for each rate")
    each = tuple(rate / most for rate, most in zip(rates_per_s, capacities_per_s, strict=True))
    total = sum(each)
    if not total > 0:
        raise SpecError("this mix asks for nothing", "give a rate above 0")
    return MixUse(each, total, max(each), sum(rates_per_s) / total, 1 / total - 1)


def capacity_at_size(sizes_bytes: Sequence[float], capacities_per_s: Sequence[float], size_bytes: float) -> float:
    """I/Os a second of a size between two measured ones: the time of one I/O is straight in its bytes.

    Raises AnalysisError outside of the measured sizes.
    """
    known = sorted(zip(sizes_bytes, capacities_per_s, strict=True))
    for size, capacity in known:
        if size == size_bytes:
            return capacity
    for (low, slow), (high, fast) in pairwise(known):
        if low < size_bytes < high:
            at = (size_bytes - low) / (high - low)
            return 1 / ((1 - at) / slow + at / fast)
    raise AnalysisError(
        f"I/Os of {size_bytes:g} bytes lie outside of the measured sizes",
        f"measure that size, or ask for one from {known[0][0]:g} to {known[-1][0]:g} bytes" if known else "measure it",
    )


def uniform_hit_ratio(dataset_bytes: float, cache_bytes: float) -> float:
    """The share of uniform random reads that a cache answers: cache / data, at most 1.

    Twice the memory in data still leaves half of them to the cache (models D).
    """
    return min(1.0, cache_bytes / dataset_bytes)
