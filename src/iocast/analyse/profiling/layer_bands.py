"""Which layer a mode of latency may come from: bands of time, and a hypothesis, never a fact (traces.md 5.4)."""

from __future__ import annotations

from msgspec import Struct

from iocast.analyse.modes import Mode, modes
from iocast.model.codes import LikelyLayerCode
from iocast.model.profiling.profile import Profile

# Up to where a band reaches, in ns. Bands of the field overlap; each time belongs to the one that is likelier.
BANDS: tuple[tuple[int, LikelyLayerCode], ...] = (
    (20_000, "host_cache"),
    (60_000, "fast_local_flash"),
    (250_000, "flash"),
    (1_000_000, "array_cache"),
    (2_000_000, "busy_flash_or_cloud"),
    (4_000_000, "fast_disk"),
    (12_000_000, "disk"),
)
TICKS = 10  # of the trace's clock, below which a mode may be its steps


class LatencyMode(Struct, frozen=True):
    """A mode of one operation and size, with the layer that it may come from; None below the clock's resolution."""

    op: int
    size: int | None
    location_ns: float
    share: float
    layer: LikelyLayerCode | None


def layer_of(location_ns: float) -> LikelyLayerCode:
    """The band of a time."""
    return next((layer for upto_ns, layer in BANDS if location_ns < upto_ns), "queueing")


def latency_modes(profile: Profile) -> tuple[LatencyMode, ...]:
    """The modes of every operation and size with enough latencies, from fast to slow."""
    latencies = []
    for cell in profile.order.by_size:
        if cell.op > 3 or cell.others:
            continue
        latencies += [_latency_mode(cell.op, cell.size, mode, profile.tick_ns) for mode in modes(cell.latency)]
    return tuple(latencies)


def _latency_mode(op: int, size: int | None, mode: Mode, tick_ns: int | None) -> LatencyMode:
    coarse = mode.location_ns < TICKS * (tick_ns or 0)
    return LatencyMode(op, size, mode.location_ns, mode.share, None if coarse else layer_of(mode.location_ns))
