"""Latency records of DTrace, SystemTap, bpf and Oracle, as LatencyMap tools pass them on.

What it is: records between <begin record> and <end record> with a timestamp, a unit, a label, and a histogram in
powers of two: rows of DTrace's quantize(), or "bound,count" lines.
What is read: counts are cumulative, so a label's row is its last record minus its first, over the time between them
(also over midnight, where Oracle's scripts count from 0 again). Equal bounds in a record are of several instances of a
cluster: they are added up. A bound of DTrace, SystemTap and bpf is the lower edge of its bucket, one of Oracle the
upper edge (also where only the label names Oracle's view). `iocast report --format latencymap` writes such records.
What it cannot see: users, sizes, bytes, and any mean.
What is refused: records that do not say whether they are reads or writes, or in which unit; counts that fall; bounds
of an unknown source. A truncated record is left out with a warning.
"""

from __future__ import annotations

from iocast.formats.latency_map.latency_records import Record, is_record, records
from iocast.formats.source_files import Head, read_text, refuse
from iocast.imports.stated_rows import OpFigures, Row, run, stated
from iocast.model.run import Run, Source
from iocast.model.stated import Bucket, Coarse
from iocast.model.workload import Op

LOWER = ("dtrace", "systemtap", "stap", "bpf")
UPPER = ("oracle", "event_histogram", "histogram historical data from awr")
DAY_US = 86_400_000_000
_OPS: tuple[tuple[str, Op], ...] = (("write", "write"), ("read", "read"))


def sniff(head: Head) -> bool:
    """A record begins."""
    return is_record(head.text)


def read(paths: tuple[str, ...]) -> Run:
    """Each label of a file as a row: what happened between its first and its last record. Raises SourceError."""
    warnings: list[str] = []
    rows = [_row(path, own) for path in paths for own in _by_label(records(path, read_text(path), warnings))]
    return run(Source(tool="latency records", files=paths), rows, warnings=warnings)


def _by_label(found: list[Record]) -> list[list[Record]]:
    """The records of each label: several series may stand in one file."""
    labels: dict[str, list[Record]] = {}
    for each in found:
        labels.setdefault(each.label, []).append(each)
    return [*labels.values()]


def _row(path: str, records: list[Record]) -> Row:
    first, last = records[0], records[-1]
    alone = len(records) == 1
    if last.unit_ns is None or last.moment_us is None or first.moment_us is None:
        raise refuse(path, last.line, "a record without timestamp or unit")
    op = _op(last.label.lower())
    if op is None:
        raise refuse(path, last.line, f'the label "{last.label}" says neither read nor write')
    source = last.source or last.label.lower()
    lower = last.drawn or any(name in source for name in LOWER)
    if not lower and not any(name in source for name in UPPER):
        raise refuse(path, last.line, "its source is unknown, and so whether bounds are lower or upper edges")
    buckets = []
    for bound, count in sorted(last.counts.items()):
        grown = count - (0 if alone else first.counts.get(bound, 0))
        if grown < 0:
            raise refuse(path, last.line, f"the count of bucket {bound} fell: the counters were reset in between")
        low, high = (bound, bound * 2) if lower else (bound // 2, bound)
        buckets += [Bucket(low * last.unit_ns, high * last.unit_ns, float(grown))] if grown else []
    total = round(sum(each.weight for each in buckets))
    times = Coarse(total=total, buckets=tuple(buckets), whole=float(total))
    span_ns = _span_us(first.moment_us, last.moment_us) * 1000
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


def _span_us(first_us: int, last_us: int) -> int:
    """From one moment to the other: Oracle's scripts count from midnight, and begin again there."""
    if last_us < first_us - DAY_US // 2 and first_us < DAY_US:
        return last_us - first_us + DAY_US
    return last_us - first_us
