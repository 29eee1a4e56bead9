"""The layers of a target's device stack become a result, from the top down."""

from __future__ import annotations

from iocast.model.results.layers import LayerRow
from iocast.model.run import Run


def device_stack(run: Run) -> tuple[LayerRow, ...]:
    """Each layer once, with how many layers stand above it."""
    layers = run.plan.target.layers
    level = {layer.name: 0 for layer in layers}
    for layer in layers:
        for name in layer.lower:
            if name in level:
                level[name] = max(level[name], level[layer.name] + 1)
    return tuple(
        LayerRow(
            layer=layer.name,
            level=level[layer.name],
            lower=layer.lower,
            kind=layer.kind,
            size_bytes=layer.size_bytes,
            scheduler=layer.scheduler or None,
            write_cache=layer.write_cache or None,
            spins=layer.rotational,
            queue_depth=layer.queue_depth,
            max_io_bytes=layer.max_io_bytes,
            link=layer.link or None,
            model=layer.model or None,
        )
        for layer in layers
    )
