"""The result of a tape of a live watch: what devices, layers, events, sessions and databases did in all of it."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from iocast.model.codes import ClockCode, WaitKindCode
from iocast.model.results.shown import Number, shown


class WatchedDevice(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A device over the whole tape."""

    device: Annotated[str, shown("device")]
    reads_per_s: Annotated[Number | None, shown("reads/s", "rate")] = None
    read_bytes_per_s: Annotated[Number | None, shown("read", "bytes_per_s")] = None
    read_await_ns: Annotated[Number | None, shown("await", "duration")] = None
    writes_per_s: Annotated[Number | None, shown("writes/s", "rate")] = None
    written_bytes_per_s: Annotated[Number | None, shown("written", "bytes_per_s")] = None
    write_await_ns: Annotated[Number | None, shown("await", "duration")] = None
    queue: Annotated[Number | None, shown("queue", "decimal")] = None
    busy_share: Annotated[Number | None, shown("busy", "share")] = None


class WatchedLayer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An operation in a layer that I/Os pass, by the clock of that layer. `where` is a device; null of system calls."""

    layer: Annotated[ClockCode, shown("layer")]
    op: Annotated[str, shown("operation")]
    where: Annotated[str | None, shown("device")] = None
    rate_per_s: Annotated[Number, shown("per s", "rate")]
    throughput_bytes_per_s: Annotated[Number | None, shown("MB/s", "bytes_per_s")] = None
    size_bytes: Annotated[Number | None, shown("mean size", "bytes")] = None
    mean_ns: Annotated[Number | None, shown("mean", "duration")] = None


class WatchedEvent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The latencies of an event of a database, or of a label of latency records. A share of them is below a time; null
    where it ends above the last bound that the source has.
    """

    observer: str
    subject: Annotated[str, shown("event")]
    rate_per_s: Annotated[Number | None, shown("per s", "rate")] = None
    count: Annotated[int, shown("count", "count")]
    mean_ns: Annotated[Number | None, shown("mean", "duration")] = None
    half_ns: Annotated[Number | None, shown("half below", "duration")] = None
    most_ns: Annotated[Number | None, shown("99% below", "duration")] = None  # 99%


class ActiveShare(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A wait, a statement or a session: its share of all that was found active, and how many were on average."""

    what: Annotated[str, shown("what")]
    share: Annotated[Number, shown("share", "share")]
    sessions: Annotated[Number, shown("sessions", "decimal")]


class DatabaseActivity(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the sessions of a database did, from `polls` looks at them."""

    database: str
    polls: int
    active_mean: Number
    waits: tuple[ActiveShare, ...]
    statements: tuple[ActiveShare, ...]
    sessions: tuple[ActiveShare, ...]


class PostgresqlFigure(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A figure of PostgreSQL with its unit, or a time."""

    what: Annotated[str, shown("what")]
    value: Annotated[Number | None, shown("mean", "decimal")] = None
    unit: Annotated[str | None, shown("unit")] = None
    wait_ns: Annotated[Number | None, shown("mean wait, ms", "milliseconds")] = None


class OracleWaits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """I/O waits of one kind, over all instances."""

    wait: Annotated[WaitKindCode, shown("what")]
    rate_per_s: Annotated[Number, shown("per s", "rate")]
    wait_ns: Annotated[Number | None, shown("mean wait, ms", "milliseconds")] = None


class AsmDisk(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A disk of ASM; no disk: its whole group."""

    instance: Annotated[str, shown("instance")]
    group: Annotated[str, shown("group")]
    fail_group: Annotated[str | None, shown("failure group", spare=1)] = None
    disk: Annotated[str | None, shown("disk")] = None
    reads_per_s: Annotated[Number | None, shown("reads/s", "rate")] = None
    read_bytes_per_s: Annotated[Number | None, shown("read", "bytes_per_s")] = None
    read_time_ns: Annotated[Number | None, shown("a read", "duration")] = None
    writes_per_s: Annotated[Number | None, shown("writes/s", "rate")] = None
    written_bytes_per_s: Annotated[Number | None, shown("written", "bytes_per_s")] = None
    write_time_ns: Annotated[Number | None, shown("a write", "duration")] = None


class OracleMetric(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A metric that Oracle itself works out, in its own unit: the mean over the looks."""

    what: Annotated[str, shown("metric")]
    unit: Annotated[str, shown("unit")]
    instance: Annotated[str, shown("instance")]
    value: Annotated[Number, shown("mean", "decimal")]
    no_latency: Annotated[bool, shown("note")]  # Oracle calls it a latency, and it is none


class Tape(Struct, frozen=True, kw_only=True):
    """All of it; nothing of a tape without two moments."""

    devices_seen: tuple[WatchedDevice, ...] = ()
    layers: tuple[WatchedLayer, ...] = ()
    events: tuple[WatchedEvent, ...] = ()
    activity: tuple[DatabaseActivity, ...] = ()
    pgmon: tuple[PostgresqlFigure, ...] = ()
    oramon: tuple[OracleWaits, ...] = ()
    asm: tuple[AsmDisk, ...] = ()
    sysmetric: tuple[OracleMetric, ...] = ()
