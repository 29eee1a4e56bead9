"""The records of one label as moments of a tape: cumulative counts by the upper bound of their bucket.

Where any count fell, or a bucket with counts is listed no longer, the counters began anew: that interval is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime

from iocast.metrics import EPOCH, LATENCY_MAP, bucket
from iocast.model.live.moment import Moment, moment_of
from iocast.model.run import Sample
from iocast.tools.foreign_numbers import moment_ns
from iocast.tools.latency_map.latency_records import Record, edges_ns, span_us
from iocast.tools.source_files import refuse

_EPOCH_US = 1_000_000_000_000_000  # microseconds above this (2001) are since 1970; others since a start of their own
_CLOCKS = ("%Y %b %d %H:%M:%S", "%Y-%m-%d %H:%M:%S", "%d-%b-%y %I.%M.%S %p", "%d-%b-%y %I.%M.%S %p %z")


def record_moments(path: str, records: Sequence[Record]) -> tuple[Moment, ...]:
    """A moment for each record. Raises SourceError where they go back in time."""
    at_ns = began_ns(records[0])
    found = []
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
        found.append(moment_of(at_ns, _samples(at_ns, record.label, epoch, known), number))
        before = record
    return tuple(found)


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
    found: dict[int, int] = {}
    for bound, count in record.counts.items():
        upper_ns = edges_ns(path, record, bound)[1]
        found[upper_ns] = found.get(upper_ns, 0) + count
    return found


def _samples(at_ns: int, label: str, epoch: int, counts: dict[int, int]) -> Iterator[Sample]:
    yield Sample(at_ns, LATENCY_MAP, "", EPOCH, epoch)
    for upper_ns, count in sorted(counts.items()):
        yield Sample(at_ns, LATENCY_MAP, label, bucket(upper_ns), count)
