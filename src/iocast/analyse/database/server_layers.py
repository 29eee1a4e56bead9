"""The layers below a server that was loaded: its system calls and the devices, where the kernel was watched."""

from __future__ import annotations

from iocast.analyse.facts import RowFacts
from iocast.analyse.live.layer_times import LayerTimes, layer_times

LEAST_BIOS = 100  # fewer have no distribution
QUICKEST = 0.01  # of the block I/Os: a call that is quicker than all others waited for none


def server_layers(row: RowFacts) -> LayerTimes:
    """All that was seen; computed once."""
    times: LayerTimes = row.keep("database layers", lambda: layer_times(row.record.samples, _devices(row)))
    return times


def cached_calls_share(row: RowFacts) -> float | None:
    """The share of the server's read calls that ended sooner than next to any block I/O did: the page cache answered
    these at least. None where either was not seen, or too little of it."""
    layers = server_layers(row).layers
    calls, blocks = layers.get("read_call"), layers.get("bio_read")
    if calls is None or blocks is None or blocks.count < LEAST_BIOS or not calls.count:
        return None
    cached_calls, quick_ns = 0, 0
    for upper_ns in sorted(upper for upper in blocks.buckets if upper is not None):
        cached_calls += blocks.buckets[upper_ns]
        if cached_calls > QUICKEST * blocks.count:
            break
        quick_ns = upper_ns
    bounds = sorted(upper for upper in blocks.buckets if upper is not None and upper > quick_ns)
    if bounds:  # buckets below the first that counts have no block I/Os at all
        quick_ns = max(quick_ns, bounds[0] // 2)
    return sum(n for upper, n in calls.buckets.items() if upper is not None and upper <= quick_ns) / calls.count


def _devices(row: RowFacts) -> tuple[str, ...]:
    """The disks at the bottom: what goes through a stack is seen below it as well."""
    layers = row.run.plan.target.layers
    return tuple(layer.name for layer in layers if not layer.lower)[:1]
