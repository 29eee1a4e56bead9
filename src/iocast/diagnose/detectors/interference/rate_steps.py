"""The rate changed within a short row, under the same load: the storage was slower for a part of it.

What it is: a row of a few seconds that went at two levels, the lower one two thirds of the other or less.
Why it matters: neither its rate nor its percentiles are those of the storage in one state; a slow time of ten seconds
lies across several rows of a quick card, and makes each of them look like a property of its load.
How it shows: at most one interval lies between the two levels, each as even as the storage otherwise is, and so many
I/Os lie on both sides that chance does not explain it. Rows that stood still, or that were short of CPU, do not count;
nor does what a cache, a tier, first writes, spent credits or a full write cache explain. Where the rate fell in one row
and rose by as much in a later one, both are told as one slow time (maintenance).
How to confirm: measure again; rows of 30 s show when a slow time begins and ends; a probe for hours shows how often.
What to change: find out what ran then: other users of the drives, a scrub, a rebuild, a backup, throttling by heat.
"""

from __future__ import annotations

from collections.abc import Iterator

from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.rate_drops import ShortStep
from iocast.analyse.states import two_levels
from iocast.diagnose.preconditions import MEASURED_HERE, NEVER_STILL, NOT_SHORT_OF_CPU, Only, meets
from iocast.model.codes import FindingCode
from iocast.model.finding import Finding, Span
from iocast.text import brief_time, number

NEEDS: tuple[str, ...] = ()
ONLY: Only = (MEASURED_HERE, NOT_SHORT_OF_CPU, NEVER_STILL)

CODE: FindingCode = "rate_step"
REMEDY = (
    "Measure again with the standard preset, whose rows of 30 s show when a slow time begins and ends; run"
    " `iocast experiment probe` for some hours to see how often. Look for other users of the drives, a scrub, a"
    " rebuild, a backup or a warning of heat at that time."
)


def detect(facts: Facts) -> Iterator[Finding]:
    """Each row of few intervals that went at two levels."""
    for row in facts.rows:
        step = step_of(row)
        if step is not None:
            yield _finding(row, step)


def step_of(row: RowFacts) -> ShortStep | None:
    """The one step of a row, where it is the storage's, and no stall; None where there is none."""
    step = two_levels(row)
    return step if step is not None and meets(row, *ONLY) else None


def _finding(row: RowFacts, step: ShortStep) -> Finding:
    interval_ns = row.record.series.interval_ns
    from_ns, until_ns = step.head * interval_ns, (len(row.rates_per_s) - step.tail) * interval_ns
    span = Span(until_ns, row.measurement.elapsed_ns) if step.factor < 1 else Span(0, from_ns)
    return Finding(
        code=CODE,
        severity="warn",
        phase=row.name,
        says=_says(step, from_ns, until_ns),
        evidence={
            "from_ns": float(from_ns),
            "until_ns": float(until_ns),
            "before_per_s": step.before_per_s,
            "after_per_s": step.after_per_s,
            "factor": step.factor,
            "lost_ns": _lost_ns(row, step),
        },
        remedy=REMEDY,
        hypothesis="other I/O on the same drives, maintenance, throttling, or a cache that answered a part of the row",
        spans=(span,),
    )


def _lost_ns(row: RowFacts, step: ShortStep) -> float:
    """The time that the quicker level would have saved: a stall at an end of the row costs as much."""
    most = max(step.before_per_s, step.after_per_s)
    return sum(max(0.0, 1 - rate / most) for rate in row.rates_per_s) * row.record.series.interval_ns


def _says(step: ShortStep, from_ns: int, until_ns: int) -> str:
    """When, from what to what, how much slower. A level that is one interval, next to the other, may have been further
    away than the interval shows."""
    fell = step.factor < 1
    before, after = f"{number(step.before_per_s)}", f"{number(step.after_per_s)} IOPS"
    if step.before_is_bound:
        when, had, before = f"By about t={brief_time(from_ns)}", "had ", f"{'at least' if fell else 'at most'} {before}"
    elif step.after_is_bound:
        when, had, after = f"After about t={brief_time(from_ns)}", "", f"{after} or {'less' if fell else 'more'}"
    elif step.sharp:
        when, had = f"At about t={brief_time(from_ns)}", ""
    else:
        when, had = f"Between t={brief_time(from_ns)} and t={brief_time(until_ns)}", ""
    verb = "fallen" if had and fell else "risen" if had else "fell" if fell else "rose"
    least = "at least " if step.before_is_bound or step.after_is_bound else ""
    slower = f"{least}{number(max(step.factor, 1 / step.factor))} times slower"
    how_long = "until the end of the row or longer" if fell else "until then"
    return f"{when} the rate {had}{verb} from {before} to {after}, under the same load: {slower} {how_long}."
