"""Times come in steps: a timer, not the storage, decides when an I/O completes.

What it is: completions that are noticed only at ticks (polling with sleeps, coalesced interrupts, an emulated
device), so all times are multiples of a step.
Why it matters: a figure between two steps does not exist; a device that is twice as quick may look the same.
How it shows: the times of all rows lie on marks at equal distances, three or more, with almost none between (of a rate
that is asked for, and after pauses, I/Os begin between two marks, so these rows show nothing); what each I/O takes on
top may move all of them alike.
What else looks the same: one or two service times that never vary. Behind others in a queue an I/O takes sums of them.
What tells them apart: single I/Os of a time that varies fill several steps in a row: that is counted. Where they do
not, I/Os are sent at random times: the timer lets them wait for half a step, whatever they take; a service that never
varies takes as long as before; a throttle that works in slices lets them pass at once.
How to confirm: by these random times. A device that does no work (a null device) shows the same step.
What to change: interrupt coalescing off, a virtual disk with a dedicated thread, idle=poll for the test.
"""

from __future__ import annotations

import math
from cmath import phase, rect
from collections.abc import Iterator
from itertools import pairwise, takewhile

from msgspec.structs import replace

from iocast.analyse.facts import Facts, RowFacts, once
from iocast.diagnose.evidence import row_of
from iocast.diagnose.preconditions import (
    CLOSED_LOOP,
    MEASURED_HERE,
    NO_DATABASE,
    NO_PAUSES,
    NOT_SHORT_OF_CPU,
    Only,
    meets,
    rows_for,
)
from iocast.model.codes import FindingCode
from iocast.model.experiment import Arm, Decision, Experiment
from iocast.model.finding import Finding
from iocast.model.histogram import Histogram, bucket_bounds_ns
from iocast.model.run import Run
from iocast.model.workload import MixItem, Poisson, Uniform, Workload
from iocast.text import brief_percent, brief_time

Cells = list[tuple[float, float]]  # middle in ns, share
Mix = tuple[MixItem, ...]

NEEDS: tuple[str, ...] = ()
# Who waits for a processor gets it at a tick of the scheduler.
ONLY: Only = (MEASURED_HERE, NOT_SHORT_OF_CPU)
# An I/O is submitted when another ends, and so on a mark: what is due at a time of its own, or after a pause, begins
# between two, and takes any time although it ends on one.
FROM_MARK_TO_MARK = NO_PAUSES

CODE: FindingCode = "coarse_clock"
SHARE = 0.99  # of the times lie on marks [J]
MARKS = 3
LEAST_IOS = 200
LEAST_SHARE, OFTEN = 0.001, 0.02  # of a row: what is a time at all, and what is a mark [J]
STEP_OF_P50 = 0.05  # models C, 21
FEW, IN_SEQUENCE = 4, 5  # a first mark up to that multiple is plain; beyond it so many in sequence must be met [J]
REACHES, SOME_ROWS = (4, 16, 64, 256), 6  # marks from which the step is known ever better; of so many rows
TELLING = 25  # marks, within which a bucket (a 512th) is half as wide as what may lie around a mark
GATHERED = 0.75  # times off their marks by an eighth of a step (one sigma) give this [J]
NARROW = 0.93  # by a sixteenth [J]
EQUAL = 0.15  # of the step may the distance of two peaks be off [J]
SELDOM, WAITING = 0.1, 64  # of the rate of single I/Os: hardly one meets another; I/Os that may do so
SOONER, HALF = 0.9, 0.4  # of a whole step: what takes next to nothing itself waits for half of one
LIKELY = 0.10  # of a step may lie around a mark; chance would put a tenth there [J]


def detect(facts: Facts) -> Iterator[Finding]:
    """A step that all rows share in which a completion submits the next I/O; one row alone may stand on a mark."""
    rows = [row for row in rows_for(facts, ONLY) if row.service().total >= LEAST_IOS]
    if not rows or not all(meets(row, NO_DATABASE) for row in rows):
        return  # a server counts microseconds: that is its clock's step, and no timer's
    judged = [row for row in rows if meets(row, FROM_MARK_TO_MARK)] or rows
    step_ns = _step_ns(judged)
    coarse = [row for row in rows if step_ns > STEP_OF_P50 * row.service().quantile_ns(0.5)]
    if not step_ns or not coarse:
        return
    paced = [_marks(_cells(row), step_ns)[0] >= SHARE for row in rows if not meets(row, FROM_MARK_TO_MARK)]
    if paced and all(paced):
        return  # what begins at any time ends on marks of its own: they are service times
    counted = bool(paced) or any(_varies(row, step_ns) for row in judged)
    which = _called(rows, judged)
    worst = min(row.service().quantile_ns(0.5) for row in coarse)
    finding = Finding(
        code=CODE,
        severity="severe",
        phase="",
        says=(
            f"A timer {'decides' if counted else 'may decide'} when an I/O completes: the times of all {which} lie"
            f" {brief_time(step_ns)} apart,"
            f" {brief_percent(step_ns / worst)} of the shortest median."
        ),
        evidence={"step_ns": step_ns, "p50_ns": worst, "rows": len(coarse)},
        remedy="Turn interrupt coalescing off, or test without the layer that polls.",
    )
    if not counted:
        finding = _suggested(finding)
    if len(coarse) == len(rows):
        yield finding
    else:
        yield from (replace(finding, phase=row.name) for row in coarse)


def _varies(row: RowFacts, step_ns: float) -> bool:
    """Whether single I/Os of a row end at several marks in a row: a time that varies, put on marks."""
    total = row.service().total
    cells = [(middle, share) for middle, share in _cells(row) if middle < TELLING * step_ns]
    many = [mark for mark, share in _shares(cells, step_ns).items() if share * total >= LEAST_IOS * OFTEN]
    return row.measurement.asked_depth == 1 and _unbroken(set(many)) >= MARKS


def _suggested(finding: Finding) -> Finding:
    return replace(
        finding,
        severity="warn",
        state="suggested",
        confidence=0.5,
        hypothesis="a timer decides when an I/O completes",
        confirm="send I/Os at random times: behind a timer they wait for half a step",
    )


def confirm(run: Run, finding: Finding) -> Experiment | None:
    """Single reads, one after the other and at random times: a timer lets these wait for half a step on average."""
    record = run.measured[0] if not finding.phase else row_of(run, finding)
    reads = Workload(mix=(MixItem("read", record.phase.workload.mix[0].size_bytes),), locality=Uniform())
    at_random = replace(reads, arrival=Poisson(SELDOM * 1e9 / finding.evidence["p50_ns"]), depth=WAITING)
    return Experiment(
        question="Do reads at random times wait for half a step?",
        arms=(Arm(name="in turn", workload=reads), Arm(name="at random times", workload=at_random)),
        decision=Decision(statistic="mean", first="in turn", other="at random times", limit=SOONER, direction="below"),
        also=(Decision(statistic="mean", first="in turn", other="at random times", limit=HALF, direction="above"),),
        absence_proves=False,  # what takes about half a step itself takes a whole one either way
        if_confirmed="A timer decides when an I/O completes, not the storage.",
    )


def _called(rows: list[RowFacts], judged: list[RowFacts]) -> str:
    """Those whose times show the step, all of which are meant."""
    if len(judged) == len(rows):
        return "rows"
    closed = sum(meets(row, CLOSED_LOOP) for row in rows)
    return "closed-loop rows" if len(judged) == closed else "closed-loop rows without pauses"


def _step_ns(rows: list[RowFacts]) -> float:
    """The distance of the marks on which nearly all times of every row lie; 0 without such."""
    first = min(_first_ns(row.service()) for row in rows)
    if not first:
        return 0.0  # an I/O that took no time at all stands on any mark
    for parts in range(1, round(1 / STEP_OF_P50) + 1):  # the first mark may be any multiple: a disk needs some
        if not all(_begins_on_marks(row, first / parts) for row in rows[:SOME_ROWS]):
            continue
        step = _finer(rows, first / parts)
        marks_by_mix = _marks_of_all(rows, step)
        marks = set().union(*marks_by_mix.values())
        # What takes as long for each KiB stands on multiples as well, where sizes are powers of two: a mark for each.
        several = len(marks) >= MARKS and any(len(each) > 1 for each in marks_by_mix.values())
        if several and (parts <= FEW or _unbroken(marks) >= IN_SEQUENCE):
            return step
    return _step_of_peaks(rows)


def _begins_on_marks(row: RowFacts, step: float) -> bool:
    """Whether the first few marks of a row have what lies around them: most rows that have no step fail here."""
    ends = _cells(row)[0][0] + 2 * FEW * step
    cells = list(takewhile(lambda cell: cell[0] < ends, _cells(row)))
    return _marks(cells, step)[0] >= SHARE * sum(share for _, share in cells)


def _finer(rows: list[RowFacts], step: float) -> float:
    """The step by ever later marks: a bucket holds times a thousandth apart, which is half a step at the 500th mark."""
    for most in REACHES:
        near = [
            (middle, count, share)
            for row in rows[:SOME_ROWS]
            for middle, share in _cells(row)
            if 0 < (count := round(middle / step)) <= most and abs(middle / step - count) < LIKELY
        ]
        weight = sum(count * share for _, count, share in near)
        step = sum(middle * share for middle, _, share in near) / weight if weight else step
    return step


def _unbroken(marks: set[int]) -> int:
    """The longest sequence of marks without a gap: of any few times a fine enough step makes multiples."""
    longest, here, last = 0, 0, -1
    for mark in sorted(marks):
        here = here + 1 if mark == last + 1 else 1
        longest, last = max(longest, here), mark
    return longest


def _step_of_peaks(rows: list[RowFacts]) -> float:
    """The equal distance of peaks, where what every I/O takes on top moves them away from multiples; 0 without such."""
    modes = max((row.modes for row in rows), key=len)
    if len(modes) < MARKS:
        return 0.0
    gaps = [after.location_ns - before.location_ns for before, after in pairwise(modes)]
    near = sorted(gaps)[len(gaps) // 2]
    if any(abs(gap / near - round(gap / near)) > EQUAL or gap < near / 2 for gap in gaps):
        return 0.0
    # A server gives multiples of its own time, too, to who finds I/Os of others before him; but its time varies.
    of_a_server = abs(modes[0].location_ns / near - 1) <= EQUAL
    widest = next(row for row in rows if row.modes == modes)
    step = max((near * (1 + at / 200) for at in range(-20, 21)), key=lambda each: abs(_together(widest, each)))
    steps = [_together(row, step) for row in rows if row.service().quantile_ns(0.5) * STEP_OF_P50 < step]
    if not steps or min(map(abs, steps)) < (NARROW if of_a_server else GATHERED):
        return 0.0
    apart = max(abs(math.remainder(phase(one) - phase(steps[0]), 2 * math.pi)) for one in steps)
    return step if apart < math.pi / 2 else 0.0


def _together(row: RowFacts, step: float) -> complex:
    """How near to one place of a step the times lie (1: all on one point, 0: anywhere), and to which."""
    cells = _cells(row)
    return sum(share * rect(1.0, 2 * math.pi * middle / step) for middle, share in cells) / sum(s for _, s in cells)


def _marks_of_all(rows: list[RowFacts], step: float) -> dict[Mix, set[int]]:
    """The multiples of a step on which rows of the same I/Os stand; none when one of them stands elsewhere.

    The buckets of longer times are too wide to tell: they say nothing for a step nor against it.
    """
    marks: dict[Mix, set[int]] = {}
    for row in rows:
        cells = [(middle, share) for middle, share in _cells(row) if middle < TELLING * step]
        total = sum(share for _, share in cells)
        if not total or row.service().quantile_ns(0.5) > TELLING * step:
            continue
        on, met = _marks(cells, step)
        if on < SHARE * total:
            return {}
        marks.setdefault(row.workload.mix, set()).update(met)
    return marks


def _start(times: Histogram) -> int:
    """The first occupied bucket that counts; of times so wide apart that none does, the first at all."""
    total = times.total
    return next((at for at, count in enumerate(times.count) if count / total >= LEAST_SHARE), 0)


def _first_ns(times: Histogram) -> float:
    """The middle of that bucket."""
    return sum(bucket_bounds_ns(times.index[_start(times)])) / 2


@once
def _cells(row: RowFacts) -> Cells:
    """The occupied buckets from the first that counts: their middle and their share."""
    times = row.service()
    start, total = _start(times), times.total
    pairs = zip(times.index[start:], times.count[start:], strict=True)
    return [(sum(bucket_bounds_ns(index)) / 2, count / total) for index, count in pairs]


def _marks(cells: Cells, step: float) -> tuple[float, set[int]]:
    """The share of a row that lies on multiples of a step, and the multiples that more than a few stand on."""
    met = _shares(cells, step)
    return sum(met.values()), {mark for mark, share in met.items() if share >= OFTEN}


def _shares(cells: Cells, step: float) -> dict[int, float]:
    """The share of a row on each multiple of a step."""
    near = [(round(middle / step), share) for middle, share in cells if abs(middle / step % 1 - 0.5) > 0.5 - LIKELY / 2]
    met: dict[int, float] = {}
    for mark, share in near:
        met[mark] = met.get(mark, 0.0) + share
    return met
