"""Finds in a run the ladder of closed rows for a mix and a size, or tells why there is none."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.ladder import Curve
from iocast.analyse.statistics import (
    Rule,
    design_effect,
    design_effects,
    enough_beyond,
    quantile_interval,
    share_bounds,
)
from iocast.forecast.composed_ladder import composed
from iocast.forecast.laws.mixes import capacity_at_size
from iocast.forecast.measured_ladder import LEAST_LOADS, QUANTILES, Absent, Level, MeasuredLadder, RequestedLoad
from iocast.forecast.response_law import GRID
from iocast.forecast.uneven_pace import Pace, pace_of
from iocast.model.histogram import Histogram
from iocast.model.run import PhaseRecord
from iocast.model.workload import Closed, Uniform, Zipf

SAME_MIX = 0.05  # [J] of the share of reads: nearer mixes are taken for the same
FULL = 2.0  # times the saturation load: every server has an I/O waiting
SHORT = Rule(least_intervals=3)  # of a row that a ladder can use


def find_ladder(
    facts: Facts, requested_load: RequestedLoad, refused: Mapping[str, str], unsure: Mapping[str, str]
) -> MeasuredLadder | Absent:
    """The ladder of the mix itself; without one, between those of the sizes beside it; without these, that of reads and
    that of writes put together.

    `refused` names rows that must not be used, and why; `unsure` those that are a hint only.
    """
    if facts.imported:
        return Absent("imported")
    ladder = _single(facts, requested_load, refused, unsure)
    if isinstance(ladder, Absent) and ladder.code == "no_such_rows":
        ladder = _between_sizes(facts, requested_load, refused, unsure) or ladder
    if isinstance(ladder, MeasuredLadder) or not 0 < requested_load.read_share < 1:
        return ladder
    parts = [
        _single(facts, RequestedLoad(size_bytes=requested_load.size_bytes, read_share=share), refused, unsure)
        for share in (1.0, 0.0)
    ]
    if all(isinstance(each, MeasuredLadder) for each in parts):
        reads, writes = (each for each in parts if isinstance(each, MeasuredLadder))
        return composed(reads, writes, requested_load) or ladder
    return ladder


def _single(
    facts: Facts, requested_load: RequestedLoad, refused: Mapping[str, str], unsure: Mapping[str, str]
) -> MeasuredLadder | Absent:
    curves = [curve for curve in facts.curves if same_load(curve.rows[0], requested_load)]
    if not curves:
        known = dict.fromkeys(filter(None, (load_of(curve.rows[0]) for curve in facts.curves)))
        return Absent("no_such_rows", known=tuple(known))
    measured = [_measured(facts, curve, requested_load, refused, unsure) for curve in curves]
    ladders = [each for each in measured if isinstance(each, MeasuredLadder)]
    if ladders:
        return max(ladders, key=lambda each: (len(each.levels), each.levels[-1].users))
    return next(each for each in measured if isinstance(each, Absent))


def _between_sizes(
    facts: Facts, requested_load: RequestedLoad, refused: Mapping[str, str], unsure: Mapping[str, str]
) -> MeasuredLadder | None:
    """Between the nearest measured sizes on both sides; None where the asked size lies outside of all."""
    known = {load.size_bytes for curve in facts.curves if (load := load_of(curve.rows[0]))}
    ladders: list[MeasuredLadder] = []
    for sizes in (
        sorted((size for size in known if size < requested_load.size_bytes), reverse=True),
        sorted(size for size in known if size > requested_load.size_bytes),
    ):
        each = (_single(facts, replace(requested_load, size_bytes=size), refused, unsure) for size in sizes)
        nearest = next((one for one in each if isinstance(one, MeasuredLadder)), None)
        if nearest is None:
            return None
        ladders.append(nearest)
    return interpolated(ladders[0], ladders[1], requested_load)


def load_of(record: PhaseRecord) -> RequestedLoad | None:
    """What random I/O a row makes, closed or open; None where it is of another kind."""
    load = record.phase.workload
    if load.sync != "none" or load.fsync_every or not isinstance(load.locality, Uniform | Zipf):
        return None
    if any(item.op not in ("read", "write") for item in load.mix) or record.phase.together:
        return None
    sizes = {item.size_bytes for item in load.mix}
    if len(sizes) != 1 or (isinstance(load.arrival, Closed) and load.arrival.think_ns):
        return None
    reads = math.fsum(item.weight for item in load.mix if item.op == "read")
    return RequestedLoad(size_bytes=sizes.pop(), read_share=reads / math.fsum(item.weight for item in load.mix))


def same_load(record: PhaseRecord, requested_load: RequestedLoad) -> bool:
    """True for a row of the size that is asked for, and of its mix or nearly so; of reads only if those are asked."""
    has = load_of(record)
    if has is None or has.size_bytes != requested_load.size_bytes:
        return False
    pure = any(share in (0.0, 1.0) for share in (has.read_share, requested_load.read_share))
    return (
        has.read_share == requested_load.read_share
        if pure
        else abs(has.read_share - requested_load.read_share) <= SAME_MIX + 1e-9
    )


def _measured(
    facts: Facts, curve: Curve, load: RequestedLoad, refused: Mapping[str, str], unsure: Mapping[str, str]
) -> MeasuredLadder | Absent:
    excluded = {row.phase.name: refused[row.phase.name] for row in curve.rows if row.phase.name in refused}
    levels = []
    for row in curve.rows:
        if row.phase.name in excluded:
            continue
        level = level_of(facts.row(row))
        if level is None:
            excluded[row.phase.name] = "too short: fewer than three whole intervals"
        else:
            levels.append(level)
    if excluded and len(levels) < LEAST_LOADS:
        return Absent("refused_rows", excluded)
    if len(levels) < LEAST_LOADS:
        return Absent("few_loads", {row.phase.name: "" for row in curve.rows})
    if levels[0].users != 1 and excluded:
        return Absent("refused_rows", excluded)
    if levels[0].users != 1:
        return Absent("no_single", excluded)
    first = facts.row(next(row for row in curve.rows if row.phase.name in levels[0].names)).response()
    has = load_of(curve.rows[0])
    ladder = MeasuredLadder(
        levels=tuple(levels),
        load=load,
        read_share=load.read_share if has is None else has.read_share,
        service_cv2=(first.stdev_ns / first.mean_ns) ** 2,
        fastest_s=first.quantile_ns(0.005) / 1e9,
        unsure={name: unsure[name] for level in levels for name in level.names if name in unsure},
        excluded=excluded,
    )
    return replace(ladder, pace=_pace(ladder, [facts.row(row) for row in curve.rows]))


def _pace(of: MeasuredLadder, rows: list[RowFacts]) -> Pace | None:
    """By the rows that kept it saturated; None for a ladder that was still rising."""
    if not of.saturated:
        return None
    least = FULL * of.ladder.saturation_users
    full = {name for level in of.levels if level.users >= least for name in level.names}
    series = [row.record.series for row in rows if row.name in full]
    intervals = {each.interval_ns for each in series}
    if len(intervals) != 1:
        return None
    rates = [tuple(each.rates_per_s) for each in series]
    return pace_of(of.ladder, of.levels[-1].times_s, of.levels[0].times_s, rates, intervals.pop() / 1e9)


def level_of(row: RowFacts) -> Level | None:
    """A closed row as one load of a ladder; None where too few intervals show how sure it is."""
    response, series = row.response(), row.record.series
    bounds = share_bounds(series.response_ns, series.ios, float(sum(series.response_ns)), SHORT)
    if None in bounds or not response.total:
        return None
    low, high = (each or 1.0 for each in bounds)
    known = [design_effects(each, SHORT) for each in series.ops if sum(each.ios)]
    return Level(
        names=(row.name,),
        users=float(row.measurement.asked_depth),
        rate_per_s=row.measurement.rate_per_s,
        ios=response.total,
        times_s=times_of(response),
        mean_error=max(math.log(high), -math.log(low)),
        errors=dict(_errors(response, [each for each in known if each is not None])),
    )


def times_of(response: Histogram) -> tuple[float, ...]:
    """The times at the shares of GRID, in seconds."""
    return tuple((response.quantile_ns(q) if q else float(response.min_ns)) / 1e9 for q in GRID)


def _errors(response: Histogram, effects: list[tuple[float, ...]]) -> Iterator[tuple[float, float | None]]:
    """Of each quantile half its interval in logarithms. Several operations of a row are one set, so effects add up."""
    for q in (*QUANTILES, 0.9, 0.999):
        if not effects or not enough_beyond(response.total, q):
            yield q, None
            continue
        effect = math.fsum(design_effect(each, q) or 1.0 for each in effects)
        interval = quantile_interval(response, q, effect)
        if interval.low_ns is None or interval.high_ns is None or interval.value_ns <= 0 or interval.low_ns <= 0:
            yield q, None
        else:
            yield q, max(math.log(interval.high_ns / interval.value_ns), math.log(interval.value_ns / interval.low_ns))


def interpolated(
    smaller: MeasuredLadder, larger: MeasuredLadder, requested_load: RequestedLoad
) -> MeasuredLadder | None:
    """The ladder of the asked size; None for fewer than three loads in common."""
    of_larger = {level.users: level for level in larger.levels}
    pairs = [(level, of_larger[level.users]) for level in smaller.levels if level.users in of_larger]
    if len(pairs) < LEAST_LOADS or pairs[0][0].users != 1:
        return None
    part = math.log(requested_load.size_bytes / smaller.load.size_bytes)
    part /= math.log(larger.load.size_bytes / smaller.load.size_bytes)
    sizes = (smaller.load.size_bytes, larger.load.size_bytes)
    return MeasuredLadder(
        levels=tuple(_level(few, many, sizes, requested_load.size_bytes, part) for few, many in pairs),
        load=requested_load,
        read_share=smaller.read_share,
        service_cv2=max(smaller.service_cv2, larger.service_cv2),
        fastest_s=_between(smaller.fastest_s, larger.fastest_s, part),
        excluded={**smaller.excluded, **larger.excluded},
        unsure={**smaller.unsure, **larger.unsure},
        between=(smaller, larger),
    )


def _level(few: Level, many: Level, sizes: tuple[int, int], size_bytes: int, part: float) -> Level:
    errors: dict[float, float | None] = {}
    for q, one in few.errors.items():
        other = many.errors.get(q)
        errors[q] = None if one is None or other is None else max(one, other)
    return Level(
        names=(*few.names, *many.names),
        users=few.users,
        rate_per_s=capacity_at_size(sizes, (few.rate_per_s, many.rate_per_s), size_bytes),
        ios=min(few.ios, many.ios),
        times_s=tuple(_between(*both, part) for both in zip(few.times_s, many.times_s, strict=True)),
        mean_error=max(few.mean_error, many.mean_error),
        errors=errors,
    )


def _between(of_smaller: float, of_larger: float, part: float) -> float:
    """Straight in logarithms."""
    if min(of_smaller, of_larger) <= 0:
        return of_smaller + part * (of_larger - of_smaller)
    return math.exp((1 - part) * math.log(of_smaller) + part * math.log(of_larger))
