"""The modern scale: random reads at the knee, commits, scans, scaling, and what writes do to reads."""

from __future__ import annotations

import math

from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.ladder import Curve
from iocast.analyse.statistics import enough_beyond, published
from iocast.diagnose.grades import gradable as pick
from iocast.diagnose.grades.scales import LetterScale, letter_scale
from iocast.diagnose.thresholds import HEADLINE_Q
from iocast.model.codes import AspectCode
from iocast.model.finding import Examination
from iocast.model.grading import Graded, Letter
from iocast.model.run import PhaseRecord
from iocast.model.workload import Op
from iocast.text import brief_time, load, number
from iocast.units import size_text

USABLE = ("A", "B", "C")  # trust that may carry a letter
TOO_FEW_Q = 0.95  # graded instead of p99 where a slow device answers too seldom: at best
FALLS = 0.90  # [J] of the response time at a lower load: a growth that is negative beyond chance
MS = 1e6


def modern(facts: Facts, examination: Examination) -> tuple[Graded, ...]:
    """All letters that the rows of a run can carry; an aspect without a row says what would show it."""
    return (
        random_read(facts, examination),
        commit(facts, examination),
        scan(facts, examination),
        scaling(facts, examination),
        interference(facts, examination),
    )


def random_read(facts: Facts, examination: Examination) -> Graded:
    """p99 of small random reads at the last measured load at which the storage is not full."""
    curve = pick.by_load(facts, pick.random_reads)
    if not curve.points:
        return _without("random_read", "no row of 4 to 16 KiB random reads")
    at = pick.up_to_knee(curve)[-1]
    where = f"at {_load(at)} ({_full(curve)})"
    if len(curve.points) == 1:
        where = f"at {_load(at)} (the only load measured)"
    where += _beside(at)
    scale = letter_scale("modern", "random_read")
    return _of_p99("random_read", scale, facts.row(at), "read", where, examination)


def commit(facts: Facts, examination: Examination) -> Graded:
    """p99 of one writer that makes each small append durable."""
    curve = pick.by_load(facts, pick.commits)
    if not curve.points:
        return _without("commit", "no row of one writer with small durable appends")
    at = curve.rows[0]
    done = facts.row(at)
    ops: tuple[Op, ...] = ("fdatasync", "fsync", "write")
    op: Op = next((each for each in ops if done.response(each).total), "write")
    return _of_p99("commit", letter_scale("modern", "commit"), done, op, f"by one writer{_beside(at)}", examination)


def scan(facts: Facts, examination: Examination) -> Graded:
    """The best throughput of large sequential reads among the rows that may be believed."""
    rows = [r for r in facts.run.measured if pick.scans(r) and r.measurement.ios]
    if not rows:
        return _without("scan", "no row of sequential reads of one size, 128 KiB or more, without a rate or pauses")
    believed = [r for r in rows if _usable(r, examination)]
    if not believed:
        return _unusable("scan", rows[0], examination)
    at = max(believed, key=lambda record: record.measurement.bytes_per_s)
    mb_per_s = at.measurement.bytes_per_s / 1e6
    scale = letter_scale("modern", "scan")
    letter = scale.letter(mb_per_s)
    says = (
        f"{_size(at)} sequential reads reach {number(mb_per_s)} MB/s at {_load(at)}{_beside(at)}"
        f" ({scale.limit_words(letter)} is {_an(letter)})."
    )
    return Graded(
        code="scan",
        letter=letter,
        says=says,
        phases=(at.phase.name,),
        figures={"mb_per_s": mb_per_s},
        source=scale.source,
    )


def _beside(record: PhaseRecord) -> str:
    return " beside other rows" if record.phase.together else ""


def scaling(facts: Facts, examination: Examination) -> Graded:
    """How far the response time of random reads grows with the load, as long as the device is not full."""
    curve = pick.by_load(facts, pick.random_reads)
    believed = Curve(tuple(point for point in curve.points if _usable(point.record, examination)))
    if len(set(believed.loads)) < 2:
        return _without("scaling", "fewer than two loads of random reads with trust C or better")
    below = pick.up_to_knee(believed)
    low, high = below[0], below[-1]
    if low.measurement.asked_depth == high.measurement.asked_depth:
        full = _full(believed).removeprefix("the storage is ")
        return _without("scaling", f"the storage is {full}: no two loads of trust C or better lie below that")
    low_ns, high_ns = (facts.row(record).mean_ns for record in (low, high))
    grown = high_ns / low_ns
    if grown < FALLS:
        return pick.ungraded(
            "scaling",
            f"the mean response time fell from {brief_time(low_ns)} at {_load(low)} to {brief_time(high_ns)} at"
            f" {_load(high)}: more load cannot make storage faster, so the rows met it in different states (a cache, a"
            " warm-up). Measure them again, warmed up and in turns.",
            (low.phase.name, high.phase.name),
        )
    load = high.measurement.asked_depth / low.measurement.asked_depth
    value = (grown - 1) / (load - 1)
    scale = letter_scale("modern", "scaling")
    letter = scale.letter(value)
    says = (
        f"From {_load(low)} to {_load(high)} the mean response time went from"
        f" {brief_time(low_ns)} to {brief_time(high_ns)}: scaling factor {value:.2f}"
        f" (0: no growth, 1: growth in proportion to the load; {scale.limit_words(letter)} is {_an(letter)})."
    )
    phases = (low.phase.name, high.phase.name)
    return Graded(code="scaling", letter=letter, says=says, phases=phases, figures={"s": value}, source=scale.source)


def _full(curve: Curve) -> str:
    """N* of the curve in words; a lower bound where more load may still give more."""
    load_ = number(max(1.0, curve.saturation_load))
    return (
        f"the storage is full from a load of about {load_} on"
        if curve.saturated
        else f"not full below a load of {load_}"
    )


def interference(facts: Facts, examination: Examination) -> Graded:
    """p99 of random reads beside 30 % writes over p99 of the same load without."""
    reads = sorted(pick.by_load(facts, pick.random_reads).rows, key=lambda row: _usable(row, examination))
    alone = {row.measurement.asked_depth: row for row in reads}  # of repeats one that may be believed
    mixes = pick.by_load(facts, pick.mixed_thirty).rows
    there = [(alone[row.measurement.asked_depth], row) for row in mixes if row.measurement.asked_depth in alone]
    pairs = [pair for pair in there if all(_usable(row, examination) for row in pair)]
    if not pairs:
        blend, pure = "no row of 70% reads and 30% writes", "one of reads at the same load"
        why = f"{blend} has trust C or better, together with {pure}" if there else f"{blend} and {pure}"
        return _without("write_interference", why)
    clean, mixed = max(pairs, key=lambda pair: pair[1].measurement.asked_depth)
    before, beside = (published(facts.row(each).response("read"), HEADLINE_Q) for each in (clean, mixed))
    if before is None or beside is None:
        return _without("write_interference", "too few I/Os for the p99 of reads on one of the two rows")
    scale = letter_scale("modern", "interference")
    letter = scale.letter(beside / before)
    says = (
        f"With 30% writes the p99 of reads is {beside / before:.2f}x that without:"
        f" {brief_time(beside)} against {brief_time(before)} ({scale.limit_words(letter)} is {_an(letter)})."
    )
    return Graded(
        code="write_interference",
        letter=letter,
        says=says,
        phases=(clean.phase.name, mixed.phase.name),
        figures={"ratio": beside / before},
        source=scale.source,
    )


def _of_p99(
    code: AspectCode, scale: LetterScale, row: RowFacts, op: Op, where: str, examination: Examination
) -> Graded:
    record = row.record
    if not _usable(record, examination):
        return _unusable(code, record, examination)
    histogram = row.response(op)
    estimates = (row.quantile(op, q) for q in (HEADLINE_Q, TOO_FEW_Q) if enough_beyond(histogram.total, q))
    estimate = next((each for each in estimates if each.known), None)
    if estimate is None and histogram.coarse is not None:
        return _without(code, f"the source of {record.phase.name} states no p99 or p95 of enough I/Os", record)
    if estimate is None:
        return _without(code, f"{histogram.total} I/Os are too few for p99 or p95", record)
    letter = scale.letter(estimate.value_ns / MS)
    what = {"read": "random reads", "write": "durable appends"}.get(op, f"{op} after an append")
    size = _size(record)
    says = (
        f"The p{estimate.q * 100:g} of {size} {what} {where} is {brief_time(estimate.value_ns)}"
        f" ({scale.limit_words(letter)} is {_an(letter)})."
    )
    low_ns, high_ns = estimate.low_ns, estimate.high_ns
    if estimate.q != HEADLINE_Q:
        high_ns = None if math.isnan(histogram.most_ns) else histogram.most_ns
        worse = high_ns is None or scale.letter(high_ns / MS) != letter
        says += f" {histogram.total} I/Os are too few for p99"
        says += ", which lies higher: the letter may be worse." if worse else "; the slowest I/O has the same letter."
    return Graded(
        code=code,
        letter=letter,
        says=says,
        phases=(record.phase.name,),
        best=_ranged(scale, low_ns, letter),
        worst=_ranged(scale, high_ns, letter),
        figures={"quantile": estimate.q, "value_ns": estimate.value_ns},
        source=scale.source,
    )


def _load(record: PhaseRecord) -> str:
    return load(record.plan.users, record.plan.depth)


def _size(record: PhaseRecord) -> str:
    return size_text(pick.only_size(record) or 0)


def _ranged(scale: LetterScale, value_ns: float | None, letter: Letter) -> Letter:
    return letter if value_ns is None else scale.letter(value_ns / MS)


def _an(letter: Letter) -> str:
    return f"an {letter}" if letter[0] in "AF" else f"a {letter}"


def _usable(record: PhaseRecord, examination: Examination) -> bool:
    return examination.trust[record.phase.name].grade in USABLE


def _unusable(code: AspectCode, record: PhaseRecord, examination: Examination) -> Graded:
    trust = examination.trust[record.phase.name]
    why_not = f"trust in {record.phase.name} is {trust.grade}. {trust.reason}".strip()
    return pick.ungraded(code, why_not, (record.phase.name,))


def _without(code: AspectCode, why: str, record: PhaseRecord | None = None) -> Graded:
    return pick.ungraded(code, f"{why}.", (record.phase.name,) if record else ())
