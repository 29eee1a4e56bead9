"""Maintenance ran during the row: a resync, a scrub, a check, a rebuild, a drive that is too hot.

What it is: work of the storage itself, beside the test's.
Why it matters: the row shows degraded mode. Without the maintenance the storage is quicker; during it this is right.
How it shows: the kernel reports a task on this machine (mdstat, btrfs, ZFS), or a drive was at its warning
temperature; or a task was running before the first row (these, LVM, ZFS scans, fstrim); or the rate fell by a fifth or
more for half a minute or more, and recovered: in one row, or in a later one by the same factor (over rows of three
seconds: to two thirds or less, for eight seconds or more).
How to confirm: pause the task and measure again; or run the same load at 1x1, for longer than the dip lasted: a rate
that falls and recovers once more in the same way is not chance. A task that has ended leaves no trace: a steady rate
now rejects nothing.
What to change: wait for its end, leave that time out, or call the row "degraded mode".
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

from msgspec.structs import replace

from iocast import metrics
from iocast.analyse.changepoint import Change
from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.load_kind import simulated
from iocast.analyse.rate_drops import HALF_AGAIN
from iocast.diagnose.evidence import row_of
from iocast.diagnose.preconditions import (
    ALONE,
    CLOSED_LOOP,
    MEASURED_HERE,
    NEVER_STILL,
    NOT_SHORT_OF_CPU,
    Only,
    applies,
    meets,
)
from iocast.diagnose.same_load import at_depth, same_place
from iocast.model.codes import FindingCode
from iocast.model.experiment import Arm, Decision, Experiment
from iocast.model.finding import Finding, Span
from iocast.model.run import PhaseRecord, Run
from iocast.text import brief_percent, brief_time, maintenance

NEEDS: tuple[str, ...] = ()  # with the observer of maintenance it knows instead of guessing
ONLY: Only = (MEASURED_HERE,)
EVEN: Only = (CLOSED_LOOP, ALONE)  # what keeps its rate while nothing changes

CODE: FindingCode = "maintenance"
OBSERVER = metrics.MAINTENANCE
FALLS, LASTS_NS = 0.20, 30_000_000_000  # models C, 11, has a minute; a resync in pieces takes less [J]
BACK = 0.9  # of the level before it
SHORT_NS, SHORT_BACK, OTHER_BACK = 8_000_000_000, 0.75, 0.5  # over rows of few intervals; of other kinds of I/Os [J]
OVER_BORDERS_NS = LASTS_NS  # in all rows together, where two have changed by the same factor
PROBE_S, MOST_IN_IT = 5.0, 20  # so long each, and so many of them in the slow time: enough to see it, not too many
ABOUT = 0.9  # of that time: where a change is found may be an interval or two beside where it was [J]
AND_MORE = 1.5  # times how long it lasted: that it came back must be seen as well


def detect(facts: Facts) -> Iterator[Finding]:
    """Tasks that were seen, before the first row or in one, else a slow time with an end."""
    if not applies(facts, ONLY):
        return
    yield from _before(facts.run)
    for row in facts.rows:
        maintenance = list(_work(facts.run, row.record))
        yield from maintenance or _slow_time(row)
    if not any(each.observer == OBSERVER and each.value > 0 for row in facts.rows for each in row.record.samples):
        yield from _over_borders(facts.rows)


def _before(run: Run) -> Iterator[Finding]:
    """What was under way before the first row; what a row shows too is said there."""
    samples = (each for record in run.measured for each in record.samples)
    shown = {
        (each.subject, each.metric.split("_")[0]) for each in samples if each.observer == OBSERVER and each.value > 0
    }
    for task in run.maintenance:
        if (task.subject, task.family) in shown:
            continue
        where = "" if task.below_target else ", which may not be below this target"
        words = maintenance(task.task, task.subject, task.done)
        yield Finding(
            code=CODE,
            severity="warn" if task.below_target else "note",
            phase="",
            says=f"Maintenance was running before the first row: {words}{where}.",
            evidence={"below_target": float(task.below_target)} | ({} if task.done is None else {"done": task.done}),
            remedy="Wait for its end and measure again, or report the rows as degraded mode.",
        )


def _work(run: Run, record: PhaseRecord) -> Iterator[Finding]:
    ours = {layer.name for layer in run.plan.target.layers}
    tasks = {(each.subject, each.metric) for each in record.samples if each.observer == OBSERVER and each.value > 0}
    for subject, metric in sorted(tasks):
        own = subject in ours or metric == metrics.BTRFS_SCRUB  # which is asked of the target alone
        yield Finding(
            code=CODE,
            severity="warn" if own else "note",
            phase=record.phase.name,
            says=f"{_words(metric)} on {subject}{'' if own else ', which may not be below this target'}.",
            evidence={"below_target": float(own)},
            remedy="Wait for its end and measure again, or report the row as degraded mode.",
            spans=(_under_way(record, subject, metric),),
        )


def _under_way(record: PhaseRecord, subject: str, metric: str) -> Span:
    """From the first sample that shows a task to the last one. Some are taken right before and after the load."""
    did = record.measurement
    moments = [
        each for each in record.samples if (each.observer, each.subject, each.metric) == (OBSERVER, subject, metric)
    ]
    times = [each.time_ns - did.started_unix_ns for each in moments if each.value > 0]
    start_ns, end_ns = (min(max(0, at_ns), did.elapsed_ns) for at_ns in (min(times), max(times)))
    return Span(start_ns, end_ns)


def _words(metric: str) -> str:
    if metric == metrics.HOT:
        return "The drive was at its warning temperature"
    return f"Maintenance ({metric.replace('_', ' ')}) was running"


def _slow_time(row: RowFacts) -> Iterator[Finding]:
    record, series = row.record, row.record.series
    change_points = row.change_points if meets(row, *EVEN) else None
    if change_points is None:
        return
    for fall, rise in pairwise(change_points.reported):
        from_ns = fall.at * series.interval_ns
        lasted_ns = (rise.at - fall.at) * series.interval_ns
        back = (1 + fall.shift) * (1 + rise.shift)
        if fall.shift <= -FALLS and lasted_ns >= ABOUT * LASTS_NS and back >= BACK and len(change_points.reported) == 2:
            yield _suspected(record, from_ns, lasted_ns, fall.shift)


def _over_borders(rows: tuple[RowFacts, ...]) -> Iterator[Finding]:
    """A slow time that began in one row and ended in a later one: it fell and rose by the same factor, and whatever lay
    between was level."""
    for at, row in enumerate(rows):
        fall = _one_change(row)
        if fall is None or fall.shift > -FALLS:
            continue
        end = next((one for one in range(at + 1, len(rows)) if not _is_level(rows[one])), None)
        rise = None if end is None else _one_change(rows[end])
        short = row.change_points is None
        of_a_kind = end is not None and row.kind == rows[end].kind
        alike = BACK if not short else SHORT_BACK if of_a_kind else OTHER_BACK
        if end is None or rise is None or not alike <= (1 + fall.shift) * (1 + rise.shift) <= 1 / alike:
            continue
        from_ns = fall.at * row.record.series.interval_ns
        until_ns = rise.at * rows[end].record.series.interval_ns
        times = [(from_ns, row.measurement.elapsed_ns)]
        times += [(0, each.measurement.elapsed_ns) for each in rows[at + 1 : end]] + [(0, until_ns)]
        lasted_ns = sum(to_ns - start_ns for start_ns, to_ns in times)
        if lasted_ns < (SHORT_NS if short else OVER_BORDERS_NS):
            continue
        about = "about " * short  # some intervals of such rows are of both levels
        least = "at least " * _is_bound(row)
        lower = f"{least}{brief_percent(-fall.shift)} lower for {about}{brief_time(lasted_ns)}"
        start, stop = f"{about}t={brief_time(from_ns)} of {row.name}", f"{about}t={brief_time(until_ns)}"
        when = f"from {start} until {stop} of {rows[end].name}"
        for each, (start_ns, to_ns) in zip(rows[at : end + 1], times, strict=True):
            work = _suspected(each.record, start_ns, to_ns - start_ns, fall.shift)
            yield replace(work, says=f"The rate was {lower}, {when}, and then recovered.")


def _one_change(row: RowFacts) -> Change | None:
    """The only one of a row that is told; None where there are several, or none."""
    if not meets(row, *EVEN):
        return None
    change_points = row.change_points
    if change_points is not None:
        return change_points.reported[0] if len(change_points.reported) == 1 else None
    step = row.short_step if meets(row, NOT_SHORT_OF_CPU, NEVER_STILL) else None
    return None if step is None else Change(step.head, step.factor - 1)


def _is_bound(row: RowFacts) -> bool:
    step = row.short_step if row.change_points is None else None
    return step is not None and (step.before_is_bound or step.after_is_bound)


def _is_level(row: RowFacts) -> bool:
    """Whether a row has no change that is told; of few intervals, whether none is far from the others."""
    if not meets(row, ALONE):
        return False
    if row.change_points is not None:
        return not row.change_points.reported
    rates = row.rates_per_s
    return bool(rates) and max(rates) < HALF_AGAIN * min(rates)


def _suspected(record: PhaseRecord, from_ns: int, lasted_ns: int, shift: float) -> Finding:
    return Finding(
        code=CODE,
        severity="warn",
        phase=record.phase.name,
        says=(
            f"The rate was {brief_percent(-shift)} lower for {brief_time(lasted_ns)} from t={brief_time(from_ns)}"
            " on, and then recovered."
        ),
        evidence={"from_ns": from_ns, "lasted_ns": lasted_ns, "shift": shift},
        remedy="Look for a scrub, a rebuild or a snapshot at that time; measure again without it.",
        hypothesis="the storage was busy with maintenance",
        confidence=0.5,
        confirm="look for what ran at that time, pause it, and measure again",
        state="suggested",
        spans=(Span(from_ns, from_ns + lasted_ns),),
    )


def confirm(run: Run, finding: Finding) -> Experiment | None:
    """The same load one at a time, again and again, for as long as it took then until all was over, and half of it."""
    if "from_ns" not in finding.evidence:
        return None
    record, evidence = row_of(run, finding), finding.evidence
    # A simulated device begins anew with every run, and its clock with the first phase.
    before_ns = sum(each.measurement.elapsed_ns for each in run.phases[: run.phases.index(record)])
    until_s = (before_ns * simulated(run) + evidence["from_ns"] + AND_MORE * evidence["lasted_ns"]) / 1e9
    probe_s = max(PROBE_S, evidence["lasted_ns"] / 1e9 / MOST_IN_IT)
    name = "the same load"
    probe = Arm(name=name, workload=at_depth(record, 1), seconds=probe_s, **same_place(record))  # type: ignore[arg-type]
    return Experiment(
        question="Does the rate of the same load dip for as long once more, and then recover?",
        arms=(probe,),
        rounds=math.ceil(until_s / probe_s),
        decision=Decision(statistic="rate", first=name, other=name, limit=FALLS, direction="dips"),
        absence_proves=False,
        if_confirmed="The dip came again in the same way for the same load: a task of the storage, not chance.",
        if_rejected="The rate is steady now, which says nothing of what ran then: look there for a scrub or a rebuild.",
    )
