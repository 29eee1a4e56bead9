"""How far two profiles lie apart, in effect sizes: p-values mean nothing among millions of I/Os (traces.md 5.6).

A distance is accepted up to twice the distance of two halves of the original, or an absolute cap, whichever is larger.
A control, with random arrivals and uniform places of the same mean, must be rejected; where it is not, the original has
too little structure for the check to decide.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import Literal

from msgspec import Struct

from iocast.analyse.profiling.latency_difference import mix_distance
from iocast.model.codes import DistanceCode
from iocast.model.histogram import Histogram
from iocast.model.profiling.characteristics import ArrivalFacts, MissCurve
from iocast.model.profiling.profile import Profile

CheckCode = Literal["alike", "not_alike", "undecided"]
# How far apart may be, whatever the noise; None is told and not judged.
CAPS: dict[DistanceCode, float | None] = {
    "rate": 0.02,
    "operations": 0.02,
    "sizes": 0.02,
    "gaps": 0.05,
    "dispersion": math.log(1.5),
    "in_flight": 0.05,
    "sequential": 0.03,
    "misses": 0.02,
    "places": None,  # a generator has a region of its own
}
NOISE = 2.0  # times the distance of two halves
WINDOWS = 200  # of a scale on both sides, from which its dispersion is compared [J]
CURVE_POINTS = 40


class Distance(Struct, frozen=True):
    """One distance; `limit` None is not judged, an unknown figure is None."""

    code: DistanceCode
    value: float
    noise: float | None
    control: float | None
    limit: float | None

    @property
    def accepted(self) -> bool | None:
        """Whether both are alike in it; None where that is not judged."""
        return None if self.limit is None else self.value <= self.limit

    @property
    def control_accepted(self) -> bool | None:
        """Whether the control would be taken for the original."""
        return None if self.limit is None or self.control is None else self.control <= self.limit


class LikenessCheck(Struct, frozen=True):
    """All distances, and what they come to."""

    distances: tuple[Distance, ...]

    @property
    def verdict(self) -> CheckCode:
        """Undecided where nothing tells the control from the original."""
        if all(each.control_accepted is not False for each in self.distances):
            return "undecided"
        return "not_alike" if any(each.accepted is False for each in self.distances) else "alike"


def likeness(original: Profile, generated: Profile, halves: tuple[Profile, Profile], control: Profile) -> LikenessCheck:
    """The distances of a generated load, of two halves of the original, and of the control."""
    values, noise = profile_distances(original, generated), profile_distances(*halves)
    others = profile_distances(original, control)
    checks = []
    for code, value in values.items():
        cap = CAPS[code]
        limit = None if cap is None else max(cap, NOISE * noise.get(code, 0.0))
        checks.append(Distance(code, value, noise.get(code), others.get(code), limit))
    return LikenessCheck(tuple(checks))


def profile_distances(first: Profile, other: Profile) -> dict[DistanceCode, float]:
    """All distances that both profiles know enough for."""
    distances: dict[DistanceCode, float | None] = {
        "rate": _rates(first, other),
        "operations": _operations(first, other),
        "sizes": mix_distance(first, other),
        "gaps": _gaps(first.order.arrivals, other.order.arrivals),
        "dispersion": _dispersions(first.order.arrivals, other.order.arrivals),
        "in_flight": _in_flight(first, other),
        "sequential": _sequential(first, other),
        "misses": _misses(first.order.references.all, other.order.references.all),
        "places": _places(first, other),
    }
    return {code: value for code, value in distances.items() if value is not None}


def _rates(first: Profile, other: Profile) -> float | None:
    one, two = (each.order.arrivals.rate_per_s if each.order.arrivals else None for each in (first, other))
    return abs(two / one - 1) if one and two else None


def _operations(first: Profile, other: Profile) -> float:
    def shares(profile: Profile) -> dict[int, float]:
        total: dict[int, float] = {}
        for each in profile.sizes:
            total[each.op] = total.get(each.op, 0.0) + each.events / profile.events
        return total

    one, two = shares(first), shares(other)
    return sum(abs(one.get(op, 0.0) - two.get(op, 0.0)) for op in {*one, *two}) / 2


def _gaps(first: ArrivalFacts | None, other: ArrivalFacts | None) -> float | None:
    if first is None or other is None or not first.gaps.total or not other.gaps.total:
        return None
    return kolmogorov(first.gaps, other.gaps)


def kolmogorov(first: Histogram, other: Histogram) -> float:
    """The largest difference of two distributions, by their buckets."""
    counts: dict[int, list[int]] = {}
    for side, times in enumerate((first, other)):
        for index, count in zip(times.index, times.count, strict=True):
            counts.setdefault(index, [0, 0])[side] = count
    one = two = worst = 0.0
    for index in sorted(counts):
        one += counts[index][0] / first.total
        two += counts[index][1] / other.total
        worst = max(worst, abs(one - two))
    return worst


def _dispersions(first: ArrivalFacts | None, other: ArrivalFacts | None) -> float | None:
    if first is None or other is None:
        return None
    known = {each.width_ns: each.index for each in other.dispersion if each.windows >= WINDOWS and each.index > 0}
    pairs = [
        (each.index, known[each.width_ns])
        for each in first.dispersion
        if each.windows >= WINDOWS and each.index > 0 and each.width_ns in known
    ]
    return max((abs(math.log(two / one)) for one, two in pairs), default=None)


def _in_flight(first: Profile, other: Profile) -> float | None:
    flights = [each.order.in_flight for each in (first, other)]
    if any(each is None or not sum(each.time_at_ns) for each in flights):
        return None
    curves = [list(accumulate(held / sum(each.time_at_ns) for held in each.time_at_ns)) for each in flights if each]
    length = max(map(len, curves))
    one, two = ([*curve, *[1.0] * (length - len(curve))] for curve in curves)
    return max(abs(a - b) for a, b in zip(one, two, strict=True))


def _sequential(first: Profile, other: Profile) -> float | None:
    worst = None
    for op in (0, 1):
        one, two = (each.order.streams.of(op) for each in (first, other))
        if one is not None and two is not None:
            apart = abs(one.sequential_requests / one.requests - two.sequential_requests / two.requests)
            worst = max(worst or 0.0, apart)
    return worst


def _misses(first: MissCurve | None, other: MissCurve | None) -> float | None:
    if first is None or other is None:
        return None
    most = math.log(max(first.cache_blocks[-1], other.cache_blocks[-1], 2))
    sizes = [math.exp(most * at / (CURVE_POINTS - 1)) for at in range(CURVE_POINTS)]
    apart = [abs(_ratio_at(first, size) - _ratio_at(other, size)) for size in sizes]
    return sum(apart) / len(apart)


def _ratio_at(curve: MissCurve, size: float) -> float:
    """The ratio at a size, straight between neighbours on a logarithmic axis."""
    blocks = curve.cache_blocks
    if size >= blocks[-1]:
        return curve.ratios[-1]
    at = next(at for at, each in enumerate(blocks) if each > size)
    if at == 0:
        return curve.ratios[0]
    part = math.log(size / blocks[at - 1]) / math.log(blocks[at] / blocks[at - 1])
    return curve.ratios[at - 1] + part * (curve.ratios[at] - curve.ratios[at - 1])


def _places(first: Profile, other: Profile) -> float | None:
    """The Jensen-Shannon distance of 64 equal stretches, 0 to 1."""
    one, two = (_spread(each) for each in (first, other))
    if one is None or two is None:
        return None
    middle = [(a + b) / 2 for a, b in zip(one, two, strict=True)]
    return math.sqrt(max(0.0, (_divergence(one, middle) + _divergence(two, middle)) / 2))


def _spread(profile: Profile) -> list[float] | None:
    columns = [each.places for each in profile.order.moments if each.places]
    totals = [sum(column) for column in zip(*columns, strict=True)]
    return [each / sum(totals) for each in totals] if sum(totals) else None


def _divergence(one: Sequence[float], middle: Sequence[float]) -> float:
    return sum(a * math.log2(a / b) for a, b in zip(one, middle, strict=True) if a > 0)
