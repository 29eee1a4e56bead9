"""The states of the storage that a run met, cut once by what was measured, within its rows and across them.

Rows may be joined (in a ladder, a bottleneck, a headline, a forecast, a grade) only where they met one state. Five
things say that they did not: the rate took another level within a row; later rows stand at a level far below what less
load gave before (`levels.py`); the rate fell within one row and came back within a later one, and the rows between lie
in that time; a limit of the test's control group was another one; or a ladder cannot be that of one state: what an I/O
takes grows ever faster with the load, it does not jump and then stay.

What a simulated device is told to do is not looked at: to whoever judges it, it is as closed as a real one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from typing import Literal, NamedTuple

from msgspec import Struct

from iocast.analyse.facts import Facts, RowFacts, once
from iocast.analyse.levels import Between, Unit, counts, falls_between, rate
from iocast.analyse.rate_drops import CHANCE, FALLS, ShortStep
from iocast.model.workload import Uniform

LEVEL = 0.03  # rates nearer to each other are the same level [J]
LEAST_INTERVALS = 3  # of fewer none lies between the two levels
LEAST_NS = 1_000_000_000  # of an interval: the start of a scan, or a seek back, takes most of a shorter one [J]
CAME_BACK = 0.25  # of a fall: nearer to its height did the rate rise again [J]
JUMPS = 1.4  # times what a ladder allows: first steps of a processor or an adapter are smaller [J]
WAKES = 2.0  # times what an I/O takes at a higher load: sleeping processors and adapters take less [J]
LEAST_LADDER, MOST_LADDER = 4, 12  # rows: of fewer any two states explain any times; of more there are too many cuts

How = Literal["within", "before", "after", "step", "slow_time", "limits", "ladder"]


class Apart(Struct, frozen=True):
    """Why a row may not be joined with the others of its run: it met two states, or another one than most of them.

    `within`: the rate fell in it for good; `before`, `after`: it lies on that side of a fall; `step`: it has two
    levels, for any reason; `slow_time`: it lies between a fall and the rise that undid it; `limits`: a limit of the
    control group was another one; `ladder`: the other rows of its ladder met the storage in another state.
    """

    how: How
    at: str  # the row that the state changed in, or before
    last: str = ""  # the row before that, where it changed between two
    before_per_s: float = 0.0
    after_per_s: float = 0.0
    unit: Unit = "ios"
    beside: tuple[str, ...] = ()  # of a ladder: the rows that met the other state


@once
def apart(facts: Facts) -> Mapping[str, Apart]:
    """Each such row by name; none of what another tool measured."""
    if facts.imported:
        return {}
    out = _fallen(facts)
    for more in (_stepped, _slow_times, _other_limits, _off_the_ladder):
        for name, why in more(facts, out).items():
            out.setdefault(name, why)
    return out


# A rate that fell for good, within a row or between two.


class _Fall(NamedTuple):
    """A row that fell, from what and to what, and the later rows of the same I/Os that stand at that level."""

    row: RowFacts
    before_per_s: float
    after_per_s: float
    later: tuple[RowFacts, ...]


def _fallen(facts: Facts) -> dict[str, Apart]:
    """Each row that fell, and those of its side that has fewer, by name."""
    out: dict[str, Apart] = {}
    rows = facts.rows
    for at, row in enumerate(rows):
        fall = _fall(row, rows[at + 1 :])
        if fall is None:
            continue
        out[row.name] = Apart("within", row.name, "", fall.before_per_s, fall.after_per_s)
        for name, why in _other_side(fall, rows[:at]).items():
            out.setdefault(name, why)
    for between in falls_between(facts):
        for name, why in _other_side_of(between, out).items():
            out.setdefault(name, why)
    return out


def _fall(row: RowFacts, following: tuple[RowFacts, ...]) -> _Fall | None:
    """A fall that the row shows by itself, or, of too few intervals for that, with a later row that went on there."""
    if not counts(row):
        return None
    fall, rates = row.drop, row.rates_per_s
    if fall is not None:
        return _Fall(row, fall.before_per_s, fall.after_per_s, _at_level(row, fall.after_per_s, following))
    if row.change_points is not None or len(rates) < LEAST_INTERVALS or rates != sorted(rates, reverse=True):
        return None
    if rates[-1] > (1 - FALLS) * rates[0]:
        return None
    later = _at_level(row, rates[-1], following)
    return _Fall(row, rates[0], rates[-1], later) if later else None


def _at_level(row: RowFacts, per_s: float, following: tuple[RowFacts, ...]) -> tuple[RowFacts, ...]:
    """Later rows of I/Os of the same size that go at the level all the time."""
    sizes = {item.size_bytes for item in row.workload.mix}
    return tuple(
        each
        for each in following
        if counts(each)
        and {item.size_bytes for item in each.workload.mix} == sizes
        and all(abs(at - per_s) <= LEVEL * per_s for at in (rate(each, "ios"), *(each.rates_per_s[-1:] or [0.0])))
    )


def _other_side(fall: _Fall, earlier: tuple[RowFacts, ...]) -> Mapping[str, Apart]:
    """The rows of the side of which fewer are of the fallen row's kind."""
    before = [each for each in earlier if each.kind == fall.row.kind]
    after = [each for each in fall.later if each.kind == fall.row.kind]
    if len(before) >= len(after):
        return {each.name: Apart("after", fall.row.name) for each in fall.later}
    return {each.name: Apart("before", fall.row.name) for each in before}


def _other_side_of(fall: Between, out: Mapping[str, Apart]) -> Mapping[str, Apart]:
    """The rows of the side of which fewer are of the kind that fell. Of later rows those of the same sizes count: they
    would be compared with the ones before.
    """
    sizes = {item.size_bytes for item in fall.row.workload.mix}
    before = [each for each in fall.before if each.name not in out]
    later = [each for each in fall.level.rows if {item.size_bytes for item in each.workload.mix} == sizes]
    after = [each for each in later if each.kind == fall.row.kind]
    if not before:
        return {}
    rates = rate(before[-1], fall.level.unit), fall.level.per_s
    how: How = "after" if len(before) >= len(after) else "before"
    why = Apart(how, fall.row.name, before[-1].name, *rates, fall.level.unit)
    return {each.name: why for each in (later if how == "after" else before)}


# Two levels within a row of few intervals.


def _stepped(facts: Facts, _: Mapping[str, Apart]) -> dict[str, Apart]:
    steps = ((row.name, _step(row)) for row in facts.rows)
    return {name: Apart("step", name, "", step.before_per_s, step.after_per_s) for name, step in steps if step}


def _step(row: RowFacts) -> ShortStep | None:
    """The one step of a row of few intervals; whether its second level stayed is not known."""
    if row.is_open_loop or row.record.phase.together:
        return None
    fell = row.short_drop is not None
    return row.short_step if fell else two_levels(row)


def two_levels(row: RowFacts) -> ShortStep | None:
    """The one step of a row of few intervals, up or down, under an even load and beyond chance; None without one."""
    if not counts(row) or not row.is_past_the_host or row.change_points is not None:
        return None
    if row.only_writes and not isinstance(row.workload.locality, Uniform) and not row.run.files_whole:
        return None  # it comes from blocks that were written before to others
    step = row.short_step if row.record.series.interval_ns >= LEAST_NS else None
    return step if step is not None and _beyond_chance(row, step) else None


def _beyond_chance(row: RowFacts, step: ShortStep) -> bool:
    """Whether so few I/Os would seldom differ so by the scatter of their times alone."""
    ios, times = row.record.series.ios, row.service()
    before, after = sum(ios[: step.head]), sum(ios[len(ios) - step.tail :])
    if not before or not after or not times.mean_ns > 0:
        return False
    error = times.stdev_ns / times.mean_ns * math.sqrt(1 / before + 1 / after)
    return abs(math.log(step.factor)) > CHANCE * error


# A time in which the storage was slower, or quicker: it has an end.


def _slow_times(facts: Facts, out: Mapping[str, Apart]) -> dict[str, Apart]:
    """Rows between a change within one row and the one within a later row that undid it; where most rows of a kind lie
    between, the others of it.
    """
    changed = [(at, factor) for at, row in enumerate(facts.rows) if (factor := _factor(row))]
    rows_apart: dict[str, Apart] = {}
    for (first, factor), (last, back) in pairwise(changed):
        if abs(factor + back) > CAME_BACK * max(abs(factor), abs(back)):
            continue
        inside = [row for row in facts.rows[first + 1 : last] if counts(row) and row.name not in out]
        outside = [row for row in (*facts.rows[:first], *facts.rows[last + 1 :]) if counts(row) and row.name not in out]
        most = Counter(row.kind for row in inside)
        most.subtract(row.kind for row in outside)
        rates = math.exp(-factor), 1.0
        why = Apart("slow_time", facts.rows[first].name, facts.rows[last].name, *rates)
        rows_apart |= {row.name: why for row in inside if most[row.kind] <= 0}
        rows_apart |= {row.name: why for row in outside if most[row.kind] > 0}
    return rows_apart


def _factor(row: RowFacts) -> float:
    """The logarithm of the last level of a row's rate over its first; 0 where it has one."""
    if not counts(row):
        return 0.0
    if row.change_points is not None:
        factor = sum(math.log1p(change.shift) for change in row.change_points.reported)
    else:
        step = _step(row)
        factor = 0.0 if step is None else math.log(step.factor)
    return factor if abs(factor) >= -math.log(1 - FALLS) else 0.0


# Limits of our own control group, as they were while each row ran.


def _other_limits(facts: Facts, _: Mapping[str, Apart]) -> dict[str, Apart]:
    """Rows under other limits than most."""
    limits = Counter(row.own_limits for row in facts.rows)
    return {row.name: Apart("limits", row.name) for row in facts.rows if row.own_limits != limits.most_common(1)[0][0]}


# Ladders that are not those of one state.


def _off_the_ladder(facts: Facts, out: Mapping[str, Apart]) -> dict[str, Apart]:
    """Rows of a ladder of random I/O of one operation that met another state than most of its rows."""
    order = {row.name: at for at, row in enumerate(facts.rows)}
    rows_apart: dict[str, Apart] = {}
    for curve in facts.random_curves("read", "write"):
        points = [
            Rung(point.record.phase.name, point.load, point.mean_ns)
            for point in sorted(curve.points, key=lambda each: order[each.record.phase.name])
            if point.record.phase.name not in out and point.record.measurement.ios
        ]
        kept, others = two_states(points)
        for each in others:
            rows_apart[each.name] = Apart("ladder", each.name, beside=tuple(one.name for one in kept))
    return rows_apart


class Rung(NamedTuple):
    """A row of a ladder."""

    name: str
    load: int
    mean_ns: float


Rungs = tuple[Rung, ...]


def two_states(rungs: Sequence[Rung]) -> tuple[Rungs, Rungs]:
    """The rows of a ladder, in the order in which they ran, that met one state, and those that met another: none where
    one state explains all, or two do not. The second state lasted for one time: from the beginning, to the end, or in
    between. Of several such the one that takes fewest rows away, of equal ones the one whose states are most even.
    """
    whole = tuple(rungs)
    if not LEAST_LADDER <= len(whole) <= MOST_LADDER or _is_one_state(whole):
        return whole, ()
    best: tuple[tuple[int, float], Rungs, Rungs] | None = None
    for start, end in combinations(range(len(whole) + 1), 2):
        others, kept = whole[start:end], (*whole[:start], *whole[end:])
        if len(others) > len(kept) or not _is_one_state(kept) or not _is_one_state(others):
            continue
        cost = len(others), _spread(kept) + _spread(others)
        if best is None or cost < best[0]:
            best = cost, kept, others
    return (whole, ()) if best is None or len(best[1]) < 2 else best[1:]


def _is_one_state(rungs: Rungs) -> bool:
    """Whether what an I/O takes grows ever faster with the load, as where I/Os queue: no row lies far above the line
    between a lower and a higher load, and none far above one of a higher load.
    """
    ladder = sorted(rungs, key=lambda rung: rung.load)
    if any(low.mean_ns > WAKES * high.mean_ns for low, high in combinations(ladder, 2)):
        return False
    return not any(
        middle.mean_ns > JUMPS * _on_the_line(low, high, middle.load) for low, middle, high in combinations(ladder, 3)
    )


def _on_the_line(low: Rung, high: Rung, load: int) -> float:
    return low.mean_ns + (high.mean_ns - low.mean_ns) * (load - low.load) / (high.load - low.load)


def _spread(rungs: Rungs) -> float:
    """By how much the times of a state differ."""
    times = [rung.mean_ns for rung in rungs if rung.mean_ns > 0]
    return math.log(max(times) / min(times)) if times else 0.0
