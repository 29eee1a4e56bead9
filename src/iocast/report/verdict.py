"""The verdict of a report card: what the storage does in plain words, and the one thing one must know."""

from __future__ import annotations

from collections.abc import Iterator

from iocast.diagnose.thresholds import worst
from iocast.model.finding import Examination, Grade, Trust
from iocast.model.histogram import Histogram
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import Closed, Op, Sequential
from iocast.report import format as text
from iocast.report.rows import published

SCAN_SIZE_BYTES = 64 << 10  # smaller sequential reads measure the path of one I/O, not a scan
DATABASE_BLOCK_BYTES = 8 << 10  # the size to speak of where several were measured

USABLE: tuple[Grade, ...] = ("A", "B", "C")  # what is graded worse is not put into words

FLUSHES: tuple[Op, ...] = ("fsync", "fdatasync")


def verdict(run: Run, examination: Examination) -> str:
    """A few plain sentences: reads, scans, commits, then how far to believe them."""
    usable = [each for each in run.measured if examination.trust[each.phase.name].grade in USABLE]
    said = [*_random_reads(usable), *_scans(usable), *_commits(usable)]
    if usable and not said:
        said = ["No plain random reads, scans or commits were measured: see the rows below."]
    return " ".join([*said, _belief(run, examination, usable)])


def _random_reads(records: list[PhaseRecord]) -> Iterator[str]:
    found = [each for each in records if _pure(each, "read") and not _is_sequential(each) and _is_closed(each)]
    if not found:
        return
    sizes = {_size(each) for each in found}
    size = DATABASE_BLOCK_BYTES if DATABASE_BLOCK_BYTES in sizes else min(sizes)
    found = [each for each in found if _size(each) == size]
    alone = min(found, key=lambda each: each.measurement.asked_depth)
    most = max(found, key=lambda each: each.measurement.rate_per_s)
    alongside = alone.measurement.asked_depth
    together = f" with {alongside} at once" if alongside > 1 else ""
    sentence = (
        f"A random {text.size(size)} read takes {_takes(alone.measurement.response('read'))}{together}"
        if alone.measurement.ios
        else ""
    )
    if most is not alone and most.measurement.rate_per_s > 1.1 * alone.measurement.rate_per_s:
        sentence += f"; {_who(most)} get {text.rate(most.measurement.rate_per_s)} of them a second"
    yield f"{sentence}."


def _scans(records: list[PhaseRecord]) -> Iterator[str]:
    found = [
        each for each in records if _pure(each, "read") and _is_sequential(each) and _size(each) >= SCAN_SIZE_BYTES
    ]
    if found:
        best = max(found, key=lambda each: each.measurement.bytes_per_s)
        speed = text.throughput_in_words(best.measurement.bytes_per_s)
        lanes = f" with {_who(best)}" if best.measurement.asked_depth > 1 else ""
        yield f"Scans run at {speed}{lanes}."


def _commits(records: list[PhaseRecord]) -> Iterator[str]:
    found = [each for each in records if _is_commit(each) and _is_closed(each)]
    if not found:
        return
    alone = min(found, key=lambda each: (each.measurement.asked_depth, _size(each)))
    flush = alone.measurement.response(*FLUSHES)
    size = text.size(_size(alone))
    if flush.total:
        yield f"The flush of a {size} commit takes {_takes(flush)}."
    else:
        yield f"A {size} commit takes {_takes(alone.measurement.response('write'))}."


def _belief(run: Run, examination: Examination, usable: list[PhaseRecord]) -> str:
    """How far to believe the rows, and the one thing behind the worst of them."""
    trusts = [examination.trust[each.phase.name] for each in run.measured]
    if not trusts:
        return "Nothing was measured."
    void = [trust for trust in trusts if trust.void]
    if void:
        others = len(trusts) - len(usable) - len(void)
        more = f" {_so_many(others, 'more row')} not to be used either." if others else ""
        rows = "Every row is" if len(void) == len(trusts) else f"{_so_many(len(void), 'row')}"
        return f"{rows} void: {_inside(void[0].void)}{more}"
    return _worst_of(trusts)


def _worst_of(trusts: list[Trust]) -> str:
    grade = worst(*(trust.grade for trust in trusts))
    if grade == "A":
        return "Every row has earned an A for trust."
    reasons = [trust.reason for trust in trusts if trust.grade == grade]
    where = "on every row" if len(reasons) == len(trusts) else f"on {len(reasons)} of {len(trusts)} rows"
    lead = f"Trust is {grade} {where}" if grade in USABLE else f"Do not use what is graded {grade} ({where})"
    return f"{lead}: {_inside(reasons[0])}"


def _so_many(number: int, noun: str) -> str:
    return f"{number} {noun} is" if number == 1 else f"{number} {noun}s are"


def _inside(sentence: str) -> str:
    """A sentence made fit to follow a colon; names in capitals (I/O, CPU) keep them."""
    return sentence if sentence[1:2].isupper() or sentence[1:2] == "/" else sentence[:1].lower() + sentence[1:]


def _takes(histogram: Histogram) -> str:
    half, most = published(histogram, 0.5), published(histogram, 0.99)
    if half is None:
        return f"{text.duration_in_words(histogram.mean_ns)} on average"
    tail = "" if most is None else f" (99 in 100 within {text.duration_in_words(most)})"
    return f"{text.duration_in_words(half)}{tail}"


def _who(record: PhaseRecord) -> str:
    users, depth = record.plan.users, record.plan.depth
    who = f"{users} user" + ("s" if users != 1 else "")
    return who if depth == 1 else f"{who} at depth {depth}"


def _is_commit(record: PhaseRecord) -> bool:
    workload = record.phase.workload
    flushed = workload.fsync_every > 0 or any(item.op in FLUSHES for item in workload.mix)
    only_writes = all(item.op != "read" for item in workload.mix) and workload.writes
    return only_writes and (workload.sync != "none" or flushed)


def _is_closed(record: PhaseRecord) -> bool:
    return isinstance(record.phase.workload.arrival, Closed)


def _is_sequential(record: PhaseRecord) -> bool:
    return isinstance(record.phase.workload.locality, Sequential)


def _pure(record: PhaseRecord, op: Op) -> bool:
    return all(item.op == op for item in record.phase.workload.mix) and record.measurement.ios > 0


def _size(record: PhaseRecord) -> int:
    return max((item.size_bytes for item in record.phase.workload.mix), default=0)
