"""A constant rate, in I/Os or in bytes, at which rows go that did far more with fewer outstanding I/Os before.

Credits that ran out between two rows leave no row in which the rate falls: the ladder itself falls. Short rows have too
few intervals each to show that the rate is constant; all rows at that level together have enough.
"""

from __future__ import annotations

from itertools import pairwise
from statistics import fmean, pstdev
from typing import Literal, NamedTuple

from iocast.analyse.changepoint import MIN_LENGTH
from iocast.analyse.device_io import DEVICE_SHARE
from iocast.analyse.facts import Facts, RowFacts, once
from iocast.analyse.rate_drops import FALLS
from iocast.model.workload import Closed, Uniform

Unit = Literal["ios", "bytes"]
UNITS: tuple[Unit, ...] = ("ios", "bytes")
CONSTANT = 0.02  # scatter over mean (models C, 18)
STEP = 0.1  # of the rate: loads that differ by more have no common level [J]
AT_LEVEL = 0.02  # rates nearer to each other are the same (measured: rows behind one cap are within 1.8%)
SIZE_APART = 4.0  # sizes of I/Os so far apart tell I/Os and bytes from each other [J]


class Level(NamedTuple):
    """The rate in a unit, the rows that go at it in order of time, and its scatter. Of rows of one size both units say
    the same, and which of them is limited is not known."""

    unit: Unit
    known: bool
    per_s: float
    rows: tuple[RowFacts, ...]
    constant: float

    @property
    def counts_bytes(self) -> bool:
        """Whether it is known to be one of bytes."""
        return self.known and self.unit == "bytes"


class Between(NamedTuple):
    """The first row that goes at the level, the rows of its kind before it that did more, and the level."""

    row: RowFacts
    before: tuple[RowFacts, ...]
    level: Level


def as_fast(one_per_s: float, other_per_s: float, within: float = AT_LEVEL) -> bool:
    """Whether two rates are the same, as of rows that one limit holds back."""
    return abs(one_per_s - other_per_s) <= within * max(one_per_s, other_per_s)


def rate(row: RowFacts, unit: Unit) -> float:
    """The whole row's."""
    return row.measurement.rate_per_s if unit == "ios" else row.measurement.bytes_per_s


@once
def falls_between(facts: Facts) -> tuple[Between, ...]:
    """The first of each kind of rows, in order of time; none of what another tool measured."""
    between: dict[str, Between] = {}
    for at, row in enumerate(() if facts.imported else facts.rows):
        if row.kind not in between and (fall := fall_before(facts, at)) is not None:
            between[row.kind] = fall
    return tuple(between.values())


def fall_before(facts: Facts, at: int) -> Between | None:
    """Whether the row at this place begins at a level far below what a lower load of its kind did before it."""
    row = facts.rows[at]
    if not counts(row):
        return None
    level = level_of(facts, row, facts.rows[at:])
    if level is None:
        return None
    earlier = [each for each in facts.rows[:at] if each.kind == row.kind and counts(each)]
    least = max(level.per_s, rate(row, level.unit)) / (1 - FALLS)
    lower = [each for each in earlier if each.measurement.asked_depth < row.measurement.asked_depth]
    above = tuple(each for each in lower if rate(each, level.unit) >= least and _reached_the_device(each))
    # In order a disk alone is quick, and two readers are not: there other I/Os must go at the same level.
    sure = level.known or (isinstance(row.workload.locality, Uniform) and not _falls_by_load(facts, at, above, level))
    return Between(row, above, level) if above and sure else None


def _falls_by_load(facts: Facts, at: int, above: tuple[RowFacts, ...], level: Level) -> bool:
    """Whether the rate is another one at each load, as where users hinder each other, and no level at all."""
    later = [each for each in facts.rows[at + 1 :] if each.kind == facts.rows[at].kind and counts(each)]
    if any(rate(each, level.unit) < (1 - FALLS) * level.per_s for each in later):
        return True
    rates = [rate(each, level.unit) for each in above]
    shared = len({each.measurement.asked_depth for each in level.rows}) > 1
    return not shared and len(rates) > 1 and min(rates) < (1 - STEP) * max(rates)


def level_of(facts: Facts, row: RowFacts, rows: tuple[RowFacts, ...]) -> Level | None:
    """The level at which a row goes, by those of `rows` that share it; None where its rate is not constant."""
    levels = [level for unit in UNITS if (level := _level(row, rows, unit)) is not None]
    if not levels:
        return None
    apart = [len(_unlike(row, level.rows)) for level in levels]
    best = max(range(len(levels)), key=lambda at: (apart[at], len(levels[at].rows), -at))
    known = apart[best] > 0 and (len(levels) == 1 or apart[best] > apart[1 - best])
    return levels[best]._replace(known=known)


def level_at_end(row: RowFacts, later: RowFacts) -> Level | None:
    """The rate in I/Os at which a row of few intervals ends and a later one of quite other sizes goes; None without."""
    step = row.short_step
    if step is None or not _unlike(row, (later,)):
        return None
    own = row.rates_per_s[-step.tail :]
    pool = [*own, *_settled(later, "ios").per_s]
    mean = fmean(pool)
    if len(pool) < MIN_LENGTH or mean <= 0 or not _at(later, "ios", fmean(own)):
        return None
    constant = pstdev(pool) / mean
    return Level("ios", True, mean, (later,), constant) if constant <= CONSTANT else None


def _level(row: RowFacts, rows: tuple[RowFacts, ...], unit: Unit) -> Level | None:
    middle = _settled(row, unit).mean
    if middle <= 0:
        return None
    # The whole row, its first part included: nothing is far above the level, as a rest of credits would be.
    at_level = [each for each in rows if counts(each) and each.workload.arrival == Closed() and _at(each, unit, middle)]
    pool = [value for each in at_level for value in _settled(each, unit).per_s]
    if len(pool) < MIN_LENGTH or row not in at_level:
        return None
    mean = fmean(pool)
    constant = pstdev(pool) / mean
    return Level(unit, False, mean, tuple(at_level), constant) if constant <= CONSTANT else None


def _at(row: RowFacts, unit: Unit, middle: float) -> bool:
    """Whether it goes at this rate all the time."""
    settled = _settled(row, unit)
    if not settled.per_s or abs(settled.mean / middle - 1) > AT_LEVEL or rate(row, unit) > middle / (1 - FALLS):
        return False
    return settled.scatter <= CONSTANT * middle


class _Settled(NamedTuple):
    """The rates of intervals, their mean and their standard deviation; 0 without any."""

    per_s: list[float]
    mean: float
    scatter: float


def _settled(row: RowFacts, unit: Unit) -> _Settled:
    """Its intervals without the first quarter: a last bit of credits may have been left."""

    def settled() -> _Settled:
        series = row.record.series
        values = series.ios if unit == "ios" else series.bytes
        per_s = [value * 1e9 / series.interval_ns for value in values]
        late = per_s[len(per_s) // 4 :]
        return _Settled(late, fmean(late), pstdev(late)) if late else _Settled(late, 0.0, 0.0)

    # Each row is held against each other one of a run.
    kept: _Settled = row.keep((_settled, unit), settled)
    return kept


def _unlike(row: RowFacts, rows: tuple[RowFacts, ...]) -> list[RowFacts]:
    """Those whose I/Os are of quite another size."""
    (least, most), others = _sizes(row), []
    for each in rows:
        low, high = _sizes(each)
        if low and least and (high * SIZE_APART <= least or low >= most * SIZE_APART):
            others.append(each)
    return others


def _sizes(row: RowFacts) -> tuple[int, int]:
    sizes = [item.size_bytes for item in row.workload.mix if item.size_bytes]
    return min(sizes, default=0), max(sizes, default=0)


def counts(row: RowFacts) -> bool:
    """A row whose rate is that of the storage for its load."""
    return bool(row.measurement.ios) and not row.is_open_loop and not row.record.phase.together


def _reached_the_device(row: RowFacts) -> bool:
    """False where a cache in this machine answered: that spent no credits, and its rate is not the storage's."""
    share = row.device_share_of_reads
    return share is None or share >= DEVICE_SHARE


def fell_within(row: RowFacts, level: Level) -> bool:
    """Whether a row of few intervals went down, without coming back, to the level that later rows keep."""
    series = row.record.series
    values = series.ios if level.unit == "ios" else series.bytes
    per_s = [value * 1e9 / series.interval_ns for value in values]
    down = len(per_s) > 1 and all(after <= (1 + AT_LEVEL) * before for before, after in pairwise(per_s))
    return down and per_s[0] > level.per_s / (1 - FALLS) and abs(per_s[-1] / level.per_s - 1) <= AT_LEVEL
