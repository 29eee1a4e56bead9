"""Times in which the storage stood still: nothing of what was outstanding ended, or it ended one behind another.

The core records only the slowest I/Os one by one: which of them overlapped, and took far longer than others of their
kind, is all that is known of such a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import reduce
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from msgspec import Struct

from iocast.analyse.facts import RowFacts, once
from iocast.model.measurement import SlowIo
from iocast.model.workload import Op

LEAST_NS = 100_000_000  # what a person and a lock time-out begin to notice [J]
OVER_MEDIAN = 20  # disks whose every I/O takes long do not stall [J]
RECURRING_NS, RECURS = 10_000_000, 5  # shorter ones count where they come by a clock, so often [J]
BY_A_CLOCK, FITS = 0.10, 0.9  # of the period may a gap be off; of the gaps must be whole periods [J]
SEEN = 0.25  # of the stalls of a clock must have been seen, between the first and the last [J]
# Times what passes between two ends as a rule; of the slowest usual I/O: so far may an end lie beside a stall. [J]
BESIDE, USUAL, TAIL_OF_TIMES = 6.0, 0.99, 1.25
BY_CHANCE = 1e-3  # that events at random fit a period as well: no more [J]
ENOUGH, OFTEN = 40, 2.0  # I/Os for a p95; times it [J]
LEVEL = 10  # I/Os of each outstanding one that make a level [J]
# Waits one behind another: so many in turn, with no more between two of them than this share of the shorter; or so many
# that overlap, over so many times the longest of them. Who stands still ends with the others. [J]
WAITS, TIMES_ONE, BETWEEN = 3, 2.5, 0.1
ONE = 1.5  # times its longest I/O: who stands still ends with the others [J]
STILL = 0.5  # of the longest I/O of a stall no other may have ended [J]
ALL_OF_THEM = 2  # that stood together, or the tail of the others tells: one alone is all of one outstanding I/O
NEARLY_ALL, TIMES_ALL = 0.9, 2.5  # of the outstanding I/Os; times what one takes, that all of them stood still [J]
AS_LONG = 0.1  # stalls of other rows nearer to a single long I/O are as long as it [J]
TAIL, COMPARABLE = 10, 0.1  # so many I/Os beside the stalls, at least so long, show how a row's times fall off [J]


class Stall(Struct, frozen=True):
    """From the submission of the first I/O that stood still to the end of the last, since the phase began."""

    start_ns: int
    end_ns: int
    ios: int
    longest_ns: int  # of its I/Os
    shortest_ns: int
    usual_ns: float = 0.0  # what an I/O of their kind takes
    turns: int = 1  # that followed each other without overlapping
    last_start_ns: int = 0  # the submission of the last of them
    first_end_ns: int = 0  # the end of the first of them

    @property
    def duration_ns(self) -> int:
        """How long any of its I/Os was outstanding."""
        return self.end_ns - self.start_ns

    @property
    def queued(self) -> bool:
        """True where its I/Os ended one behind another: they waited for other work, and nothing stood still."""
        return self.turns >= WAITS or (self.ios >= WAITS and self.duration_ns >= TIMES_ONE * self.longest_ns)

    def follows(self, earlier: Stall) -> bool:
        """Whether it began where another ended."""
        least = min(self.shortest_ns, earlier.shortest_ns)
        return self.start_ns - earlier.end_ns <= BETWEEN * least

    def after(self, earlier: Stall) -> Stall:
        """Both as one."""
        return Stall(
            earlier.start_ns,
            max(earlier.end_ns, self.end_ns),
            earlier.ios + self.ios,
            max(earlier.longest_ns, self.longest_ns),
            min(earlier.shortest_ns, self.shortest_ns),
            max(earlier.usual_ns, self.usual_ns),
            earlier.turns + self.turns * (self.start_ns >= earlier.end_ns),
            max(earlier.last_start_ns, self.last_start_ns),
            min(earlier.first_end_ns, self.first_end_ns),
        )


@once
def stalls(row: RowFacts) -> tuple[Stall, ...]:
    """The stalls of a phase in order of time: I/Os that stood still and overlap are one."""
    long = _long(row)
    if long:
        return long
    if row.measurement.asked_depth == 1:
        return _as_long_as_others(row)
    short = _stood_still(row, RECURRING_NS)
    return short if period_ns(short) else ()


@once
def _long(row: RowFacts) -> tuple[Stall, ...]:
    """Those that the row shows by itself."""
    stops = _stood_still(row, LEAST_NS)
    more = [
        stop
        for stop in _stops(row)
        if all(stop.end_ns <= each.start_ns or each.end_ns <= stop.start_ns for each in stops)
    ]
    return tuple(sorted((*stops, *more), key=lambda each: each.start_ns))


def _stops(row: RowFacts) -> Iterator[Stall]:
    """Times in which none of the outstanding I/Os of a closed loop ended, where that is a few times what an I/O takes.

    All of them are among the slowest, and the last one of them was submitted as another ended: so long nothing did. A
    limit of our own control group lets I/Os pass in slices, which looks the same.
    """
    depth = row.measurement.asked_depth
    if depth < ALL_OF_THEM or row.is_open_loop or row.limits_of_its_ops:
        return
    slow = row.measurement.slow
    usual_ns = max((_usual_ns(row, op) for op in {io.op for io in slow}), default=math.nan)
    least_ns = max(LEAST_NS, OVER_MEDIAN * usual_ns / depth, TIMES_ALL * usual_ns)
    late = [io for io in slow if io.service_ns >= least_ns]
    turns = sorted(turn for io in late for turn in ((io.time_ns, 1), (io.time_ns + io.service_ns, -1)))
    under_way, last_ns = 0, 0
    for at_ns, more in turns:
        gap_ns = at_ns - last_ns
        if more < 0 and under_way >= NEARLY_ALL * depth and gap_ns >= least_ns:
            yield Stall(last_ns, at_ns, under_way, gap_ns, gap_ns, usual_ns, 1, last_ns, at_ns)
            last_ns = at_ns  # the others of the group end after it
        under_way += more
        last_ns = at_ns if more > 0 else last_ns


def _as_long_as_others(row: RowFacts) -> tuple[Stall, ...]:
    """Of one outstanding I/O, single ones that the tail of the row's times may reach, where other rows were stopped for
    as long; else what recurs."""
    lengths = [each.duration_ns for other in row.facts.rows for each in _long(other) if other.name != row.name]
    single = _stood_still(row, LEAST_NS, of_the_tail=True) if lengths else ()
    least_ns, most_ns = (1 - AS_LONG) * min(lengths, default=0), (1 + AS_LONG) * max(lengths, default=0)
    alike = tuple(each for each in single if least_ns <= each.duration_ns <= most_ns + each.usual_ns)
    short = () if alike else _stood_still(row, RECURRING_NS)
    return alike or (short if period_ns(short) else ())


def stood_still(row: RowFacts) -> bool:
    """Whether nothing ended for a while in a row: its rate and its mean are then those of that while."""
    return any(not each.queued for each in stalls(row))


def period_ns(stops: tuple[Stall, ...]) -> int:
    """The equal distance of stalls, of which some may be missing; 0 where they come by no clock.

    By their ends: who stood still was submitted at any time.
    """
    if len(stops) < RECURS:
        return 0
    gaps = [after.end_ns - before.end_ns for before, after in pairwise(stops)]
    shortest = min(gaps)
    times = [round(gap / shortest) for gap in gaps]
    period = sum(gaps) / sum(times)
    off = sorted(abs(gap / period - count) for gap, count in zip(gaps, times, strict=True))
    fit = sum(each <= BY_A_CLOCK for each in off)
    if fit < FITS * len(gaps) or len(gaps) < SEEN * sum(times):
        return 0  # of a short period most would have been missed: any time is a multiple of a part of it
    # A gap at random is as near to a whole period with twice this share; one of them made the period.
    chance = math.comb(len(gaps), fit) * (2 * off[fit - 1]) ** (fit - 1)
    return round(period) if chance < BY_CHANCE else 0


def _stood_still(row: RowFacts, least_ns: int, *, of_the_tail: bool = False) -> tuple[Stall, ...]:
    """I/Os that took so long, and far longer than others of their kind, those that overlap together; `of_the_tail`:
    also those that the tail of the others reaches. Where I/Os waited in turn, a single one that took no longer waited
    for the same."""
    late = [io for io in row.measurement.slow if io.service_ns >= least_ns]
    median_ns = {op: _usual_ns(row, op) for op in {io.op for io in late}}
    # A kind of I/O of which none ended without error has no median, and nothing is ever as large as nan.
    slowed = _slowed(row)
    usual_ns = [max(median_ns[io.op], slowed.each_ns if io.time_ns >= slowed.from_ns else 0.0) for io in late]
    often_ns = {op: _often_ns(row, op) for op in median_ns}
    least = [max(OVER_MEDIAN * usual, often_ns[io.op]) for io, usual in zip(late, usual_ns, strict=True)]
    pairs = [(io, usual) for io, usual, most in zip(late, usual_ns, least, strict=True) if io.service_ns >= most]
    stood = sorted(pairs, key=lambda pair: pair[0].time_ns)
    stops: list[Stall] = []
    for io, usual in stood:
        end_ns = io.time_ns + io.service_ns
        each = Stall(io.time_ns, end_ns, 1, io.service_ns, io.service_ns, usual, 1, io.time_ns, end_ns)
        if stops and io.time_ns < stops[-1].end_ns:
            stops[-1] = each.after(stops[-1])
        else:
            stops.append(each)
    rest = [] if of_the_tail else _others(row, [io for io, _ in stood])
    held = [each for each in _waits_together(stops) if _holds(row, each, rest)]
    in_turn_ns = ONE * max((each.longest_ns for each in held if each.queued), default=0)
    return tuple(each for each in held if each.queued or each.ios > 1 or each.longest_ns > in_turn_ns)


def _usual_ns(row: RowFacts, op: Op) -> float:
    """The median, or the mean of all I/Os but the slowest, which is longer where most reads were read ahead.

    No longer than the mean of most intervals: where many wait through a stall, and few of them are recorded, the others
    lift the mean to what the stall itself took.
    """
    times, slow = row.service(op), [io.service_ns for io in row.measurement.slow if io.op == op]
    rest = times.total - len(slow)
    mean_ns = max(0, times.sum_ns - sum(slow)) / rest if rest > 0 and row.measurement.asked_depth > 1 else 0.0
    return max(times.quantile_ns(0.5), min(mean_ns, _most_intervals_ns(row, op)))


def _most_intervals_ns(row: RowFacts, op: Op) -> float:
    """The median of what the operation took on average in the intervals in which it completed; infinite without any."""
    for each in row.record.series.ops:
        if each.op == op:
            taken = [took / ios for ios, took in zip(each.ios, each.response_ns, strict=True) if ios]
            return median(taken) if taken else math.inf
    return math.inf


def _often_ns(row: RowFacts, op: Op) -> float:
    """What no stall is shorter than: of a closed loop the I/Os that stood still for twenty times the median of the
    others are fewer than one in twenty, so what more of them took is a time of the device, as of first writes."""
    times = row.service(op)
    known = times.total >= ENOUGH and not row.is_open_loop
    return OFTEN * times.quantile_ns(1 - 1 / OVER_MEDIAN) if known else 0.0


def _others(row: RowFacts, stood: list[SlowIo]) -> list[SlowIo]:
    """The recorded I/Os that did not stand still."""
    took = {id(io) for io in stood}
    return [io for io in row.measurement.slow if id(io) not in took]


def _holds(row: RowFacts, stall: Stall, rest: list[SlowIo]) -> bool:
    """Whether it is more than the test's own queue, and more than the tail of the row's times."""
    depth = max(1, row.measurement.asked_depth)
    if stall.queued:
        return stall.longest_ns >= OVER_MEDIAN * depth * stall.usual_ns
    if stall.ios > 1 and stall.duration_ns > ONE * stall.longest_ns:
        return False  # what began later ended later: no moment was the same for all of them
    if depth == 1 and stall.start_ns <= stall.usual_ns and stall.longest_ns >= LEAST_NS and not row.is_open_loop:
        return False  # it may have waited for what the row before, or others, had left
    return _still_ns(row, stall) >= STILL * stall.longest_ns and (
        stall.ios >= max(ALL_OF_THEM, depth) or not _of_the_tail(stall, rest)
    )


def _still_ns(row: RowFacts, stall: Stall) -> int:
    """The longest time within a stall in which no recorded I/O ended."""
    ends = (io.time_ns + io.service_ns for io in row.measurement.slow)
    within = sorted(end for end in ends if stall.start_ns < end <= stall.end_ns)
    return max(after - before for before, after in pairwise([stall.start_ns, *within]))


def _of_the_tail(stall: Stall, rest: list[SlowIo]) -> bool:
    """Whether times that fall off as those of the other slow I/Os do reach as far, more often than rarely."""
    times_ns = [io.service_ns for io in rest if io.service_ns >= COMPARABLE * stall.longest_ns]
    if len(times_ns) < TAIL:
        return False
    least = min(times_ns)
    scale_ns = (median(times_ns) - least) / math.log(2)
    return stall.longest_ns < least + scale_ns * math.log(len(times_ns) / BY_CHANCE)


def _waits_together(stops: list[Stall]) -> list[Stall]:
    """Stalls of which each begins where the one before ended are one wait behind other work, if they are enough."""
    runs: list[list[Stall]] = []
    for each in stops:
        if runs and each.follows(runs[-1][-1]):
            runs[-1].append(each)
        else:
            runs.append([each])
    joined = [(run, reduce(lambda one, other: other.after(one), run)) for run in runs]
    return [each for run, whole in joined for each in ([whole] if whole.queued else run)]


class _Slowed(Struct, frozen=True):
    """From when on I/Os take longer for good, since the phase began, and how long on average."""

    from_ns: int = 0
    each_ns: float = 0.0


def _slowed(row: RowFacts) -> _Slowed:
    """What follows a lasting fall of the rate, as of writes that have filled a cache: the median is of those before."""
    series, fell = row.record.series, row.drop
    if fell is None:
        return _Slowed()
    start = -(-fell.at_ns // series.interval_ns)  # the first interval that is on the new level from its start
    ios = sum(series.ios[start:])
    if ios < LEVEL * row.measurement.asked_depth:  # no new level: a stall that went on to the end
        return _Slowed()
    # What was submitted in the interval in which it fell has met the new level.
    return _Slowed(fell.at_ns - series.interval_ns, sum(series.response_ns[start:]) / ios)


class Still(NamedTuple):
    """From when to when nothing ended, and how long the storage stood still: that long at most, and as much shorter at
    least as the last I/O before it, or the first after it, may have been away."""

    start_ns: int
    end_ns: int
    least_ns: float

    @property
    def most_ns(self) -> int:
        return self.end_ns - self.start_ns


def still(row: RowFacts, stall: Stall) -> Still:
    """Where all outstanding I/Os of a closed loop stood, the last of them was submitted as another ended, and nothing
    ended from then on; else from the submission of the first: some others ended meanwhile."""
    depth = max(1, row.measurement.asked_depth)
    first = stall.last_start_ns if stall.last_start_ns < stall.first_end_ns else stall.start_ns
    all_stood = not row.is_open_loop and stall.ios >= NEARLY_ALL * depth
    start_ns = first if all_stood else stall.start_ns
    apart_ns = stall.usual_ns / (depth if all_stood else 1)  # two ends after each other, or an I/O
    beside_ns = min(BESIDE * apart_ns, TAIL_OF_TIMES * _slow_ns(row, stall.shortest_ns))
    return Still(start_ns, stall.first_end_ns, max(0.0, stall.first_end_ns - start_ns - beside_ns))


def _slow_ns(row: RowFacts, least_ns: int) -> float:
    """What next to none of the I/Os of a row that did not stand still took longer than."""
    times = row.service()
    stood = sum(io.service_ns >= least_ns for io in row.measurement.slow)
    return times.quantile_ns(max(0.0, (1 - stood / max(1, times.total)) * USUAL)) if times.total else math.inf
