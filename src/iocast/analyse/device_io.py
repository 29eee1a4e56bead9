"""What the block devices saw while a phase ran: counter deltas per layer, sizes, queues and times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from iocast import metrics
from iocast.model.run import PhaseRecord
from iocast.model.target import Layer, Target
from iocast.model.view import View, ratio, total, views

DEVICE_SHARE = 0.95  # models C 1: device bytes over engine bytes; less means that something else answered
COUNTERS = (
    metrics.READS,
    metrics.READS_MERGED,
    metrics.READ_BYTES,
    metrics.READ_NS,
    metrics.WRITES,
    metrics.WRITES_MERGED,
    metrics.WRITTEN_BYTES,
    metrics.WRITE_NS,
    metrics.BUSY_NS,
    metrics.QUEUE_NS,
    metrics.DISCARDS,
    metrics.FLUSHES,
    metrics.FLUSH_NS,
)


class DeviceIo(Struct, frozen=True, kw_only=True):
    """What one layer did between its first and its last sample. None: the kernel did not say."""

    layer: str
    elapsed_ns: int  # of the load itself: the samples also span its set-up, in which next to nothing happens
    reads: int | None = None
    reads_merged: int | None = None
    read_bytes: int | None = None
    read_ns: int | None = None
    writes: int | None = None
    writes_merged: int | None = None
    written_bytes: int | None = None
    write_ns: int | None = None
    busy_ns: int | None = None
    queue_ns: int | None = None
    discards: int | None = None
    flushes: int | None = None
    flush_ns: int | None = None

    @property
    def read_size_bytes(self) -> float | None:
        """Average size of a read request."""
        return ratio(self.read_bytes, self.reads)

    @property
    def data_writes(self) -> int | None:
        """Writes that carried data. The kernel counts a flush without data as a write of nought bytes."""
        if self.writes is None or self.flushes is None or self.flushes >= self.writes:
            return self.writes
        return self.writes - self.flushes

    @property
    def write_size_bytes(self) -> float | None:
        """Average size of a write request that carried data."""
        return ratio(self.written_bytes, self.data_writes)

    @property
    def size_bytes(self) -> float | None:
        """Average size of a request that carried data, reads and writes together."""
        return ratio(total(self.read_bytes, self.written_bytes), total(self.reads, self.data_writes))

    @property
    def read_await_ns(self) -> float | None:
        """Average time of a read from its arrival at the layer to its completion."""
        return ratio(self.read_ns, self.reads)

    @property
    def write_await_ns(self) -> float | None:
        """Average time of a write from its arrival at the layer to its completion."""
        return ratio(self.write_ns, self.writes)

    @property
    def queue_mean(self) -> float | None:
        """Average number of requests at the layer: weighted I/O time over the time of the load."""
        return ratio(self.queue_ns, self.elapsed_ns)

    @property
    def merged_share(self) -> float | None:
        """Share of the requests that were merged into a neighbour."""
        merged = total(self.reads_merged, self.writes_merged)
        return ratio(merged, total(merged, total(self.reads, self.writes)))

    @property
    def stood_still(self) -> bool:
        """True when the counters are there and not one request was counted."""
        return self.reads == 0 and self.writes == 0


def device_io(record: PhaseRecord) -> dict[str, DeviceIo]:
    """The deltas of every layer that was sampled at least twice, by layer name."""
    by_observer = views(record.samples, metrics.DISKSTATS, record.measurement.elapsed_ns)
    return {name: _of(view) for name, view in by_observer.items()}


def under_filesystem(by_device: Mapping[str, DeviceIo], target: Target) -> DeviceIo | None:
    """What the block devices right under the file system saw, summed; None unless all of them were seen."""
    devices = [_nearest(layer, target, by_device) for layer in top_layers(target)]
    parts = [part for part in devices if part is not None]
    if not parts or len(parts) < len(devices):
        return None
    return together(parts)


def top_layers(target: Target) -> tuple[Layer, ...]:
    """The layers that no other layer stands on: what the file system sits on (one or several)."""
    below = {name for layer in target.layers for name in layer.lower}
    return tuple(layer for layer in target.layers if layer.name not in below)


def _nearest(layer: Layer, target: Target, by_device: Mapping[str, DeviceIo]) -> DeviceIo | None:
    """The layer's own counters, or those of the only one below it that has any."""
    by_name = {each.name: each for each in target.layers}
    at: Layer | None = layer
    while at is not None and at.name not in by_device:
        # A layer over several others (a mirror, a stripe) does not see what their sum sees.
        at = by_name.get(at.lower[0]) if len(at.lower) == 1 else None
    return by_device[at.name] if at is not None else None


def _of(view: View) -> DeviceIo:
    deltas = {metric: view.delta(metric) for metric in COUNTERS}
    return DeviceIo(layer=view.subject, elapsed_ns=view.elapsed_ns, **deltas)


def together(parts: Sequence[DeviceIo]) -> DeviceIo:
    """The sum of layers that stand side by side (at least one)."""
    if len(parts) == 1:
        return parts[0]
    sums = {metric: total(*(getattr(part, metric) for part in parts)) for metric in COUNTERS}
    name = "+".join(part.layer for part in parts)
    return DeviceIo(layer=name, elapsed_ns=max(part.elapsed_ns for part in parts), **sums)
