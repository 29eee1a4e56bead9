"""The result of a named experiment: the answer to its question, and the rows that it rests on."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Struct

from iocast.model.codes import SerialisationCode, VerdictCode
from iocast.model.results.shown import Number, shown
from iocast.model.results.trust import TrustReason

# What became of the requests of a row.
Sent = Literal["fragmentation", "consolidation", "as sent", "not seen"]


class _Row(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"):
    """`kind` says in JSON which of the rows it is."""


class UsualRow(_Row, frozen=True, kw_only=True, tag="usual"):
    """A test over all its rounds."""

    test: Annotated[str, shown("row")]
    rounds: Annotated[int, shown("rounds", "count", spare=2)]
    rate_per_s: Annotated[Number, shown("IOPS", "rate")]
    moved_bytes_per_s: Annotated[Number, shown("MB/s", "bytes_per_s")]
    mean_ns: Annotated[Number, shown("mean", "duration")]
    p50_ns: Annotated[Number, shown("p50", "duration", spare=1)]
    p95_ns: Annotated[Number, shown("p95", "duration")]
    p99_ns: Annotated[Number, shown("p99", "duration")]


_OF_THE_DEVICE = shown("at the device", "share", explain="bytes moved by the device over bytes requested")


class AtDeviceRow(UsualRow, frozen=True, kw_only=True, tag="at_device"):
    """A test, and how much of it reached the device."""

    device_share: Annotated[Number | None, _OF_THE_DEVICE] = None


class ContentRow(UsualRow, frozen=True, kw_only=True, tag="content"):
    """Writes of one content."""

    times: Annotated[Number | None, shown("times unique", "decimal", explain="throughput over that of unique data")] = (
        None
    )


class DisturbedRow(UsualRow, frozen=True, kw_only=True, tag="disturbed"):
    """Reads before, during or after writes, or the writes themselves."""

    damage_share: Annotated[Number | None, shown("damage", "share", explain="IOPS lost against before")] = None
    quick_share: Annotated[
        Number | None, shown("fast reads", "share", explain="reads within twice the fastest tenth before")
    ] = None


class ArmRow(_Row, frozen=True, kw_only=True, tag="arm"):
    """Two readers together, side by side or at opposite ends."""

    test: Annotated[str, shown("two readers")]
    ios: Annotated[int, shown("reads", "count")]
    each_ns: Annotated[Number, shown("ms per I/O", "duration", explain="elapsed time over the reads of both")]
    waited_ns: Annotated[Number, shown("response time", "duration", explain="of a read of one reader")]
    slower_share: Annotated[Number | None, shown("slower than side by side", "share")] = None
    moved_bytes_per_s: Annotated[Number, shown("MB/s", "bytes_per_s")]


class ZoneRow(_Row, frozen=True, kw_only=True, tag="zone"):
    """Reads in a zone, with both readings of "milliseconds per I/O": elapsed over all reads, and the response time of
    one user.
    """

    test: Annotated[str, shown("row")]
    ios: Annotated[int, shown("reads", "count")]
    each_ns: Annotated[Number, shown("ms per I/O", "duration", explain="elapsed time over the reads of all users")]
    waited_ns: Annotated[Number, shown("response time", "duration", explain="of a read of one user")]
    slower_share: Annotated[Number | None, shown("slower than the first part", "share")] = None
    moved_bytes_per_s: Annotated[Number, shown("MB/s", "bytes_per_s")]


class ReadersRow(_Row, frozen=True, kw_only=True, tag="readers"):
    """What so many sequential readers reach together."""

    readers: Annotated[int, shown("readers", "count")]
    moved_bytes_per_s: Annotated[Number, shown("MB/s", "bytes_per_s")]
    each_bytes_per_s: Annotated[Number, shown("MB/s each", "bytes_per_s")]
    scaling: Annotated[Number, shown("speed-up", "decimal", explain="throughput over that of one reader")]
    efficiency_share: Annotated[Number, shown("efficiency", "share", explain="speed-up over the number of readers")]
    mean_ns: Annotated[Number, shown("mean", "duration")]
    device_share: Annotated[Number | None, _OF_THE_DEVICE] = None


class DirectWritesRow(_Row, frozen=True, kw_only=True, tag="direct_writes"):
    """Direct writes into one file system, or a control, by one engine."""

    where: Annotated[str, shown("on")]
    test: Annotated[str, shown("writes")]
    by: Annotated[str, shown("by")]
    requested: Annotated[int, shown("requested", "count", explain="outstanding I/Os")]
    device: Annotated[Number | None, shown("at the device", "decimal", explain="mean queue depth of the device")] = None
    tasks: Annotated[
        int | None, shown("threads", "count", explain="of the load generator; a ring needs one for all I/Os")
    ] = None
    rate_per_s: Annotated[Number, shown("IOPS", "rate")]
    mean_ns: Annotated[Number, shown("mean", "duration")]
    verdict: Annotated[SerialisationCode, shown("verdict", "code")]
    kernel: str
    mount: str | None = None  # its options


class ReadBackRow(_Row, frozen=True, kw_only=True, tag="read_back"):
    """How many blocks that were read back are of a kind."""

    what: Annotated[str, shown("blocks")]
    count: Annotated[int, shown("count", "count")]


class NamesRow(_Row, frozen=True, kw_only=True, tag="names"):
    """Operations on names by so many users."""

    test: Annotated[str, shown("operation")]
    users: Annotated[int, shown("users", "count")]
    rate_per_s: Annotated[Number | None, shown("ops/s", "rate")] = None
    scale: Annotated[
        Number | None, shown("of one\nuser", "decimal", explain="operations a second over those of one user")
    ] = None
    p50_ns: Annotated[Number | None, shown("p50", "duration")] = None
    p99_ns: Annotated[Number | None, shown("p99", "duration")] = None
    took_ns: Annotated[
        Number | None, shown("took", "duration", explain="of a row that ends with its tree", spare=1)
    ] = None
    errors: Annotated[int | None, shown("errors", "count")] = None


class StretchRow(_Row, frozen=True, kw_only=True, tag="stretch"):
    """The reads of a stretch of time."""

    from_ns: Annotated[Number, shown("from", "duration")]
    reads: Annotated[int, shown("reads", "count")]
    mean_ns: Annotated[Number, shown("mean", "duration")]
    p50_ns: Annotated[Number, shown("p50", "duration")]
    p95_ns: Annotated[Number, shown("p95", "duration")]
    max_ns: Annotated[Number, shown("max", "duration")]


class RequestsRow(_Row, frozen=True, kw_only=True, tag="requests"):
    """The size of requests at both ends."""

    test: Annotated[str, shown("row")]
    asked_bytes: Annotated[int, shown("submitted", "bytes")]
    device_bytes: Annotated[Number | None, shown("at the device", "bytes")] = None
    times: Annotated[Number | None, shown("ratio", "ratio", explain="size at the device over submitted size")] = None
    merged_share: Annotated[Number | None, shown("merged", "share")] = None
    limit_bytes: Annotated[int | None, shown("largest request", "bytes", explain="max_sectors_kb of the device")] = None
    verdict: Annotated[Sent, shown("verdict")]


class WorkingSetRow(_Row, frozen=True, kw_only=True, tag="working_set"):
    """Random reads over a part of the target."""

    set_bytes: Annotated[int, shown("working set", "bytes")]
    where: Annotated[str, shown("distribution")]
    mean_ns: Annotated[Number, shown("mean", "duration")]
    rate_per_s: Annotated[Number, shown("IOPS", "rate")]
    seek_ns: Annotated[Number, shown("over the smallest", "duration")]
    fitted_ns: Annotated[
        Number | None, shown("seek model", "duration", explain="base + span x 8/15 x sqrt(part of the whole)")
    ] = None
    p99_ns: Annotated[Number, shown("p99", "duration", spare=1)]


class CacheStateRow(_Row, frozen=True, kw_only=True, tag="cache_state"):
    """The same statements with empty caches, or with full ones; shares are of the blocks that they asked for."""

    test: Annotated[str, shown("caches")]
    statements: Annotated[int, shown("statements", "count")]
    mean_ns: Annotated[Number, shown("statement\nmean", "duration")]
    p99_ns: Annotated[Number | None, shown("statement\np99", "duration")] = None
    read_mean_ns: Annotated[
        Number | None, shown("read\nmean", "duration", explain="by the engine's own clock, of what its buffers lacked")
    ] = None
    engine_cache_share: Annotated[Number | None, shown("engine\ncache", "share")] = None
    page_cache_share: Annotated[Number | None, shown("page\ncache", "share")] = None
    storage_share: Annotated[Number | None, shown("storage", "share")] = None
    storage_blocks: Annotated[int | None, shown("blocks from\nstorage", "count")] = None


ExperimentRow = (
    UsualRow
    | AtDeviceRow
    | ContentRow
    | DisturbedRow
    | ArmRow
    | ZoneRow
    | ReadersRow
    | DirectWritesRow
    | ReadBackRow
    | NamesRow
    | StretchRow
    | RequestsRow
    | CacheStateRow
    | WorkingSetRow
)


class ExperimentResult(Struct, frozen=True, kw_only=True):
    """The answer of a named experiment, and its own rows, which are all of one kind."""

    answer: VerdictCode
    experiment: tuple[ExperimentRow, ...]
    trust: tuple[TrustReason, ...] = ()  # why the rows that it was measured by have their letters
