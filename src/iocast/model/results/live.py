"""An interval of a live watch, as a line of JSON has it: of all layers (`top`), and of traced requests (`blk`)."""

from __future__ import annotations

from msgspec import Struct

from iocast.model.block_times import BlockOp, SlowRequest
from iocast.model.codes import ClockCode, LostTimeCode
from iocast.model.results.shown import Number

Figure = str | int | float | None
Line = dict[str, Figure]  # the time of its end, time_ns, and the columns of a mode of `watch`, by their names


class LiveVerdict(Struct, frozen=True, kw_only=True):
    """The layer that loses the time. `lost_share` is of the interval; above 1 where several wait."""

    code: LostTimeCode
    says: str
    lost_share: Number | None


class LiveLayer(Struct, frozen=True, kw_only=True):
    """One layer of the kernel and what it was asked. `below_ns`: how many ended below that time, in powers of two.
    `mean_within`: how far the mean may be off, as a share of it, in 95 of 100 cases; 0 where all was traced.
    """

    layer: ClockCode
    operation: str
    device: str
    per_s: Number
    bytes_per_s: Number | None
    mean_ns: Number | None
    mean_within: Number | None
    below_ns: dict[int, int]


class LiveShare(Struct, frozen=True, kw_only=True):
    """One wait, statement or session: in how much of all that was found active, and how many sessions at a time."""

    subject: str
    share: Number
    active_mean: Number


class LiveDatabase(Struct, frozen=True, kw_only=True):
    """Sessions of a database that were active, looked at `polls` times."""

    polls: Number
    active_mean: Number
    waits: tuple[LiveShare, ...]
    statements: tuple[LiveShare, ...]
    sessions: tuple[LiveShare, ...]


class LiveInterval(Struct, frozen=True, kw_only=True):
    """`iocast top --json`: `devices` have the columns of `iostat -x`, `databases` are by their names; null: not looked
    at in this interval. `traced_share` is of the time: above a budget layers are watched in windows, and their counts
    stand for all; null: they are not watched. `lost_events`: records that the trace lost.
    """

    time_ns: int
    elapsed_ns: int
    traced_share: Number | None
    lost_events: int | None
    verdict: LiveVerdict
    devices: tuple[Line, ...]
    layers: tuple[LiveLayer, ...]
    databases: dict[str, LiveDatabase | None]


class BlockFigures(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Times of requests; only a count of 0 where there were none."""

    count: int
    min_ns: Number | None = None
    mean_ns: Number | None = None
    p50_ns: Number | None = None
    p99_ns: Number | None = None
    max_ns: Number | None = None


class TracedClass(Struct, frozen=True, kw_only=True):
    """Requests of an operation and a class of sizes: in the queue of the kernel, in the device, and both together."""

    op: BlockOp
    size_bytes: int
    ios: int
    bytes: int
    failed: int
    queue: BlockFigures
    device: BlockFigures
    total: BlockFigures


class TracedDevice(Struct, frozen=True, kw_only=True):
    """A disk: counts by powers of two are of times up to 1, 2, 4 and so on, each exact at its upper edge."""

    device: str
    number: str
    in_flight: int
    classes: tuple[TracedClass, ...]
    device_us_powers: tuple[int, ...]
    device_ms_powers: tuple[int, ...]
    total_us_powers: tuple[int, ...]
    total_ms_powers: tuple[int, ...]
    slow: tuple[SlowRequest, ...]
    slow_count: int


class TracedInterval(Struct, frozen=True, kw_only=True):
    """`iocast watch blk --json`: what was seen of the requests of all disks in an interval."""

    time_unix_ns: int
    elapsed_ns: int
    watched_ns: int
    lost_events: int
    unpaired: int
    devices: tuple[TracedDevice, ...]
