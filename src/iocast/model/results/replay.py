"""What a replay did with a trace: the times there and here, how late I/Os were issued, what was changed or left out."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Struct

from iocast.model.measurement import LeftOut
from iocast.model.results.shown import Number, shown
from iocast.model.workload import Op

_THERE = "service time in the trace"
_HERE = "here, from submission"


class ReplayedTime(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Times of an operation in the trace and here."""

    op: Annotated[Op, shown("op")]
    ios: Annotated[int, shown("I/Os", "count")]
    trace_p50_ns: Annotated[Number | None, shown("trace\np50", "duration", explain=_THERE)] = None
    trace_p99_ns: Annotated[Number | None, shown("trace\np99", "duration", explain=_THERE)] = None
    trace_may_be_cached_share: Annotated[
        Number | None,
        shown("trace may\nbe cached", "share", explain="system calls that are not known to be direct", spare=2),
    ] = None
    service_p50_ns: Annotated[Number | None, shown("service\np50", "duration", explain=_HERE)] = None
    service_p99_ns: Annotated[Number | None, shown("service\np99", "duration", explain=_HERE)] = None
    response_p99_ns: Annotated[
        Number | None, shown("response\np99", "duration", explain="here, from the time it was due", spare=1)
    ] = None


class IssueError(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The times of issue less those that the trace asked for."""

    ios: Annotated[int, shown("I/Os", "count")]
    p50_ns: Annotated[Number, shown("p50", "duration")]
    p99_ns: Annotated[Number, shown("p99", "duration")]
    max_ns: Annotated[Number, shown("max", "duration")]
    late_share: Annotated[Number, shown("over 1 ms", "exact_share")]
    generator_p99_ns: Annotated[
        Number | None,
        shown("of it generator\np99", "duration", explain="late although an outstanding I/O was free", spare=1),
    ] = None


class ReplayedRate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """I/Os a second in a span: issued in the trace, completed here."""

    at_ns: Annotated[int, shown("from", "duration")]
    trace_per_s: Annotated[Number, shown("IOPS\ntrace", "rate", explain="issued")]
    here_per_s: Annotated[Number | None, shown("IOPS\nhere", "rate", explain="completed")] = None


class ReplayChange(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Events that were left out, and why, or that were changed."""

    ios: Annotated[int, shown("events", "count")]
    change: Annotated[LeftOut | Literal["rounded", "moved", "independent"], shown("change")]


class Replayed(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The replay of one row."""

    phase: str
    events: int
    recorded_ns: Number
    times: tuple[ReplayedTime, ...] = ()
    issue_error: IssueError | None = None
    rates: tuple[ReplayedRate, ...] = ()
    changes: tuple[ReplayChange, ...] = ()
