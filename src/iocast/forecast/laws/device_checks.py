"""What the counters of a device say of what was sent: how deep its queue was, and what became of the requests."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

SECTOR_BYTES = 512
SERIALISED, SHALLOW = 0.5, 0.7  # of the depth that was asked for (models C 12)
ANSWERED = 0.95  # of the bytes reach the device, or something nearer answered (models C 1)
LARGER, MERGED = 1.2, 0.05  # device size over engine size; merges of all requests (models C 4)
MORE, LARGE_BYTES = 1.25, 128 << 10  # device I/Os over engine I/Os, of large requests (models C 5)


class QueueDepth(Struct, frozen=True):
    """The mean number of requests at a device, beside what was asked for."""

    mean: float
    ratio: float

    @property
    def flag(self) -> Literal["none", "warn", "serialised"]:
        """Whether so few were at the device that something lets them through one after another."""
        if self.ratio < SERIALISED:
            return "serialised"
        return "warn" if self.ratio < SHALLOW else "none"


def queue_depth(time_in_queue_ms: float, elapsed_ms: float, asked_depth: float) -> QueueDepth:
    """The growth of the kernel's weighted time over the time that passed."""
    mean = time_in_queue_ms / elapsed_ms
    return QueueDepth(mean, mean / asked_depth)


class RequestShape(Struct, frozen=True):
    """Requests at the device over those of the engine."""

    size_bytes: float
    size_ratio: float
    io_ratio: float
    byte_ratio: float
    merged: float
    large: bool

    @property
    def flag(self) -> Literal["none", "cached", "consolidated", "fragmented"]:
        """The first that holds: answered before the device, made into fewer, cut into more."""
        if self.byte_ratio < ANSWERED:
            return "cached"
        if self.size_ratio > LARGER or self.merged > MERGED:
            return "consolidated"
        return "fragmented" if self.large and self.io_ratio > MORE else "none"


def request_shape(
    engine_ios: int, engine_size_bytes: int, device_ios: int, device_sectors: int, merges: int
) -> RequestShape:
    """What became of the requests of an engine."""
    moved = device_sectors * SECTOR_BYTES
    size = moved / device_ios if device_ios else 0.0
    return RequestShape(
        size_bytes=size,
        size_ratio=size / engine_size_bytes,
        io_ratio=device_ios / engine_ios,
        byte_ratio=moved / (engine_ios * engine_size_bytes),
        merged=merges / (merges + device_ios) if merges + device_ios else 0.0,
        large=engine_size_bytes >= LARGE_BYTES,
    )
