"""Whether the figures of a run can be true: what was changed by hand or by a bad disk is refused before it is used."""

from __future__ import annotations

from functools import cache
from typing import Any

from msgspec import Struct

from iocast.model.histogram import Histogram
from iocast.model.run import PhaseRecord, Run

MOST_INTERVALS = 4_000_000  # of a phase: seven weeks of seconds
MOST_PHASES = 20_000
_MOST = 1 << 64  # seeds go up to it; all that is counted stays below 2^63
_LAST_BUCKET = 1 << 15  # that of 2^64 ns and some
_COUNTED = ("_ns", "_bytes")
_COUNTS = frozenset({"ios", "bytes", "count", "total", "users", "depth"})


def fault_of(run: Run) -> str:
    """What cannot be true of a run, with the field; "" when nothing is found."""
    if fault := _fault(run, "run"):
        return fault
    if len(run.phases) > MOST_PHASES:
        return f"it has {len(run.phases)} phases, more than {MOST_PHASES}"
    for record in run.phases:
        if fault := _fault_of_phase(record):
            return f"phase {record.phase.name}: {fault}"
    return ""


def _fault_of_phase(record: PhaseRecord) -> str:
    interval_ns, issuing_ns = record.plan.interval_ns, record.measurement.issuing_ns
    if interval_ns <= 0:
        return f"its interval_ns is {interval_ns}"
    if issuing_ns // interval_ns > MOST_INTERVALS:
        return f"{issuing_ns // interval_ns} intervals exceed the limit"
    return ""


@cache
def _fields(kind: type[Struct]) -> tuple[tuple[str, bool], ...]:
    """The fields of a noun, and whether each counts something: then it is not negative."""
    return tuple((name, name in _COUNTS or name.endswith(_COUNTED)) for name in kind.__struct_fields__)


def _fault(value: Any, name: str, counts: bool = False) -> str:
    if isinstance(value, int):
        return f"{name} is {value}" if abs(value) >= _MOST or (counts and value < 0) else ""
    if isinstance(value, Histogram):
        if fault := _fault_of_histogram(value):
            return f"{name}: {fault}"
        return _fault((value.sum_ns, value.min_ns, value.max_ns, value.coarse), f"{name}_ns", counts=True)
    if isinstance(value, Struct):
        for field, counted in _fields(type(value)):
            if (inner := getattr(value, field)) and (fault := _fault(inner, field, counted)):
                return fault
    elif isinstance(value, tuple):
        for inner in value:
            if fault := _fault(inner, name, counts):
                return fault
    return ""


def fault_of_buckets(histogram: Histogram) -> str:
    """What cannot be true of the ends of a histogram's buckets; "" when nothing is found."""
    index, count = histogram.index, histogram.count
    if len(index) != len(count):
        return f"{len(index)} buckets with {len(count)} counts"
    return "a bucket is out of range" if index and (min(index) < 0 or max(index) > _LAST_BUCKET) else ""


def _fault_of_histogram(histogram: Histogram) -> str:
    index, count = histogram.index, histogram.count
    if (fault := fault_of_buckets(histogram)) or not index:
        return fault
    if index != tuple(sorted(set(index))):
        return "its buckets are not ascending"
    if min(count) < 0 or max(count) >= _MOST:
        return "a bucket count is negative or too large"
    return ""
