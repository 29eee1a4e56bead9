"""Block times: what the kernel's block layer saw of the requests of a device, queue and device apart (blk/watch.rs)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from iocast.model.histogram import Histogram, merge

BlockOp = Literal["read", "write", "trim", "flush", "other"]
Part = Literal["queue", "device", "total"]


class DeviceNumber(Struct, frozen=True):
    """A device by the kernel's number."""

    major: int
    minor: int


class BlockClass(Struct, frozen=True, kw_only=True):
    """Requests of one operation and size class. `size_bytes` is the largest of the class, 0 for no data."""

    op: BlockOp
    size_bytes: int
    ios: int  # requests that are done; one request may carry several I/Os, or a part of one
    bytes: int
    failed: int = 0
    queue: Histogram  # from insert to issue, only of those that were in a queue: the others went straight on
    device: Histogram  # from issue to completion
    total: Histogram  # from insert (issue where there was none) to completion

    def part(self, part: Part) -> Histogram:
        """The histogram of one part of the way."""
        return {"queue": self.queue, "device": self.device, "total": self.total}[part]


class SlowRequest(Struct, frozen=True, kw_only=True):
    """A request that took longer than what was asked to be told of."""

    at_ns: int  # its completion, on the monotonic clock
    op: BlockOp
    sector: int  # of 512 bytes
    size_bytes: int
    queue_ns: int
    device_ns: int


class BlockDevice(Struct, frozen=True, kw_only=True):
    """What one device did. The counts by powers of two are exact at their edges, which belong to the lower one."""

    device: DeviceNumber
    classes: tuple[BlockClass, ...] = ()
    device_us_powers: tuple[int, ...] = ()  # device times up to 1, 2, 4 … µs
    device_ms_powers: tuple[int, ...] = ()
    total_us_powers: tuple[int, ...] = ()  # queue and device together
    total_ms_powers: tuple[int, ...] = ()
    slow: tuple[SlowRequest, ...] = ()
    slow_count: int = 0
    in_flight: int = 0
    name: str = ""  # "vda"

    def ios(self, *ops: BlockOp) -> int:
        """Requests done, of the given operations (of all when none is given)."""
        return sum(each.ios for each in self._of(ops))

    def size_mean_bytes(self, *ops: BlockOp) -> float | None:
        """Mean size of those requests; None when there were none."""
        ios = self.ios(*ops)
        return sum(each.bytes for each in self._of(ops)) / ios if ios else None

    def times(self, part: Part, *ops: BlockOp) -> Histogram:
        """How long they took in a part of the way."""
        return merge(each.part(part) for each in self._of(ops))

    def _of(self, ops: tuple[BlockOp, ...]) -> list[BlockClass]:
        return [each for each in self.classes if not ops or each.op in ops]


class BlockTimes(Struct, frozen=True, kw_only=True):
    """What was seen in a stretch of time. Less was watched than passed where watching all would have cost too much."""

    elapsed_ns: int
    watched_ns: int
    lost_events: int = 0  # the rings had no room for them: the counts are short of these
    unpaired: int = 0  # completions of requests that began before the watch
    unfinished: int = 0  # requests that were given up when the watch closed for a while, or lost records
    devices: tuple[BlockDevice, ...] = ()

    @property
    def watched_share(self) -> float:
        """Which share of the time was watched, at most 1."""
        return min(1.0, self.watched_ns / self.elapsed_ns) if self.elapsed_ns else 0.0


def named(times: BlockTimes, names: Mapping[DeviceNumber, str]) -> BlockTimes:
    """The same with the names of its devices."""
    devices = tuple(replace(each, name=names.get(each.device, each.name)) for each in times.devices)
    return replace(times, devices=devices)
