"""Other I/O on the same drives: it was counted, or the rate varies and our own load does not explain it.

What it is: a neighbour's backup, another database on the same disks, another tenant's virtual machine.
Why it matters: the figures hold for one hour; tomorrow's will differ, and no comparison with them holds.
How it shows: the device moved more than the test did; or second by second the rate crosses its middle again and
again, by far more than the scatter of its I/Os (several sequential streams do so by themselves); after a fall for good
only what follows it counts. Stalls and one-way drifts are found by other detectors. I/O of others that is always there
leaves no trace in a row: only counters of the device show it, and what an array does for others no host counts.
How to confirm: repeat the same load: without neighbours it repeats within a few per cent. If they do not show, they
may only have been quiet just then: this is never rejected for good.
What to change: dedicate the drives, or test at typical hours, several times, and report the range.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby, pairwise
from statistics import fmean, quantiles, stdev

from iocast.analyse.facts import Facts, RowFacts
from iocast.diagnose import thresholds as limits
from iocast.diagnose.evidence import row_of
from iocast.diagnose.preconditions import (
    ALONE,
    CLOSED_LOOP,
    MEASURED_HERE,
    NEVER_STILL,
    NOT_SHORT_OF_CPU,
    Only,
    meets,
    rows_for,
)
from iocast.diagnose.same_load import at_depth, same_place
from iocast.diagnose.trust.isolation import isolation
from iocast.model.codes import FindingCode
from iocast.model.experiment import Arm, Decision, Experiment
from iocast.model.finding import GRADES, Finding, Span
from iocast.model.run import Run
from iocast.model.workload import Sequential
from iocast.text import brief_percent, counted, number

NEEDS: tuple[str, ...] = ()  # with diskstats it counts what others did
ONLY: Only = (MEASURED_HERE,)
# Others on the processors make a rate vary as others on the drives do.
EVEN_BUT_FOR_OTHERS: Only = (CLOSED_LOOP, ALONE, NOT_SHORT_OF_CPU, NEVER_STILL)

CODE: FindingCode = "shared_drives"
LEAST_SECONDS = 20
VARIES = 0.10  # models C, 2: coefficient of variation
OVER_SCATTER = 3.0  # times what the I/Os' own scatter makes of a second [J]
CROSSINGS = 3  # of the middle: up, down and up again
IN_TURNS, LASTING, OVER_IN_TURNS = 6, 4.0, 2.0  # crossings, intervals on a side on average, and then less variation [J]
LEVEL = 0.5  # of the way from the middle to the low or the high: nearer to the middle does not count as across
REPEATS, REPEAT_SECONDS = 45, 2.0  # short, or a burst of a second is lost in the others


def detect(facts: Facts) -> Iterator[Finding]:
    """What others were seen to do, then what their I/O would explain."""
    for row in rows_for(facts, ONLY):
        swings = _counted(row) or _ups_and_downs(row)
        if swings is not None:
            yield swings


def _counted(row: RowFacts) -> Finding | None:
    record, part = row.record, isolation(row)
    share = max(part.evidence.get("foreign_share", 0.0), part.evidence.get("foreign_request_share", 0.0))
    if GRADES.index(part.grade) < GRADES.index("C") or share <= limits.FOREIGN.b:
        return None
    return Finding(
        code=CODE,
        severity="warn",
        phase=record.phase.name,
        says=part.reason,
        evidence=part.evidence,
        remedy="Dedicate the drives, or test several times at typical hours.",
    )


def _ups_and_downs(row: RowFacts) -> Finding | None:
    record, start = row.record, _after_a_fall(row)
    rates = row.rates_per_s[start:]
    if len(rates) < LEAST_SECONDS or not meets(row, *EVEN_BUT_FOR_OTHERS):
        return None
    if isinstance(row.workload.locality, Sequential) and record.measurement.asked_depth > 1:
        return None  # streams meet each other on the arms and the members of a stripe, and part again, by themselves
    mean = fmean(rates)
    if not mean:
        return None
    varies, scatter = stdev(rates) / mean, _scatter(row, start, mean)
    crossings = _crossings(rates)
    if varies < max(VARIES, over_scatter(rates) * scatter) or crossings < CROSSINGS:
        return None
    return Finding(
        code=CODE,
        severity="warn",
        phase=record.phase.name,
        says=(
            f"IOPS varied by {brief_percent(varies)}, between {number(min(rates))} and {number(max(rates))}, and"
            f" crossed the middle {counted(crossings, 'time')}."
        ),
        evidence={"variation": varies, "own_scatter": scatter, "crossings": crossings, "mean_per_s": mean},
        remedy="Dedicate the drives, or test several times at typical hours and report the range.",
        hypothesis="neighbours use the same drives now and then",
        confidence=0.6,
        confirm="repeat the same load for hours",
        state="suggested",
        spans=tuple(_low_times(row, start)),
    )


def _after_a_fall(row: RowFacts) -> int:
    """The first interval of the level that the row ended on: a fall for good, as of a cliff, is no neighbour, and its
    two levels have a middle that either crosses."""
    return 0 if row.drop is None else -(-row.drop.at_ns // row.record.series.interval_ns) + 1


def _scatter(row: RowFacts, start: int, mean_per_s: float) -> float:
    """How far the rate of an interval would vary without anybody else: what its I/Os' times make of it, what one
    interval differs from the next, or how far the quick intervals differ, whichever is least. Bursts make the times
    scatter, and short ones all neighbours differ; but they only take away, so the quick intervals are our own."""
    times = row.service()
    own = times.stdev_ns / times.mean_ns if times.mean_ns else 0.0
    by_times = own / math.sqrt(max(1.0, mean_per_s * row.record.series.interval_ns / 1e9))
    steps = row.change_points
    least = by_times if steps is None else min(by_times, math.sqrt(steps.variance))
    return min(least, scatter_of_the_quick(row.rates_per_s[start:]))


def scatter_of_the_quick(rates: list[float]) -> float:
    """Of the intervals above the middle of a series; of one level, which has no quick half, that is 0.6 of its own
    scatter, and three times that is never reached."""
    middle = _middle(quantiles(rates, n=20))
    quick = [rate for rate in rates if rate > middle]
    return stdev(quick) / fmean(quick) if len(quick) > 1 else math.inf


def _middle(cuts: list[float]) -> float:
    """Of the low and the high of a series, by its 20-quantiles."""
    return (cuts[0] + cuts[-1]) / 2


def _crossings(rates: list[float]) -> int:
    """How often a series goes from well below its middle to well above it, or back."""
    sides = [side for side in _sides(rates) if side]
    return sum(one != other for one, other in pairwise(sides))


def over_scatter(rates: list[float]) -> float:
    """How many times their own scatter the rates must vary by: less where they stay on either side of their middle for
    several intervals, again and again, which chance does not."""
    sides = [side for side in _sides(rates) if side]
    crossings = _crossings(rates)
    return OVER_IN_TURNS if crossings >= IN_TURNS and len(sides) >= LASTING * (1 + crossings) else OVER_SCATTER


def _sides(rates: list[float]) -> list[int]:
    """Of each second 1 when it is well above the middle of all, -1 when well below, 0 when near to it."""
    cuts = quantiles(rates, n=20)
    middle = _middle(cuts)
    least = LEVEL * (cuts[-1] - middle)
    return [0 if abs(rate - middle) < least else 1 if rate > middle else -1 for rate in rates]


def _low_times(row: RowFacts, start: int) -> Iterator[Span]:
    """The stretches in which the rate was well below its middle, and not well above it in between."""
    width_ns = row.record.series.interval_ns
    sides = [(at, side) for at, side in enumerate(_sides(row.rates_per_s[start:]), start) if side]
    for low, group in groupby(sides, key=lambda each: each[1] < 0):
        seconds = [at for at, _ in group]
        if low:
            yield Span(seconds[0] * width_ns, (seconds[-1] + 1) * width_ns)


def confirm(run: Run, finding: Finding) -> Experiment | None:
    """The row's own load again and again (an A/A test): less at once may slip through between the others."""
    record = row_of(run, finding)
    probe, load = "the same load", at_depth(record, record.measurement.asked_depth)
    return Experiment(
        question="Does the same load repeat its rate when nothing of ours changes?",
        arms=(
            Arm(name=probe, workload=load, seconds=REPEAT_SECONDS, **same_place(record)),  # type: ignore[arg-type]
        ),
        decision=Decision(statistic="p95", first=probe, other=probe, limit=VARIES, direction="varies"),
        rounds=REPEATS,
        absence_proves=False,
        if_confirmed="The rate of the same load varies: neighbours share the drives.",
        if_rejected="The rate repeated: no other I/O in these minutes, which says nothing of other hours.",
    )
