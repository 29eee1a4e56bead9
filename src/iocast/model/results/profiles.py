"""The results of profiles: what a trace is like, how two traces differ, whether a made load is like its original."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from iocast.model.codes import (
    ConcurrencyCode,
    DistanceCode,
    LatencyBandCode,
    LikelyLayerCode,
    ResponsePartCode,
    WorkloadCode,
)
from iocast.model.profiling.characteristics import TraceOp
from iocast.model.results.shown import Number, shown

Mean = Annotated[Number | None, shown("mean", "duration")]
Half = Annotated[Number | None, shown("p50", "duration")]
Tail = Annotated[Number | None, shown("p99", "duration")]
Longest = Annotated[Number | None, shown("max", "duration")]


class OperationSize(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """I/Os of one operation and size; `others`: of all further ones together."""

    op: Annotated[TraceOp, shown("op", "code")]
    size_bytes: Annotated[int | None, shown("size")] = None
    events: Annotated[int, shown("I/Os", "count")]
    events_share: Annotated[Number, shown("share", "share")]
    bytes_share: Annotated[Number | None, shown("of bytes", "share", spare=1)] = None
    mean_ns: Mean = None
    p50_ns: Half = None
    p99_ns: Tail = None
    max_ns: Longest = None
    others: bool = False


class BusiestWindow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The busiest window of a width, beside the mean of the trace."""

    window_ns: Annotated[int, shown("window", "duration")]
    mean_per_s: Annotated[Number, shown("mean\nIOPS", "rate")]
    most_per_s: Annotated[Number, shown("busiest\nIOPS", "rate")]
    most_at_ns: int
    ratio: Annotated[Number, shown("busiest\nover mean", "ratio")]
    p99_per_s: Annotated[Number | None, shown("p99 of\nwindows", "rate", spare=1)] = None
    throughput_bytes_per_s: Annotated[Number | None, shown("busiest\nMB/s", "bytes_per_s")] = None
    empty_share: Annotated[Number, shown("empty", "share", spare=2)]


class WindowDispersion(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How bursty arrivals are on one scale of time."""

    window_ns: Annotated[int, shown("window", "duration")]
    index: Annotated[
        Number,
        shown("dispersion", "ratio", explain="variance over mean of the I/Os in a window: 1 random, above bursty"),
    ]
    windows: Annotated[int, shown("windows", "count")]


class ConcurrencyFigure(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A figure of how much was under way, or of who issued it."""

    code: Annotated[ConcurrencyCode, shown("concurrency")]
    value: Annotated[Number, shown("value", "ratio")]


class Sequentiality(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How sequential an operation is: in several streams, and as other tools count it."""

    op: Annotated[TraceOp, shown("op", "code")]
    sequential_share: Annotated[
        Number, shown("sequential\nI/Os", "share", explain="in runs of two or more, several streams at once")
    ]
    bytes_share: Annotated[Number, shown("sequential\nbytes", "share")]
    near_share: Annotated[Number, shown("with gaps\nto 64k", "share", spare=1)]
    naive_share: Annotated[
        Number, shown("after the\nlast I/O", "share", explain="as tools count that follow one stream a device")
    ]
    session_share: Annotated[Number, shown("after the\nsession's last", "share", spare=2)]
    random_share: Annotated[Number, shown("far from\nlast 32", "share", spare=2)]
    strided_share: Annotated[Number, shown("strided", "share", spare=3)]
    backwards_share: Annotated[Number, shown("backwards", "share", spare=3)]
    run: Annotated[Number | None, shown("I/Os in\na run", "decimal")] = None


class LongRun(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Long sequential runs that are alike; not `all_told`: there are more. No period: they are not regular."""

    target: Annotated[str | None, shown("run")] = None
    op: TraceOp
    runs: Annotated[int, shown("runs", "count")]
    run_bytes: Annotated[Number, shown("bytes", "bytes")]
    request_bytes: Annotated[Number, shown("I/O size", "bytes")]
    duration_ns: Annotated[Number | None, shown("lasts", "duration")] = None
    period_ns: Annotated[Number | None, shown("every", "duration")] = None
    all_told: bool


class BusiestBlocks(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a share of the blocks, the busiest ones, gets of all references."""

    blocks_share: Annotated[Number, shown("busiest", "share")]
    references_share: Annotated[Number, shown("gets", "share")]
    size_bytes: Annotated[Number, shown("size", "bytes")]


class BusyStretch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A stretch of a target that many I/Os go to. No target: the trace names none."""

    target: Annotated[str | None, shown("target")] = None
    offset_bytes: Annotated[int, shown("from", "bytes")]
    length_bytes: Annotated[int, shown("length", "bytes")]
    events_share: Annotated[Number, shown("of I/Os", "share")]
    read_share: Annotated[Number, shown("reads", "share")]


class WorkingSetSize(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The mean size of all blocks that are used within a window."""

    window_ns: Annotated[int, shown("within", "duration")]
    working_set_bytes: Annotated[Number, shown("working set", "bytes")]


class CacheMisses(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What misses in a cache of a size. `half_width_share` is null where the misses are exact."""

    cache_bytes: Annotated[int, shown("cache of", "bytes")]
    all_share: Annotated[Number, shown("misses", "share")]
    reads_share: Annotated[Number | None, shown("read misses", "share")] = None
    writes_share: Annotated[Number | None, shown("writes that\nreach storage", "share")] = None
    half_width_share: Annotated[
        Number | None, shown("±", "share", explain="95% interval of the misses; blank: exact")
    ] = None


class BlockReuse(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long until a block is used again, by what both uses are: "read_after_write"."""

    pair: Annotated[str, shown("pair")]
    share: Annotated[Number, shown("of repeats", "share")]
    p50_ns: Half
    p90_ns: Annotated[Number, shown("p90", "duration")]


class LatencyPeak(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A peak of the latencies of one operation and size, and what its time alone hints at; null near the resolution."""

    op: Annotated[TraceOp, shown("op", "code")]
    size_bytes: Annotated[int | None, shown("size", "bytes")] = None
    at_ns: Annotated[Number, shown("peak at", "duration")]
    share: Annotated[Number, shown("share", "share")]
    layer: Annotated[LikelyLayerCode | None, shown("may be")] = None


class LatencyBucket(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How many I/Os took less than a time and not less than the one before; null: more than the last bound."""

    op: TraceOp
    size_bytes: int | None = None
    upto_ns: Annotated[int | None, shown("below", "duration")] = None
    events: Annotated[int, shown("I/Os", "count")]
    events_share: Annotated[Number, shown("share", "share")]


class TargetOperation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """I/Os of one operation on one target. No target: the trace names none."""

    target: Annotated[str | None, shown("target")] = None
    op: Annotated[TraceOp, shown("op", "code")]
    events: Annotated[int, shown("I/Os", "count")]
    events_share: Annotated[Number, shown("share", "share")]
    span_bytes: Annotated[int | None, shown("spans", "bytes", spare=1)] = None
    mean_ns: Mean = None
    p50_ns: Half = None
    p99_ns: Tail = None
    max_ns: Longest = None


class EvenStretch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A stretch of the trace in which the rate stays about the same."""

    start_ns: Annotated[int, shown("from", "duration")]
    end_ns: Annotated[int, shown("to", "duration")]
    rate_per_s: Annotated[Number, shown("IOPS", "rate")]
    reads_share: Annotated[Number | None, shown("reads", "share")] = None
    throughput_bytes_per_s: Annotated[Number | None, shown("MB/s", "bytes_per_s")] = None
    latency_ns: Annotated[Number | None, shown("mean\nlatency", "duration")] = None


class ResponsePart(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part of the response time of traced sessions."""

    part: Annotated[ResponsePartCode, shown("part")]
    time_ns: Annotated[int, shown("time", "duration")]
    share: Annotated[Number, shown("of response time", "share")]


class EventWaits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All waits of an event; the times are of those whose length is known."""

    event: Annotated[str, shown("wait")]
    waits: Annotated[int, shown("waits", "count")]
    total_ns: Annotated[int | None, shown("total", "duration")] = None
    mean_ns: Annotated[Number | None, shown("mean", "duration")] = None
    most_ns: Annotated[int | None, shown("longest", "duration")] = None


class StatementTimes(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the calls of a statement took by themselves. No statement: the trace does not say which."""

    sql: Annotated[str | None, shown("statement")] = None
    calls: Annotated[int, shown("calls", "count")]
    elapsed_ns: Annotated[int, shown("elapsed", "duration", explain="without recursive calls")]
    cpu_ns: Annotated[int, shown("CPU", "duration")]
    waited_ns: Annotated[int, shown("waits", "duration")]
    unaccounted_ns: Annotated[int, shown("not accounted for", "duration")]


class ReadSource(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file of the trace, and what became of its lines."""

    path: Annotated[str, shown("file")]
    format: Annotated[str, shown("format")]
    lines: Annotated[int, shown("lines", "count")]
    accepted: Annotated[int, shown("accepted", "count")]
    ignored: Annotated[int, shown("ignored", "count")]
    rejected: Annotated[int, shown("rejected", "count")]
    events: Annotated[int, shown("I/Os", "count")]


class TraceProfile(Struct, frozen=True, kw_only=True):
    """What a trace is like; what it does not tell is empty."""

    operations: tuple[OperationSize, ...]
    peaks: tuple[BusiestWindow, ...]
    dispersion: tuple[WindowDispersion, ...]
    concurrency: tuple[ConcurrencyFigure, ...]
    sequentiality: tuple[Sequentiality, ...]
    scans: tuple[LongRun, ...]
    shares: tuple[BusiestBlocks, ...]
    hot_spots: tuple[BusyStretch, ...]
    working_sets: tuple[WorkingSetSize, ...]
    caches: tuple[CacheMisses, ...]
    pairs: tuple[BlockReuse, ...]
    modes: tuple[LatencyPeak, ...]
    latencies: tuple[LatencyBucket, ...]
    targets: tuple[TargetOperation, ...]
    phases: tuple[EvenStretch, ...]
    breakdown: tuple[ResponsePart, ...]
    wait_events: tuple[EventWaits, ...]
    statements: tuple[StatementTimes, ...]
    sources: tuple[ReadSource, ...]


class ComparedWorkload(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A figure of two workloads; a pattern is the share of sequential I/Os, a size the mean one."""

    code: Annotated[WorkloadCode, shown("workload")]
    op: TraceOp | None = None
    first_count: Annotated[int | None, shown("A", "count", column="first")] = None
    first_share: Annotated[Number | None, shown("A", "share", column="first")] = None
    first_bytes: Annotated[Number | None, shown("A", "bytes", column="first")] = None
    first_per_s: Annotated[Number | None, shown("A", "rate", column="first")] = None
    first_mean: Annotated[Number | None, shown("A", "ratio", column="first")] = None
    other_count: Annotated[int | None, shown("B", "count", column="other")] = None
    other_share: Annotated[Number | None, shown("B", "share", column="other")] = None
    other_bytes: Annotated[Number | None, shown("B", "bytes", column="other")] = None
    other_per_s: Annotated[Number | None, shown("B", "rate", column="other")] = None
    other_mean: Annotated[Number | None, shown("B", "ratio", column="other")] = None


class ComparedOperation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The latencies of one operation and size on both sides."""

    op: Annotated[TraceOp, shown("op", "code")]
    size_bytes: Annotated[int | None, shown("size", "bytes")] = None
    first_events: Annotated[int, shown("I/Os A", "count")]
    other_events: Annotated[int, shown("I/Os B", "count")]
    first_mean_ns: Annotated[Number, shown("mean A", "duration")]
    other_mean_ns: Annotated[Number, shown("mean B", "duration")]
    ratio: Annotated[Number, shown("B over A", "ratio")]
    first_p50_ns: Annotated[Number, shown("p50 A", "duration", spare=1)]
    other_p50_ns: Annotated[Number, shown("p50 B", "duration", spare=1)]
    first_memory_share: Annotated[Number, shown("< 64µs A", "share")]
    other_memory_share: Annotated[Number, shown("< 64µs B", "share")]


class BandShare(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much of the difference of two means lies in a band of latencies."""

    band: Annotated[LatencyBandCode, shown("latencies")]
    first_share: Annotated[Number, shown("I/Os A", "share")]
    other_share: Annotated[Number, shown("I/Os B", "share")]
    by_share_ns: Annotated[Number, shown("from other\nshares", "duration")]
    by_time_ns: Annotated[Number, shown("from other\ntimes", "duration")]


class LatencyCounts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How many I/Os took up to a time on both sides; null: more than the last one."""

    upto_ns: Annotated[int | None, shown("up to", "duration")] = None
    first: Annotated[int, shown("A", "count")]
    other: Annotated[int, shown("B", "count")]


class ProfileDifferences(Struct, frozen=True, kw_only=True):
    """Two profiles beside each other; reasons and latencies are of the operation that takes most of the time."""

    workloads: tuple[ComparedWorkload, ...]
    compared_operations: tuple[ComparedOperation, ...] = ()
    reasons: tuple[BandShare, ...] = ()
    compared_latencies: tuple[LatencyCounts, ...] = ()


class LoadDistance(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How far a made load is from its original in one respect; `accepted` is null where that is not judged."""

    code: Annotated[DistanceCode, shown("distance")]
    value: Annotated[Number, shown("generated", "ratio")]
    limit: Annotated[Number | None, shown("limit", "ratio")] = None
    noise: Annotated[Number | None, shown("two halves\nof the original", "ratio")] = None
    control: Annotated[Number | None, shown("random\ncontrol", "ratio")] = None
    accepted: Annotated[bool | None, shown("verdict")] = None
    control_accepted: bool | None = None


class Likeness(Struct, frozen=True, kw_only=True):
    """All distances."""

    distances: tuple[LoadDistance, ...]
