"""Why one side is slower than the other: the same requests, and in which bands of time their latencies lie.

The difference of two means over bands of time is split (Kitagawa 1955) into what comes of other shares of the bands,
such as fewer cache hits, and what comes of longer times within them.
"""

from __future__ import annotations

import math
from itertools import pairwise

from msgspec import Struct

from iocast.model.codes import LatencyBandCode
from iocast.model.histogram import Histogram, bucket_bounds_ns
from iocast.model.profiling.characteristics import LatencyCell
from iocast.model.profiling.profile import Profile

# Below 64 us a host's cache answers (source-systems.md K12); the others are where arrays and disks lie.
EDGES_NS = (0, 64_000, 1_000_000, 100_000_000, math.inf)
BANDS: tuple[LatencyBandCode, ...] = ("memory", "cache", "storage", "stalled")
FEW = 100  # latencies of a cell on each side [J]
# The columns of the two-database comparison of K12: from 10 us to above half a second.
STRIP_NS = tuple(
    each * 1000 for each in (10, 50, 100, 200, 500, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 100_000, 500_000)
)


class BandDifference(Struct, frozen=True):
    """One band: the share of both sides' requests, and how much of the difference it makes, in ns of the mean."""

    band: LatencyBandCode
    first_share: float
    other_share: float
    by_share_ns: float
    by_time_ns: float


class CellDifference(Struct, frozen=True):
    """Requests of one operation and size on both sides."""

    op: int
    size: int | None
    first: LatencyCell
    other: LatencyCell
    bands: tuple[BandDifference, ...]

    @property
    def ratio(self) -> float:
        """The other's mean latency over the first's."""
        return self.other.latency.mean_ns / self.first.latency.mean_ns

    @property
    def difference_ns(self) -> float:
        """The other's mean latency less the first's."""
        return self.other.latency.mean_ns - self.first.latency.mean_ns

    @property
    def by_share_ns(self) -> float:
        """The part of the difference that comes of other shares of the bands."""
        return sum(each.by_share_ns for each in self.bands)


class ProfileDifference(Struct, frozen=True):
    """Two profiles beside each other. `mix_distance`: half the sum of differences of op x size shares, 0 to 1."""

    first_events: int
    other_events: int
    mix_distance: float
    first_rate_per_s: float | None
    other_rate_per_s: float | None
    cells: tuple[CellDifference, ...]  # those that take most of the time first

    @property
    def count_ratio(self) -> float:
        """How many times as many requests the other has."""
        return self.other_events / self.first_events


def profile_difference(first: Profile, other: Profile) -> ProfileDifference:
    """The differences of two profiles; a size that only one has is in the distance of the mixes."""
    cells = {(each.op, each.size): each for each in first.order.by_size if not each.others}
    pairs = []
    for each in other.order.by_size:
        known = cells.get((each.op, each.size))
        if known is None or each.others or min(known.latency.total, each.latency.total) < FEW:
            continue
        if min(known.latency.mean_ns, each.latency.mean_ns) > 0:
            bands = _bands(known.latency, each.latency)
            pairs.append(CellDifference(each.op, each.size, known, each, bands))
    pairs.sort(key=lambda pair: -(pair.first.latency.sum_ns + pair.other.latency.sum_ns))
    return ProfileDifference(
        first_events=first.events,
        other_events=other.events,
        mix_distance=mix_distance(first, other),
        first_rate_per_s=first.order.arrivals.rate_per_s if first.order.arrivals else None,
        other_rate_per_s=other.order.arrivals.rate_per_s if other.order.arrivals else None,
        cells=tuple(pairs),
    )


def mix_distance(first: Profile, other: Profile) -> float:
    """Total variation of the shares of op x size: 0 the same mix, 1 nothing in common."""
    one, two = (_shares(each) for each in (first, other))
    return sum(abs(one.get(key, 0.0) - two.get(key, 0.0)) for key in {*one, *two}) / 2


def _shares(profile: Profile) -> dict[tuple[int, int | None], float]:
    return {(each.op, each.size): each.events / profile.events for each in profile.sizes}


def _bands(first: Histogram, other: Histogram) -> tuple[BandDifference, ...]:
    differences = []
    for band, (one, two) in zip(BANDS, zip(_split(first), _split(other), strict=True), strict=True):
        (share, mean), (other_share, other_mean) = one, two
        # A band that one side does not have has the other's time: its absence is a matter of shares.
        mean, other_mean = mean or other_mean or 0.0, other_mean or mean or 0.0
        by_share = (other_share - share) * (mean + other_mean) / 2
        by_time = (other_mean - mean) * (share + other_share) / 2
        differences.append(BandDifference(band, share, other_share, by_share, by_time))
    return tuple(differences)


def _split(times: Histogram) -> list[tuple[float, float | None]]:
    """Share and mean of each band."""
    sums, counts = [0.0] * len(BANDS), [0] * len(BANDS)
    for index, count in zip(times.index, times.count, strict=True):
        middle = sum(bucket_bounds_ns(index)) / 2
        at = next(at for at, (low, high) in enumerate(pairwise(EDGES_NS)) if low <= middle < high)
        sums[at] += middle * count
        counts[at] += count
    total = times.total
    return [(count / total, each / count if count else None) for each, count in zip(sums, counts, strict=True)]


def strip(times: Histogram) -> tuple[int, ...]:
    """Counts between the edges of `STRIP_NS`, and beyond the last."""
    upto = [0, *(times.count_up_to(edge - 1) for edge in STRIP_NS), times.total]
    return tuple(after - before for before, after in pairwise(upto))
