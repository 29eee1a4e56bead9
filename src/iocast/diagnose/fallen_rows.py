"""Rows in which the rate fell for good (credits or a cache ran out), and which rows met the storage on which side.

Such a row is two measurements in one. What went before it met other storage than what came after, so a ladder, or a
pair of rows of the same I/Os, may only have rows of one side: of the one that has most. The rate may also fall between
two rows: then no row shows it, and the ladder has the same two sides.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import fmean
from typing import NamedTuple

from iocast.analyse.facts import Facts, RowFacts, once
from iocast.analyse.rate_drops import CHANCE, FALLS, ShortStep
from iocast.diagnose.lower_level import Between, falls_between, rate
from iocast.model.finding import Examination, LeftOut
from iocast.model.workload import Uniform
from iocast.text import brief_throughput, number

LEVEL = 0.03  # rates nearer to each other are the same level [J]
LEAST_INTERVALS = 3  # of fewer none lies between the two levels
FELL = "the rate fell within it"
LEAST_NS = 1_000_000_000  # of an interval: the start of a scan, or a seek back, takes most of a shorter one [J]


def met_another_state(examination: Examination) -> dict[str, str]:
    """The rows in which the rate fell, and those of the side that has fewer, with why: of several loads they make no
    ladder."""
    return {name: each.why for name, each in examination.left_out.items() if each.fell}


class Fall(NamedTuple):
    """A row that fell, from what and to what, and the later rows of the same I/Os that stand at that level."""

    row: RowFacts
    before_per_s: float
    after_per_s: float
    later: tuple[RowFacts, ...]


@once
def fallen(facts: Facts) -> dict[str, LeftOut]:
    """Each row that fell, and those of its side that has fewer, by name with why."""
    out: dict[str, LeftOut] = {}
    rows = () if facts.imported else facts.rows
    for at, row in enumerate(rows):
        fall = _fall(row, rows[at + 1 :])
        if fall is None:
            continue
        says = f"IOPS fell from {number(fall.before_per_s)} to {number(fall.after_per_s)} within it and stayed there"
        out[row.name] = LeftOut(FELL, f"two states in one row: {says}", "within")
        for name, why in _other_side(fall, rows[:at]).items():
            out.setdefault(name, why)
    for between in falls_between(facts):
        for name, why in _other_side_of(between, out).items():
            out.setdefault(name, why)
    return out


def _other_side_of(fall: Between, out: Mapping[str, LeftOut]) -> Mapping[str, LeftOut]:
    """The rows of the side of which fewer are of the kind that fell. Of later rows those of the same sizes count: they
    would be compared with the ones before."""
    sizes = {item.size_bytes for item in fall.row.workload.mix}
    before = [each for each in fall.before if each.name not in out]
    later = [each for each in fall.level.rows if {item.size_bytes for item in each.workload.mix} == sizes]
    after = [each for each in later if each.kind == fall.row.kind]
    if not before:
        return {}
    where = f"between {before[-1].name} and {fall.row.name}"
    fell = f"{_told(rate(before[-1], fall.level.unit), fall)} to {_told(fall.level.per_s, fall)}"
    if len(before) >= len(after):
        brief, why = f"after {before[-1].name}", f"it met the storage after the rate had fallen from {fell}, {where}"
        return {each.name: LeftOut(brief, why, "after") for each in later}
    brief, why = f"before {fall.row.name}", f"it met the storage before the rate fell from {fell}, {where}"
    return {each.name: LeftOut(brief, why, "before") for each in before}


def _told(per_s: float, fall: Between) -> str:
    return brief_throughput(per_s) if fall.level.unit == "bytes" else f"{number(per_s)} IOPS"


def _fall(row: RowFacts, following: tuple[RowFacts, ...]) -> Fall | None:
    """A fall that the row shows by itself, or, of too few intervals for that, with a later row that went on there."""
    if not _counts(row):
        return None
    found, rates = row.drop, row.rates_per_s
    if found is not None:
        return Fall(row, found.before_per_s, found.after_per_s, _at_level(row, found.after_per_s, following))
    if row.change_points is not None or len(rates) < LEAST_INTERVALS or rates != sorted(rates, reverse=True):
        return None
    if rates[-1] > (1 - FALLS) * rates[0]:
        return None
    later = _at_level(row, rates[-1], following)
    return Fall(row, rates[0], rates[-1], later) if later else None


def two_levels(row: RowFacts) -> ShortStep | None:
    """The one step of a row of few intervals, up or down, under an even load and beyond chance; None without one."""
    if not _counts(row) or not row.is_past_the_host or row.change_points is not None:
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


def _counts(row: RowFacts) -> bool:
    return bool(row.measurement.ios) and not row.is_open_loop and not row.record.phase.together


def _at_level(row: RowFacts, per_s: float, following: tuple[RowFacts, ...]) -> tuple[RowFacts, ...]:
    """Later rows of I/Os of the same size that go at the level all the time."""
    sizes = {item.size_bytes for item in row.workload.mix}
    return tuple(
        each
        for each in following
        if _counts(each)
        and {item.size_bytes for item in each.workload.mix} == sizes
        and all(_near(rate, per_s) for rate in (each.measurement.rate_per_s, fmean(each.rates_per_s[-1:] or [0.0])))
    )


def _near(rate_per_s: float, level_per_s: float) -> bool:
    return abs(rate_per_s - level_per_s) <= LEVEL * level_per_s


def _other_side(fall: Fall, earlier: tuple[RowFacts, ...]) -> Mapping[str, LeftOut]:
    """The rows of the side of which fewer are of the fallen row's kind."""
    before = [each for each in earlier if each.kind == fall.row.kind]
    after = [each for each in fall.later if each.kind == fall.row.kind]
    if len(before) >= len(after):
        after_it = LeftOut(
            f"after {fall.row.name}", f"it met the storage after its rate had fallen, within {fall.row.name}", "after"
        )
        return {each.name: after_it for each in fall.later}
    why = f"it met the storage before its rate fell, within {fall.row.name}"
    before_it = LeftOut(f"before {fall.row.name}", why, "before")
    return {each.name: before_it for each in before}
