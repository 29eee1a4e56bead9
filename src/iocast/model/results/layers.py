"""The storage below the rows of a card: its devices, what was counted on each layer, and where the time went."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from iocast.model.codes import LostTimeCode, SerialisationCode
from iocast.model.results.shown import Number, shown
from iocast.model.workload import Op


class LayerRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A layer of the device stack."""

    layer: Annotated[str, shown("device")]
    level: int  # how many layers stand above it
    lower: tuple[str, ...]
    kind: Annotated[str, shown("kind")]
    size_bytes: Annotated[Number | None, shown("size", "bytes", spare=2)] = None
    scheduler: Annotated[str | None, shown("scheduler", spare=1)] = None
    write_cache: Annotated[str | None, shown("write cache", spare=1)] = None
    spins: Annotated[bool | None, shown("rotational", spare=1)] = None
    queue_depth: Annotated[
        int | None, shown("queue\ndepth", "count", explain="requests that the kernel queues", spare=3)
    ] = None
    max_io_bytes: Annotated[Number | None, shown("max I/O", "bytes", spare=3)] = None
    link: Annotated[str | None, shown("link", spare=4)] = None
    model: Annotated[str | None, shown("model", spare=5)] = None


class TimeRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the time of a row went; means, but where a percentile is named."""

    phase: Annotated[str, shown("row")]
    op: Annotated[Op, shown("op")]
    response_ns: Annotated[Number | None, shown("response\ntime", "duration")] = None
    unsent_ns: Annotated[
        Number | None,
        shown("submit\ndelay", "duration", explain="due but not submitted yet: the backlog of an open loop"),
    ] = None
    system_ns: Annotated[
        Number | None,
        shown("system", "duration", explain="service time outside the kernel queue and the device"),
    ] = None
    queue_ns: Annotated[Number | None, shown("kernel\nqueue", "duration")] = None
    device_ns: Annotated[Number | None, shown("device", "duration")] = None
    queue_p99_ns: Annotated[Number | None, shown("queue\np99", "duration", spare=2)] = None
    device_p99_ns: Annotated[Number | None, shown("device\np99", "duration", spare=1)] = None
    generator_share: Annotated[
        Number | None,
        shown("test\nCPU", "share", explain="of one CPU, kernel workers and observers included", spare=5),
    ] = None
    cpu_per_io_ns: Annotated[
        Number | None,
        shown("CPU per\nI/O", "duration", explain="of the test, its system calls included", spare=6),
    ] = None
    requests: Annotated[int | None, shown("requests\ntraced", "count", spare=3)] = None
    watched_share: Annotated[Number | None, shown("time\ntraced", "share", spare=4)] = None
    size_ratio: Number | None = None
    lost_events: int | None = None
    inexact: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()


class RowLayersRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The load, its calls, and the block layer, request and driver below it; `code`: the layer that loses the time."""

    phase: Annotated[str, shown("row")]
    who: Annotated[str, shown("whose")]
    op: Annotated[str, shown("op")]
    rate_per_s: Annotated[
        Number | None, shown("IOPS", "rate", explain="of the load, or as the database counts its reads")
    ] = None
    mean_ns: Annotated[
        Number | None,
        shown("mean", "duration", explain="service time of the load, or time of a read of the database"),
    ] = None
    call_rate_per_s: Annotated[Number | None, shown("calls/s", "rate", spare=4)] = None
    call_mean_ns: Annotated[
        Number | None,
        shown("call", "duration", explain="a system call, or an I/O of io_uring, from entry to end"),
    ] = None
    block_rate_per_s: Annotated[Number | None, shown("block\nlayer/s", "rate", spare=3)] = None
    block_mean_ns: Annotated[
        Number | None, shown("block\nlayer", "duration", explain="a bio, from its arrival to its end")
    ] = None
    request_mean_ns: Annotated[Number | None, shown("request", "duration", explain="as iostat's await", spare=2)] = None
    driver_mean_ns: Annotated[
        Number | None, shown("device", "duration", explain="from the hand-over to the driver to the end")
    ] = None
    code: Annotated[LostTimeCode | None, shown("time\nlost in")] = None
    verdict: str | None = None
    refuted_by: str | None = None
    traced_share: Annotated[Number | None, shown("time\ntraced", "share", spare=1)] = None


class DeviceRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What iostat, sar, dstat or collectl saw of a device: means over the intervals of an imported run. Where a table
    states how many I/Os were requested, `verdict` says whether the device got them at the same time.
    """

    device: Annotated[str, shown("device")]
    intervals: Annotated[int, shown("intervals", "count", spare=5)]
    ios_per_s: Annotated[Number | None, shown("IOPS", "rate", spare=1)] = None
    reads_per_s: Annotated[Number | None, shown("read\nIOPS", "rate")] = None
    writes_per_s: Annotated[Number | None, shown("write\nIOPS", "rate")] = None
    flushes_per_s: Number | None = None
    read_bytes_per_s: Annotated[Number | None, shown("read\nMB/s", "bytes_per_s")] = None
    write_bytes_per_s: Annotated[Number | None, shown("write\nMB/s", "bytes_per_s")] = None
    size_bytes: Annotated[Number | None, shown("size", "bytes", spare=2)] = None
    read_size_bytes: Annotated[Number | None, shown("read\nsize", "bytes", spare=4)] = None
    write_size_bytes: Annotated[Number | None, shown("write\nsize", "bytes", spare=4)] = None
    await_ns: Annotated[Number | None, shown("await", "duration")] = None
    read_await_ns: Annotated[Number | None, shown("read\nawait", "duration")] = None
    write_await_ns: Annotated[Number | None, shown("write\nawait", "duration")] = None
    flush_await_ns: Annotated[Number | None, shown("flush\nawait", "duration", spare=6)] = None
    asked_depth: Annotated[Number | None, shown("requested", "count", explain="outstanding I/Os")] = None
    queue_mean: Annotated[Number | None, shown("queue", "decimal", explain="requests waiting or in service")] = None
    tasks: Annotated[Number | None, shown("tasks", "count", explain="of the load generator")] = None
    verdict: Annotated[SerialisationCode | None, shown("verdict", "code")] = None
    queue_most: Annotated[
        Number | None, shown("max\nqueue", "decimal", explain="the highest mean of one interval", spare=3)
    ] = None
    util_percent: Annotated[Number | None, shown("%util", "decimal")] = None
