"""Latency records of DTrace, SystemTap, bpf and Oracle, as LatencyMap tools pass them on.

What it is: records between <begin record> and <end record> with a timestamp, a unit, a label, and a histogram in
powers of two: rows of DTrace's quantize(), or "bound,count" lines.
What is read: counts are cumulative, so a label's row is its last record minus its first, over the time between them
(also over midnight, where Oracle's scripts count from 0 again). Three records or more of one label are a tape, too:
`iocast top`, `iocast watch latencymap --tape` and `iocast report` play it; where its counters began anew, that interval
is unknown. Files given together are parts of one tape, in the order of their times. Equal bounds in a record are of
several instances of a cluster: they are added up. A bound of DTrace, SystemTap and bpf is the lower edge of its bucket,
one of Oracle the upper edge (also where only the label names Oracle's view). `iocast report --format latencymap` writes
such records.
What it cannot see: users, sizes, bytes, and any mean.
What is refused: records that do not say in which unit; bounds of an unknown source; times that go back. Where there is
no tape: records that do not say whether they are reads or writes, and counts that fall. A truncated record is left out
with a warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import pairwise
from statistics import median

from msgspec.structs import replace

from iocast.errors import SourceError
from iocast.metrics import EPOCH, LATENCY_MAP, bucket
from iocast.model.live.moment import Moment, moment_of
from iocast.model.run import Blind, Run, Sample, Source, Tape
from iocast.model.stated import Bucket, Coarse
from iocast.model.workload import Closed, Op
from iocast.text import counted
from iocast.tools.foreign_numbers import moment_ns
from iocast.tools.latency_map.latency_records import Record, edges_ns, is_record, records, span_us
from iocast.tools.source_files import Head, read_text, refuse
from iocast.tools.stated_rows import OpFigures, Row, run, stated

_EPOCH_US = 1_000_000_000_000_000  # microseconds above this (2001) are since 1970; others since a start of their own
_CLOCKS = ("%Y %b %d %H:%M:%S", "%Y-%m-%d %H:%M:%S", "%d-%b-%y %I.%M.%S %p", "%d-%b-%y %I.%M.%S %p %z")


def record_moments(path: str, records: Sequence[Record]) -> tuple[Moment, ...]:
    """A moment for each record. Raises SourceError where they go back in time."""
    at_ns = began_ns(records[0])
    moments = []
    epoch, known = 0, dict[int, int]()
    before: Record | None = None
    for number, record in enumerate(records):
        counts = _counts(path, record)
        if before is not None:
            step_us = span_us(before.moment_us or 0, record.moment_us or 0)
            if step_us <= 0:
                raise refuse(path, record.line, "its timestamp is not after that of the record before it")
            at_ns += step_us * 1000
        if any(counts.get(bound, 0) < count for bound, count in known.items()):
            epoch, known = epoch + 1, {}
        known = {**dict.fromkeys(known, 0), **counts}
        moments.append(moment_of(at_ns, _samples(at_ns, record.label, epoch, known), number))
        before = record
    return tuple(moments)


def began_ns(record: Record) -> int:
    """When a record was taken, since 1970; 0 where it only says since when its own clock counts."""
    moment_us = record.moment_us or 0
    if moment_us >= _EPOCH_US:
        return moment_us * 1000
    for form in _CLOCKS:
        with suppress(ValueError, OverflowError):
            return moment_ns(datetime.strptime(_whole_seconds(record.clock), form).timestamp())
    return 0


def _whole_seconds(clock: str) -> str:
    """Without the fraction of a second: Oracle's has as many figures as it likes."""
    words = clock.split(" ")
    return " ".join(word.rsplit(".", 1)[0] if word.count(".") == 3 else word for word in words)


def _counts(path: str, record: Record) -> dict[int, int]:
    counts: dict[int, int] = {}
    for bound, count in record.counts.items():
        upper_ns = edges_ns(path, record, bound)[1]
        counts[upper_ns] = counts.get(upper_ns, 0) + count
    return counts


def _samples(at_ns: int, label: str, epoch: int, counts: dict[int, int]) -> Iterator[Sample]:
    yield Sample(at_ns, LATENCY_MAP, "", EPOCH, epoch)
    for upper_ns, count in sorted(counts.items()):
        yield Sample(at_ns, LATENCY_MAP, label, bucket(upper_ns), count)


_TOOL = "latency records"
_TAPE = 3  # records: two say what happened between them, and a card says that
_OPS: tuple[tuple[str, Op], ...] = (("write", "write"), ("read", "read"))
_UNSEEN = Blind(LATENCY_MAP, "records have neither sizes nor sums of times: means are estimated from the buckets")
_NO_DATE = "no record has a date that can be read: times count from 1970"


def sniff(head: Head) -> bool:
    """A record begins."""
    return is_record(head.text)


def read(paths: tuple[str, ...]) -> Run:
    """Each label of a file as a row: what happened between its first and its last record. Raises SourceError."""
    warnings: list[str] = []
    files = [(path, own) for path in paths for own in _by_label(records(path, read_text(path), warnings))]
    labels = {own[0].label for _, own in files}
    if len(labels) == 1 and all(len(own) >= _TAPE for _, own in files):
        return _tape(paths, files, warnings)
    return run(Source(tool=_TOOL, files=paths), [_row(path, own) for path, own in files], warnings=warnings)


def _by_label(record_list: list[Record]) -> list[list[Record]]:
    """The records of each label: several series may stand in one file."""
    labels: dict[str, list[Record]] = {}
    for each in record_list:
        labels.setdefault(each.label, []).append(each)
    return [*labels.values()]


def _tape(paths: tuple[str, ...], files: list[tuple[str, list[Record]]], warnings: list[str]) -> Run:
    reels = [(path, own, record_moments(path, own)) for path, own in files]
    reels.sort(key=lambda reel: reel[2][0].time_ns)
    for (before, _, earlier), (after, _, later) in pairwise(reels):
        if later[0].time_ns <= earlier[-1].time_ns:
            raise SourceError(f"{before} and {after} overlap in time", "import each by itself")
    gaps = [after.time_ns - before.time_ns for _, _, moments in reels for before, after in pairwise(moments)]
    label = reels[0][1][0].label or _TOOL
    if not began_ns(reels[0][1][0]):
        warnings.append(f"{reels[0][0]}: {_NO_DATE}")
    tape_run = run(
        Source(tool=_TOOL, files=paths), [_reel(path, own, each) for path, own, each in reels], warnings=warnings
    )
    return replace(
        tape_run,
        plan=replace(tape_run.plan, target=replace(tape_run.plan.target, path=label)),
        tape=Tape(interval_ns=round(median(gaps)), sources=(label,)),
        blind=(_UNSEEN,),
    )


def _reel(path: str, own: list[Record], moments: tuple[Moment, ...]) -> Row:
    """The records of a file: a row of reads or writes where its label says which and its counts only grew."""
    samples = tuple(sample for moment in moments for sample in moment.samples)
    fell = any(
        after.counts.get(bound, 0) < count for before, after in pairwise(own) for bound, count in before.counts.items()
    )
    if _op(own[-1].label.lower()) is not None and not fell:
        return replace(_row(path, own), started_unix_ns=moments[0].time_ns, samples=samples)
    return Row(
        name=own[0].label or counted(len(own), "record"),
        test="watch",
        ops=(),
        elapsed_ns=moments[-1].time_ns - moments[0].time_ns,
        arrival=Closed(),
        started_unix_ns=moments[0].time_ns,
        samples=samples,
        role="probe",
    )


def _row(path: str, records: list[Record]) -> Row:
    first, last = records[0], records[-1]
    alone = len(records) == 1
    if last.moment_us is None or first.moment_us is None:
        raise refuse(path, last.line, "a record without timestamp or unit")
    op = _op(last.label.lower())
    if op is None:
        raise refuse(path, last.line, f'the label "{last.label}" says neither read nor write')
    buckets = []
    for bound, count in sorted(last.counts.items()):
        grown = count - (0 if alone else first.counts.get(bound, 0))
        if grown < 0:
            raise refuse(path, last.line, f"the count of bucket {bound} fell: the counters were reset in between")
        low_ns, high_ns = edges_ns(path, last, bound)
        buckets += [Bucket(low_ns, high_ns, grown)] if grown else []
    total = round(sum(each.weight for each in buckets))
    times = Coarse(total=total, buckets=tuple(buckets), whole=total)
    span_ns = span_us(first.moment_us, last.moment_us) * 1000
    if span_ns < 0:
        raise refuse(path, last.line, "its timestamp lies before that of the first record")
    return Row(
        name=last.label or op,
        test=op,
        ops=(OpFigures(op=op, ios=total, bytes=0, times=stated(times)),),
        elapsed_ns=1_000_000_000 if alone else span_ns,
        derived=("size", *(("length",) if alone else ())),
    )


def _op(label: str) -> Op | None:
    """The operation that a label names: with its last word, as our own records, or anywhere."""
    last = label.rpartition(" ")[2]
    return next((op for word, op in _OPS if word == last), next((op for word, op in _OPS if word in label), None))
