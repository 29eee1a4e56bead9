"""What the block devices saw while a phase ran: counter deltas per layer, sizes, queues and times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from iocast.model.run import PhaseRecord
from iocast.model.target import Layer, Target

OBSERVER = "diskstats"

# The kernel prints its times as 32-bit milliseconds (Documentation/admin-guide/iostats.rst), so they start
# again after 49.7 days of I/O time; its other counters are 64 bits wide and never do.
TIME_PERIOD_NS = 2**32 * 1_000_000

COUNTERS = (
    "reads",
    "reads_merged",
    "read_bytes",
    "read_ns",
    "writes",
    "writes_merged",
    "written_bytes",
    "write_ns",
    "busy_ns",
    "queue_ns",
    "discards",
    "flushes",
    "flush_ns",
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
        return _ratio(self.read_bytes, self.reads)

    @property
    def data_writes(self) -> int | None:
        """Writes that carried data. The kernel counts a flush without data as a write of nought bytes."""
        if self.writes is None or self.flushes is None or self.flushes >= self.writes:
            return self.writes
        return self.writes - self.flushes

    @property
    def write_size_bytes(self) -> float | None:
        """Average size of a write request that carried data."""
        return _ratio(self.written_bytes, self.data_writes)

    @property
    def size_bytes(self) -> float | None:
        """Average size of a request that carried data, reads and writes together."""
        return _ratio(_sum(self.read_bytes, self.written_bytes), _sum(self.reads, self.data_writes))

    @property
    def read_await_ns(self) -> float | None:
        """Average time of a read from its arrival at the layer to its completion."""
        return _ratio(self.read_ns, self.reads)

    @property
    def write_await_ns(self) -> float | None:
        """Average time of a write from its arrival at the layer to its completion."""
        return _ratio(self.write_ns, self.writes)

    @property
    def queue_mean(self) -> float | None:
        """Average number of requests at the layer: weighted I/O time over the time of the load."""
        return _ratio(self.queue_ns, self.elapsed_ns)

    @property
    def merged_share(self) -> float | None:
        """Share of the requests that were merged into a neighbour."""
        merged = _sum(self.reads_merged, self.writes_merged)
        return _ratio(merged, _sum(merged, _sum(self.reads, self.writes)))

    @property
    def stood_still(self) -> bool:
        """True when the counters are there and not one request was counted."""
        return self.reads == 0 and self.writes == 0


def device_io(record: PhaseRecord) -> dict[str, DeviceIo]:
    """The deltas of every layer that was sampled at least twice, by layer name."""
    first: dict[str, dict[str, tuple[int, float]]] = {}
    last: dict[str, dict[str, tuple[int, float]]] = {}
    for sample in record.samples:
        if sample.observer == OBSERVER:
            seen = (sample.time_ns, sample.value)
            first.setdefault(sample.subject, {}).setdefault(sample.metric, seen)
            last.setdefault(sample.subject, {})[sample.metric] = seen
    elapsed_ns = record.measurement.elapsed_ns
    layers = (_between(name, elapsed_ns, first[name], last[name]) for name in first)
    return {layer.layer: layer for layer in layers if layer is not None}


def under_filesystem(seen: Mapping[str, DeviceIo], target: Target) -> DeviceIo | None:
    """What the block devices right under the file system saw, summed; None unless all of them were seen."""
    found = [_nearest(layer, target, seen) for layer in top_layers(target)]
    parts = [part for part in found if part is not None]
    if not parts or len(parts) < len(found):
        return None
    return together(parts)


def top_layers(target: Target) -> tuple[Layer, ...]:
    """The layers that no other layer stands on: what the file system sits on (one or several)."""
    below = {name for layer in target.layers for name in layer.lower}
    return tuple(layer for layer in target.layers if layer.name not in below)


def _nearest(layer: Layer, target: Target, seen: Mapping[str, DeviceIo]) -> DeviceIo | None:
    """The layer's own counters, or those of the only one below it that has any."""
    by_name = {each.name: each for each in target.layers}
    at: Layer | None = layer
    while at is not None and at.name not in seen:
        # A layer over several others (a mirror, a stripe) does not see what their sum sees.
        at = by_name.get(at.lower[0]) if len(at.lower) == 1 else None
    return seen[at.name] if at is not None else None


def _between(
    name: str, elapsed_ns: int, first: dict[str, tuple[int, float]], last: dict[str, tuple[int, float]]
) -> DeviceIo | None:
    if max(at for at, _ in last.values()) <= min(at for at, _ in first.values()):
        return None
    deltas = {metric: _delta(metric, first[metric][1], last[metric][1]) for metric in COUNTERS if metric in first}
    return DeviceIo(layer=name, elapsed_ns=elapsed_ns, **deltas)


def _delta(metric: str, before: float, after: float) -> int | None:
    """How far a counter went; None when it went back for another reason than its width."""
    if after >= before:
        return round(after - before)
    # A counter that starts again near nought was near its end before; anything else is another device.
    wrapped = metric.endswith("_ns") and before > TIME_PERIOD_NS / 2 > after
    return round(after + TIME_PERIOD_NS - before) if wrapped else None


def together(parts: Sequence[DeviceIo]) -> DeviceIo:
    """The sum of layers that stand side by side (at least one)."""
    if len(parts) == 1:
        return parts[0]
    sums = {metric: _sum(*(getattr(part, metric) for part in parts)) for metric in COUNTERS}
    name = "+".join(part.layer for part in parts)
    return DeviceIo(layer=name, elapsed_ns=max(part.elapsed_ns for part in parts), **sums)


def _sum(*values: int | None) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _ratio(part: int | None, whole: int | None) -> float | None:
    return part / whole if part is not None and whole else None
