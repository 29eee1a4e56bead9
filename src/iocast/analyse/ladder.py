"""A ladder of loads as a curve: the same I/O with more and more of it outstanding, its knees, its law, its steps."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

from msgspec import Struct

from iocast.analyse.knee import SATURATED_BELOW, Knee, closed_ladder
from iocast.analyse.latency_growth import LoadPoint, ScalingStep, scaling_steps
from iocast.analyse.load_kind import is_open_loop
from iocast.analyse.scalability import Scalability, scalability
from iocast.analyse.statistics import least_by_chance
from iocast.model.histogram import Histogram
from iocast.model.run import PhaseRecord
from iocast.model.workload import Closed, Op, Uniform, Workload

T = TypeVar("T")
HALF = 0.5  # of the scatter of a device's own times: full devices show 0.6 of it and more, caps none (measured)
TELLS = 0.5  # of independent I/Os: so many tell a variance as well as two percentiles do


class Point(Struct, frozen=True):
    """What a row did at its load: all of its operations together, or one of them."""

    record: PhaseRecord
    load: int  # I/Os that were asked to be outstanding: users x depth
    rate_per_s: float
    bytes_per_s: float
    response: Histogram

    @property
    def mean_ns(self) -> float:
        """The mean response."""
        return self.response.mean_ns


class CurveStep(Struct, frozen=True):
    """From one point of a curve to the next."""

    low: Point
    high: Point

    @property
    def ratio(self) -> float:
        """The rate of the higher load over that of the lower."""
        return self.high.rate_per_s / self.low.rate_per_s

    @property
    def gain(self) -> float:
        """How many times the I/Os a second a doubling of the load brought."""
        more = self.high.load / self.low.load
        return math.exp(math.log(max(self.ratio, 1e-9)) / math.log2(more))


class Curve(Struct, frozen=True, dict=True):
    """Points that differ only in load, in ascending order. A single row is a curve too."""

    points: tuple[Point, ...]

    @property
    def rows(self) -> tuple[PhaseRecord, ...]:
        """The rows behind the points."""
        return tuple(point.record for point in self.points)

    @property
    def loads(self) -> tuple[int, ...]:
        """The loads, ascending."""
        return tuple(point.load for point in self.points)

    @property
    def rates_per_s(self) -> tuple[float, ...]:
        """The throughput at each load."""
        return tuple(point.rate_per_s for point in self.points)

    @property
    def scatter_of_pace(self) -> float | None:
        """How irregularly the deepest point lets I/Os pass: the squared coefficient of variation of the time between
        two of them. 0: by a clock, as a cap does, or a device that always takes the same; 1: at random. None: unknown.

        Who waits for n others waits for n such times, and their variances add to that of the I/O itself and, as users
        of a closed load come back when one ends, to that of the one before. By the middle two thirds: who started first
        never waited.
        """
        first, deep = self.points[0], self.points[-1]
        waits = deep.mean_ns - first.mean_ns
        ahead = deep.load - deep.rate_per_s * first.mean_ns / 1e9
        if waits <= 0 or ahead < 1:
            return None
        return max(0.0, _variance(deep.response) - 2 * _variance(first.response)) * ahead / waits**2

    @property
    def passes_by_a_clock(self) -> bool:
        """Whether the deepest point lets I/Os pass as a clock does (scatter 0) and not as a full device does, with the
        scatter of its own times: less than chance makes of half of that. (Outstanding I/Os wait for the same ones:
        together they tell as much as one.) False where waits are too few to be seen beside what an I/O takes by itself.
        """
        pace, times, deep = self.scatter_of_pace, self.points[0].response, self.points[-1]
        at_once = deep.rate_per_s * times.mean_ns / 1e9
        if pace is None or deep.load - at_once < at_once**2:
            return False
        # Neither a tail nor a plateau makes its own scatter larger.
        own = min(_variance(times), times.stdev_ns**2) / times.mean_ns**2
        return pace <= least_by_chance(TELLS * deep.response.total / deep.load) * HALF**2 * own

    @property
    def peak(self) -> Point:
        """The point with the most throughput, of equal ones the least load."""
        return max(self.points, key=lambda point: point.rate_per_s)

    def quantiles_ns(self, q: float) -> tuple[float, ...]:
        """A percentile of the response at each load."""
        return tuple(point.response.quantile_ns(q) for point in self.points)

    def at(self, load: float) -> Point | None:
        """The point of a load."""
        return next((point for point in self.points if point.load == load), None)

    @cached_property
    def knee(self) -> Knee | None:
        """Where more load stops paying (models A6); None for fewer than three points."""
        return closed_ladder(self.loads, self.rates_per_s)

    @cached_property
    def law(self) -> Scalability | None:
        """The universal scalability law through the curve; None for fewer than five points."""
        return scalability(self.loads, self.rates_per_s)

    @cached_property
    def scaling(self) -> tuple[ScalingStep, ...]:
        """How the mean response grew from load to load."""
        return scaling_steps([LoadPoint(each.load, each.mean_ns, each.bytes_per_s) for each in self.points])

    @property
    def steps(self) -> tuple[CurveStep, ...]:
        """From each point to the next."""
        return tuple(CurveStep(low, high) for low, high in pairwise(self.points))

    @cached_property
    def saturation_load(self) -> float:
        """N* of operational analysis: the highest throughput times the response of the least load.

        Up to about this many outstanding I/Os the device answers side by side; beyond, they only wait. An upper bound
        where the device was full at the least load already.
        """
        return self.peak.rate_per_s * self.points[0].mean_ns / 1e9

    @property
    def saturated(self) -> bool:
        """True when the last step gained less than a tenth for a doubling of the load: else the throughput may rise
        further, and N* is a lower bound.
        """
        top = max(self.loads)
        lower = [point.load for point in self.points if point.load < top]
        if not lower:
            return False
        before, after = (max(point.rate_per_s for point in self.points if point.load == n) for n in (max(lower), top))
        return after < before * math.pow(SATURATED_BELOW, math.log2(top / max(lower)))

    @property
    def full_from_the_least(self) -> bool:
        """True when the step from the least load gained less than a tenth for a doubling: then the storage is full at
        the least load or below it, and N* is only that load again (Little's law): an upper bound.
        """
        low, *more = sorted(set(self.loads))
        if not more:
            return False
        one, other = (max(point.rate_per_s for point in self.points if point.load == n) for n in (low, more[0]))
        return other < one * math.pow(SATURATED_BELOW, math.log2(more[0] / low))

    def below(self, load: float) -> Curve:
        """The points up to a load, the first one always."""
        return Curve(tuple(point for at, point in enumerate(self.points) if not at or point.load <= load))

    def only(self, takes: Callable[[PhaseRecord], bool]) -> Curve | None:
        """The points of the rows that `takes` takes; the curve itself where that is all, None where it is none."""
        points = tuple(point for point in self.points if takes(point.record))
        if len(points) == len(self.points):
            return self
        return Curve(points) if points else None


def kind(record: PhaseRecord) -> str:
    """What rows of one curve have in common, whatever they are called: the workload but for users and depth, and the
    place."""
    load = record.phase.workload
    alike = Workload(
        mix=load.mix,
        locality=load.locality,
        arrival=load.arrival,
        direct=load.direct,
        sync=load.sync,
        fsync_every=load.fsync_every,
        payload=load.payload,
    )
    return f"{alike} {record.phase.region_start_bytes} {record.phase.region_size_bytes}"


def on_a_curve(record: PhaseRecord) -> bool:
    """True for a closed row that did anything and ran alone."""
    return not is_open_loop(record) and record.measurement.ios > 0 and not record.phase.together


def closed_curves(points: Iterable[Point]) -> tuple[Curve, ...]:
    """The curves of closed rows that ran alone, in the order of their first rows."""
    by_kind: dict[str, list[Point]] = defaultdict(list)
    for point in points:
        if on_a_curve(point.record):
            by_kind[kind(point.record)].append(point)
    return tuple(curve for alike in by_kind.values() for curve in _one_a_load(alike))


def one_for_each(points: Iterable[T], load: Callable[[T], float]) -> tuple[T, ...]:
    """The first point of each load, in ascending order."""
    first: dict[float, T] = {}
    for point in points:
        first.setdefault(load(point), point)
    return tuple(first[each] for each in sorted(first))


def _one_a_load(alike: list[Point]) -> Iterator[Curve]:
    """Points of equal load belong to curves of their own, the one of most I/Os to the first."""
    left = sorted(alike, key=lambda point: -point.record.measurement.ios)
    while left:
        curve = Curve(one_for_each(left, lambda point: point.load))
        yield curve
        taken = {id(row) for row in curve.rows}
        left = [point for point in left if id(point.record) not in taken]


def of_random(curve: Curve, op: Op) -> bool:
    """True for nothing but one operation of one size at random places, without think time or syncs."""
    load = curve.rows[0].phase.workload
    plain = load.arrival == Closed() and load.sync == "none" and not load.fsync_every
    return plain and isinstance(load.locality, Uniform) and [item.op for item in load.mix] == [op]


def _variance(times: Histogram) -> float:
    """By the middle two thirds, which lie within two standard deviations."""
    return ((times.quantile_ns(0.84) - times.quantile_ns(0.16)) / 2) ** 2
