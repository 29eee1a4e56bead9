"""The modern scale: random reads at the knee, commits, scans, scaling, and what writes do to reads.

A letter says that a figure is the storage's, in one state and at a load that it takes. Its alternatives give none: the
rows met different states (more load, or writes beside them, made reads quicker by more than the margin of what counts
as the same, and beyond their intervals), the load was beyond the knee, or the figure is not known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from msgspec.structs import replace

from iocast.analyse.comparison import MARGIN
from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.ladder import Curve
from iocast.analyse.levels import as_fast
from iocast.analyse.statistics import HEADLINE_Q, QuantileEstimate, enough_beyond, published, quantile_interval
from iocast.diagnose.excluded_rows import named, rate_believed
from iocast.diagnose.grades import gradable as pick
from iocast.diagnose.grades.scales import LetterScale, letter_scale
from iocast.model.codes import AspectCode
from iocast.model.finding import Examination, Excluded
from iocast.model.grading import Graded, Letter
from iocast.model.run import PhaseRecord
from iocast.model.workload import Op
from iocast.text import brief_percent, brief_time, load, number
from iocast.units import size_text

USABLE = ("A", "B", "C")  # trust that may carry a letter
TOO_FEW_Q = 0.95  # graded instead of p99 where a slow device answers too seldom: at best
FEW_READS = 0.5  # of the outstanding I/Os of a mix of 70% reads: their queue is not that of reads alone [J]
FALLS = 1 - MARGIN  # of the response time at a lower load: no longer the same
QUICKER = 0.70  # [J] the same, for a letter of one load: a processor that sleeps between single reads costs less
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
    whole = pick.by_load(facts, pick.random_reads)
    if not whole.points:
        why = "no row of 4 to 16 KiB random reads"
        return _no_row("random_read", why, facts, pick.random_reads, examination)
    curve = _compared(whole, examination)
    alone = next((row for row in whole.rows if _usable(row, examination)), pick.up_to_knee(whole)[-1])
    at = pick.up_to_knee(curve)[-1] if curve.points else alone
    left = _left(whole, examination, but=at)
    where = f"at {_load(at)} ({_full(curve)}{_beyond(curve, at)}{left})" if len(curve.points) > 1 else f"at {_load(at)}"
    if len(whole.points) == 1:
        where += " (the only load measured)"
    elif len(curve.points) < 2 and at.measurement.asked_depth > min(whole.loads):
        out = examination.excluded.get(at.phase.name)
        which = f"{_load(at)} is the least load that can be compared"
        if out is not None:  # of rows that cannot be compared at all
            which = f"{_load(at)} ({out.brief}) is the least load whose figures can be used"
        why = f"{which}: how long reads wait there depends on the load{left}."
        return pick.ungraded("random_read", why, (at.phase.name,))
    elif len(curve.points) < 2:
        where += f" ({_itself(at, examination)}no other load to compare it with{left})"
    elif _full_too_early(curve):
        why = f"{_full(curve)}, the least that can be compared: reads wait there, how long depends on the load{left}."
        return pick.ungraded("random_read", why, (at.phase.name,))
    where += _beside(at)
    if other := _other_states(facts, curve, at):
        return other
    scale = letter_scale("modern", "random_read")
    graded = _of_p99("random_read", scale, facts.row(at), "read", where, examination)
    lowest = curve.rows[0] if curve.points else at  # none can be compared: `at` stands for itself
    return _beside_least(graded, scale, at, facts.row(lowest), examination)


def _itself(at: PhaseRecord, examination: Examination) -> str:
    """Why the graded row is compared with none, where it is the one that could not be; fit to begin a bracket."""
    out = examination.excluded.get(at.phase.name)
    return f"{out.brief}; " if out is not None else ""


def _beside_least(
    graded: Graded, scale: LetterScale, at: PhaseRecord, least: RowFacts, examination: Examination
) -> Graded:
    """With the letter of the least load where it is another: storage that takes more load is graded at a higher one,
    and so eight disks have a worse letter than one of them."""
    q = graded.figures.get("quantile")
    if graded.letter is None or q is None or not _usable(least.record, examination):
        return graded
    alone_ns = published(least.response("read"), q)  # no other percentile: the scale is that of this one
    if alone_ns is None or (letter := scale.letter(alone_ns / MS)) == graded.letter:
        return graded
    here, value = _load(least.record), brief_time(alone_ns)
    more = f" At {here} it is {value} ({_an(letter)}): storage that takes more load is graded at a higher load."
    return replace(graded, says=graded.says + more, aside=f"at {_load(at)}; at {here} {_an(letter)}")


def commit(facts: Facts, examination: Examination) -> Graded:
    """p99 of one writer that makes each small append durable."""
    curve = pick.by_load(facts, pick.commits)
    if not curve.points:
        why = "no row of one writer with durable appends of 4 to 16 KiB"
        if any(record.phase.database is not None for record in facts.run.measured):
            why += "; commits of a database are not graded"
        return _no_row("commit", why, facts, pick.commits, examination)
    at = curve.rows[0]
    done = facts.row(at)
    ops: tuple[Op, ...] = ("fdatasync", "fsync", "write")
    op: Op = next((each for each in ops if done.response(each).total), "write")
    return _of_p99("commit", letter_scale("modern", "commit"), done, op, f"by one writer{_beside(at)}", examination)


def scan(facts: Facts, examination: Examination) -> Graded:
    """The best throughput of large sequential reads among the rows that may be believed."""
    rows = [r for r in facts.run.measured if pick.scans(r) and r.measurement.ios]
    if not rows:
        why = "no row of sequential reads of one size, 128 KiB or more, without a rate or pauses"
        return _no_row("scan", why, facts, pick.scans, examination)
    believed = [r for r in rows if rate_believed(examination.trust[r.phase.name])]
    if not believed:
        return _unusable("scan", rows[0], examination)
    held = [r for r in believed if not _fell_within(r, examination)]
    if not held:
        why = examination.excluded[believed[0].phase.name].why
        return pick.ungraded("scan", f"{believed[0].phase.name}: {why}.", (believed[0].phase.name,))
    best = max(record.measurement.bytes_per_s for record in held)
    as_good = [record for record in held if as_fast(record.measurement.bytes_per_s, best)]
    at = min(as_good, key=lambda record: record.measurement.asked_depth)  # more load than that brings nothing
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


def _fell_within(record: PhaseRecord, examination: Examination) -> bool:
    out = examination.excluded.get(record.phase.name)
    return out is not None and out.fell == "within"


def _beside(record: PhaseRecord) -> str:
    return " beside other rows" if record.phase.together else ""


def scaling(facts: Facts, examination: Examination) -> Graded:
    """How far the response time of random reads grows with the load, as long as the device is not full."""
    whole = pick.by_load(facts, pick.random_reads)
    believed = _compared(whole, examination)
    if len(set(believed.loads)) < 2:
        left = _left(whole, examination)
        return _without("scaling", f"fewer than two loads of random reads can be compared{left}")
    below = pick.up_to_knee(believed)
    low, high = below[0], below[-1]
    if low.measurement.asked_depth == high.measurement.asked_depth:
        is_saturated = believed.saturated or _full_too_early(believed)
        full = _full(believed) if is_saturated else f"the storage is {_full(believed)}"
        return _without("scaling", f"{full}: no two loads that can be compared lie below that")
    low_ns, high_ns = (facts.row(record).mean_ns for record in (low, high))
    grown = high_ns / low_ns
    if grown < FALLS:
        return _faster_with_more("scaling", facts, low, high)
    load = high.measurement.asked_depth / low.measurement.asked_depth
    value = (grown - 1) / (load - 1)
    scale = letter_scale("modern", "scaling")
    letter = scale.letter(value)
    beyond = _beyond(believed, high)
    full = f" ({_full(believed)}{beyond})" if beyond else ""
    says = (
        f"From {_load(low)} to {_load(high)}{full} the mean response time went from"
        f" {brief_time(low_ns)} to {brief_time(high_ns)}: scaling factor {value:.2f}"
        f" (0: no growth, 1: growth in proportion to the load; {scale.limit_words(letter)} is {_an(letter)})."
    )
    phases = (low.phase.name, high.phase.name)
    return Graded(code="scaling", letter=letter, says=says, phases=phases, figures={"s": value}, source=scale.source)


def _other_states(facts: Facts, curve: Curve, at: PhaseRecord) -> Graded | None:
    """No letter for reads that take far less time at the load that would be graded than at a lower one."""
    low = curve.rows[0] if curve.points else at
    if facts.row(at).mean_ns >= QUICKER * facts.row(low).mean_ns:
        return None
    return _faster_with_more("random_read", facts, low, at)


def _faster_with_more(code: AspectCode, facts: Facts, low: PhaseRecord, high: PhaseRecord) -> Graded:
    low_ns, high_ns = (facts.row(record).mean_ns for record in (low, high))
    return pick.ungraded(
        code,
        f"the mean response time fell from {brief_time(low_ns)} at {_load(low)} to {brief_time(high_ns)} at"
        f" {_load(high)}: more load cannot make storage faster, so the rows met it in different states (a cache, a"
        " warm-up). Measure them again, warmed up and in turns.",
        (low.phase.name, high.phase.name),
    )


def _full(curve: Curve) -> str:
    """N* of the curve in words; a lower bound where more load may still give more, an upper one where the least was
    too much already."""
    load_ = number(max(1.0, curve.saturation_load))
    if _full_too_early(curve):
        return f"the storage is full at or below a load of {min(curve.loads)}"
    return (
        f"a load of about {load_} would saturate the storage if no I/O waited"
        if curve.saturated
        else f"not saturated below a load of {load_}"
    )


def _beyond(curve: Curve, at: PhaseRecord) -> str:
    """That the load of a row is beyond that at which the storage is full, but near enough; "" where it is not."""
    depth, full = at.measurement.asked_depth, max(1.0, curve.saturation_load)
    if depth <= full or as_fast(depth, full):
        return ""
    return f"; a load up to {brief_percent(pick.KNEE_SLACK - 1)} beyond that counts as at it"


def _full_too_early(curve: Curve) -> bool:
    """Whether no load that was compared is shown to lie below that at which the storage is full."""
    return min(curve.loads) > 1 and curve.full_from_the_least


def interference(facts: Facts, examination: Examination) -> Graded:
    """p99 of random reads beside 30 % writes over p99 of the same load without."""
    reads = sorted(pick.by_load(facts, pick.random_reads).rows, key=lambda row: _comparable(row, examination))
    alone = {row.measurement.asked_depth: row for row in reads}  # of repeats one that may be believed
    mixes = pick.by_load(facts, pick.mixed_thirty).rows
    there = [(alone[row.measurement.asked_depth], row) for row in mixes if row.measurement.asked_depth in alone]
    pairs = [pair for pair in there if all(_comparable(row, examination) for row in pair)]
    if not pairs:
        blend, pure = "no row of 70% reads and 30% writes", "one of reads at the same load"
        if not there:
            return _without("write_interference", f"{blend} and {pure}")
        rows = {row.phase.name: row for pair in there for row in pair}.values()
        left = _left_words({row.phase.name: row.phase.name for row in rows}, rows, examination)
        return _without("write_interference", f"{blend} can be compared with {pure}{left}")
    clean, mixed = max(pairs, key=lambda pair: pair[1].measurement.asked_depth)
    before, beside = (published(facts.row(each).response("read"), HEADLINE_Q) for each in (clean, mixed))
    if before is None or beside is None:
        return _without("write_interference", "too few I/Os for the p99 of reads on one of the two rows")
    few = _reads_at_once(facts.row(mixed)) < FEW_READS * mixed.measurement.asked_depth
    if beside < FALLS * before and (few or _differ(facts.row(clean), facts.row(mixed))):
        why = _quicker_beside(facts.row(mixed), before, beside)
        return pick.ungraded("write_interference", why, (clean.phase.name, mixed.phase.name))
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


def _reads_at_once(row: RowFacts) -> float:
    """How many of the outstanding I/Os were reads, on average."""
    elapsed_ns = row.measurement.elapsed_ns
    return row.service("read").sum_ns / elapsed_ns if elapsed_ns else 0.0


def _differ(clean: RowFacts, mixed: RowFacts) -> bool:
    """Whether the p99 of reads is lower beside writes by more than chance: their intervals do not overlap."""
    low, high = _interval(clean).low_ns, _interval(mixed).high_ns
    return low is not None and high is not None and high < low


def _interval(row: RowFacts) -> QuantileEstimate:
    """Where it is not known how the I/Os depend on each other, they are taken as independent: the narrowest one."""
    known = row.quantile("read", HEADLINE_Q)
    unknown = known.low_ns is None and known.high_ns is None
    return quantile_interval(row.response("read"), HEADLINE_Q) if unknown else known


def _quicker_beside(mixed: RowFacts, before_ns: float, beside_ns: float) -> str:
    """Why reads that are quicker beside writes get no letter: they were fewer at once, or the storage was another."""
    did, reads = mixed.measurement, _reads_at_once(mixed)
    fell = f"with 30% writes the p99 of reads fell from {brief_time(before_ns)} to {brief_time(beside_ns)}"
    if reads < FEW_READS * did.asked_depth:
        return (
            f"{fell}, because only {number(reads)} of the {did.asked_depth} outstanding I/Os were reads: writes took"
            " the places of the others. Give the reads a rate of their own beside the writes."
        )
    return (
        f"{fell}: writes cannot make reads faster, so the rows met the storage in different states (a cache, a"
        " warm-up). Measure them again, warmed up and in turns."
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
        return _without(code, f"the source of {record.phase.name} states no exact p99 or p95 of enough I/Os", record)
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


def _comparable(record: PhaseRecord, examination: Examination) -> bool:
    """Whether a row may be set beside others: it can be believed, and met the storage as they did."""
    return _usable(record, examination) and record.phase.name not in examination.excluded


def _compared(whole: Curve, examination: Examination) -> Curve:
    """The points of the rows that may be compared."""
    return Curve(tuple(point for point in whole.points if _comparable(point.record, examination)))


def _left(whole: Curve, examination: Examination, but: PhaseRecord | None = None) -> str:
    """The loads that were not compared and why, fit to end a sentence or a bracket; without that of one row."""
    rows = [row for row in whole.rows if row is not but]
    return _left_words({row.phase.name: _load(row) for row in rows}, rows, examination)


def _left_words(names: dict[str, str], rows: Iterable[PhaseRecord], examination: Examination) -> str:
    out = {
        name: examination.excluded.get(name) or Excluded(f"trust {examination.trust[name].grade}", "")
        for name in (row.phase.name for row in rows if not _comparable(row, examination))
    }
    left = named(names, out)
    return f"; left out: {left}" if left else ""


def _no_row(
    code: AspectCode, why: str, facts: Facts, kind: Callable[[PhaseRecord], bool], examination: Examination
) -> Graded:
    """Not graded: the run has no such test, or no I/O completed in it."""
    rows = () if facts.imported else facts.run.measured
    void = next((row for row in rows if kind(row) and not row.measurement.ios), None)
    return _without(code, why) if void is None else _unusable(code, void, examination)


def _unusable(code: AspectCode, record: PhaseRecord, examination: Examination) -> Graded:
    trust = examination.trust[record.phase.name]
    why_not = f"trust in {record.phase.name} is {trust.grade}. {trust.reason}".strip()
    return pick.ungraded(code, why_not, (record.phase.name,))


def _without(code: AspectCode, why: str, record: PhaseRecord | None = None) -> Graded:
    return pick.ungraded(code, f"{why}.", (record.phase.name,) if record else ())
