"""What a calibration comes to, from its rows alone: the maxima, the curve, its knees, and what cannot be said."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from statistics import NormalDist

from msgspec import Struct
from msgspec.structs import replace

from iocast.analyse.facts import RowFacts, point
from iocast.analyse.ladder import Curve, one_for_each
from iocast.analyse.statistics import share_bounds
from iocast.forecast.hockey_stick import Fitted, Point, fit_hockey_stick
from iocast.forecast.limit_search import Crossing, Held, RatePoint, crossing, statistic
from iocast.model.calibration_request import CLOSED, OPEN, STREAM, CalibrationRequest
from iocast.model.codes import CalibrationRefusalCode, KneeCode

LATENCY_MULTIPLE = 2.5  # of the unloaded mean: what 60 % utilisation means for one queue (models A2)
PLANNING_CAP = 0.70  # of the most IOPS [J] models A6: the rest is for failures, growth and bursts
Z95 = NormalDist().inv_cdf(0.975)


class Peak(Struct, frozen=True):
    """The row of a maximum: what was reached, with the 95 % interval of that, within this run."""

    row: RowFacts
    value: float  # I/Os or bytes a second
    low: float | None
    high: float | None
    meets: bool  # the limit, in this very row: the mean, and the percentile that was asked for


class CurvePoint(Struct, frozen=True):
    """A row of random reads: its statistic against the limit. `why_not`: it is refused."""

    row: RowFacts
    at: RatePoint
    held: Held
    why_not: str = ""


class Knee(Struct, frozen=True):
    """One answer to where more load stops paying: as a closed load, as a rate, or both (models A6)."""

    code: KneeCode
    load: float | None
    rate_per_s: float | None


class Disks(Struct, frozen=True):
    """The most IOPS beside a number of disks: each one's share, and what so many would do that read one at a time."""

    disks: int
    each_per_s: float
    one_by_one_per_s: float  # of all, each as fast as the idle target answered

    @property
    def ratio(self) -> float:
        """The most IOPS over what so many disks would do."""
        return self.each_per_s * self.disks / self.one_by_one_per_s


class Calibration(Struct, frozen=True, kw_only=True):
    """Everything that a calibration comes to. What is None could not be had; `refusals` say why, the gravest first."""

    request: CalibrationRequest
    idle: CurvePoint | None  # the least closed load
    closed: tuple[CurvePoint, ...]  # ascending loads
    at_rates: tuple[CurvePoint, ...]  # ascending rates
    within: Crossing | None  # the limit at the percentile
    within_mean: Crossing | None  # the same limit for the mean, as CALIBRATE_IO counts
    within_row: RowFacts | None  # the highest rate that kept the limit before any row was beyond it
    closed_within: Peak | None  # the highest closed load that kept it
    most: Peak | None  # IOPS
    saturated: bool
    faster_refused: bool  # a closed row with more IOPS is refused
    throughput: Peak | None  # bytes a second
    single: Peak | None  # bytes a second of one user
    knees: tuple[Knee, ...]
    fit: Fitted
    disks: Disks | None
    rows: int
    refused: Mapping[str, str]  # rows that are not used, and why
    refusals: tuple[CalibrationRefusalCode, ...] = ()


def calibration(request: CalibrationRequest, rows: Sequence[RowFacts], refused: Mapping[str, str]) -> Calibration:
    """What the rows come to; those in `refused` (their names, and why) are shown and not used."""
    done = [row for row in rows if row.measurement.ios]
    used = [row for row in done if row.name not in refused]
    closed, at_rates = _curve_points(request, done, refused, CLOSED), _curve_points(request, done, refused, OPEN)
    curve = _curve(row for row in used if row.record.phase.test == CLOSED)
    idle = closed[0] if closed and _usable(closed[0]) else None
    kept = [each for each in at_rates if _usable(each)]
    start = idle or next((each for each in kept[:1] if each.at.within(request.max_latency_ns)), None)
    within = _crossing(request, start, [each.at for each in kept])
    means = None if start is None else _mean_crossing(request, start, kept)
    most = None if curve is None else _most(request, used, CLOSED, _rate)
    saturated = curve is not None and curve.knee is not None and curve.knee.saturated
    alone = [row for row in used if row.record.plan.users == 1]
    fitted = Calibration(
        request=request,
        idle=idle,
        closed=tuple(closed),
        at_rates=tuple(at_rates),
        within=within,
        within_mean=means,
        within_row=_within_row(request, kept, within),
        closed_within=_closed_within(request, closed),
        most=most,
        saturated=saturated,
        faster_refused=any(each.why_not and most and _rate(each.row) > most.value for each in closed),
        throughput=_most(request, used, STREAM, lambda row: row.measurement.bytes_per_s),
        single=_most(request, alone, STREAM, lambda row: row.measurement.bytes_per_s),
        knees=_knees(curve, idle, kept, within),
        fit=fit_hockey_stick([_fit_point(each) for each in kept if each.at.sustained]),
        disks=_disks(request, most, idle),
        rows=len(rows),
        refused=dict(refused),
    )
    return replace(fitted, refusals=tuple(_refusals(fitted, {row.record.phase.test for row in done})))


def _curve_points(
    request: CalibrationRequest, rows: Sequence[RowFacts], refused: Mapping[str, str], test: str
) -> list[CurvePoint]:
    points = []
    for row in rows:
        if row.record.phase.test == test:
            at = statistic(row.record, request.quantile)
            points.append(CurvePoint(row, at, at.held(request.max_latency_ns), refused.get(row.name, "")))
    by_load = test == CLOSED
    return sorted(points, key=lambda each: each.row.measurement.asked_depth if by_load else each.at.rate_per_s)


def _rate(row: RowFacts) -> float:
    return row.measurement.rate_per_s


def _usable(each: CurvePoint) -> bool:
    return not each.why_not and each.at.enough


def _curve(rows: Iterable[RowFacts]) -> Curve | None:
    points = [point(row) for row in rows]
    return Curve(one_for_each(points, lambda each: each.load)) if points else None


def _crossing(request: CalibrationRequest, idle: CurvePoint | None, points: Sequence[RatePoint]) -> Crossing | None:
    return None if idle is None else crossing(points, idle.at, request.max_latency_ns)


def _mean_crossing(request: CalibrationRequest, idle: CurvePoint, kept: Sequence[CurvePoint]) -> Crossing | None:
    means = [statistic(each.row.record, None) for each in kept]
    return crossing(means, statistic(idle.row.record, None), request.max_latency_ns) if means else None


def _within_row(request: CalibrationRequest, kept: Sequence[CurvePoint], within: Crossing | None) -> RowFacts | None:
    """The measured rate whose figures stand for the answer: the highest that kept the limit, and all below it did."""
    if within is None or within.rate_per_s is None:
        return None
    row_facts = None
    for each in kept:
        if not each.at.within(request.max_latency_ns):
            break
        row_facts = each.row
    return row_facts


def _closed_within(request: CalibrationRequest, closed: Sequence[CurvePoint]) -> Peak | None:
    row = None
    for each in closed:
        if not _usable(each) or not each.at.within(request.max_latency_ns):
            break
        row = each.row
    return None if row is None else _peak(request, row, _rate)


def _most(
    request: CalibrationRequest, rows: Sequence[RowFacts], test: str, value: Callable[[RowFacts], float]
) -> Peak | None:
    of_test = [row for row in rows if row.record.phase.test == test]
    return _peak(request, max(of_test, key=value), value) if of_test else None


def _peak(request: CalibrationRequest, row: RowFacts, value: Callable[[RowFacts], float]) -> Peak:
    ios, reached = row.record.series.ios, value(row)
    low, high = share_bounds(ios, (1,) * len(ios), sum(ios)) if ios else (None, None)
    limit_ns = request.max_latency_ns
    meets = row.mean_ns <= limit_ns and statistic(row.record, request.quantile).value_ns <= limit_ns
    return Peak(row, reached, low and reached * low, high and reached * high, meets)


def _knees(
    curve: Curve | None, idle: CurvePoint | None, kept: Sequence[CurvePoint], within: Crossing | None
) -> tuple[Knee, ...]:
    """All of models A6: the decision first, then from the neutral ones to the one that is only for display."""
    if curve is None or idle is None:
        return ()
    knees = [Knee("limit", None, within.rate_per_s)] if within is not None and within.rate_per_s else []
    if (knee := curve.knee) is not None:
        at = curve.at(knee.max_power_load)
        knees += [
            Knee("least_load", knee.least_load, None),
            Knee("max_power", knee.max_power_load, at.rate_per_s if at else None),
        ]
    knees.append(Knee("planning_cap", None, PLANNING_CAP * curve.peak.rate_per_s))
    unloaded = statistic(idle.row.record, None)
    if kept:
        means = [statistic(each.row.record, None) for each in kept]
        bent = crossing(means, unloaded, LATENCY_MULTIPLE * unloaded.value_ns)
        if bent.reached:
            knees.append(Knee("latency_multiple", None, bent.rate_per_s))
    flat = next((step for step in curve.steps if step.gain < 1.10), None)
    if flat is not None:
        knees.append(Knee("saturation", flat.low.load, flat.low.rate_per_s))
    if (knee := curve.knee) is not None:
        at = curve.at(knee.chord_load)
        knees.append(Knee("chord", knee.chord_load, at.rate_per_s if at else None))
    return tuple(knees)


def _fit_point(each: CurvePoint) -> Point:
    mean = statistic(each.row.record, None)
    error = 0.1  # of a row too short to say
    if mean.low_ns and mean.high_ns:
        error = (mean.high_ns - mean.low_ns) / (2 * Z95) / mean.value_ns
    return Point(mean.rate_per_s, mean.value_ns / 1e9, error)


def _disks(request: CalibrationRequest, most: Peak | None, idle: CurvePoint | None) -> Disks | None:
    if request.disks is None or most is None or idle is None:
        return None
    return Disks(request.disks, most.value / request.disks, request.disks * 1e9 / idle.row.mean_ns)


def _refusals(fitted: Calibration, tests: Collection[str]) -> Iterator[CalibrationRefusalCode]:
    """What the calibration does not say, the gravest first; `tests` are those that were measured."""
    points, within = (*fitted.closed, *fitted.at_rates), fitted.within
    if fitted.closed and fitted.closed[0].why_not:
        yield "idle_refused"
    if fitted.idle is not None and not fitted.idle.at.within(fitted.request.max_latency_ns):
        yield "limit_below_idle"
    if any(not each.at.enough and not each.why_not for each in points):
        yield "few_ios"
    if fitted.most is not None and not fitted.saturated:
        yield "not_saturated"
    if OPEN not in tests:
        yield "no_rates"
    elif within is not None and within.rate_per_s is not None:
        if not within.reached:
            yield "limit_not_reached"
        elif within.low_per_s is None or within.high_per_s is None:
            yield "limit_unsure"
    if STREAM not in tests:
        yield "no_streams"
    if fitted.refused:
        yield "rows_refused"
