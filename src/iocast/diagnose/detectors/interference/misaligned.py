"""I/O is misaligned: a partition, or a loop device, does not start where a block of what lies below it starts.

What it is: a device whose start is not a multiple of 4 KiB, or of the physical block of the drive below: partitions
of old tools begin at 31.5 KiB, and an image may have its file system anywhere.
Why it matters: each I/O of a block touches two blocks below it. Reads take longer, and a write makes the drive read
both, change them and write them again.
How it shows: the kernel reports where the device starts. It is counted.
How to confirm: the same test on a partition that starts at 1 MiB.
What to change: create the partition anew at a multiple of 1 MiB (every tool of today does so by itself).
"""

from __future__ import annotations

from collections.abc import Iterator

from iocast.analyse.facts import Facts
from iocast.diagnose.preconditions import Only
from iocast.model.codes import FindingCode
from iocast.model.finding import Finding
from iocast.model.target import Layer, Target
from iocast.text import capacity

NEEDS: tuple[str, ...] = ()
ONLY: Only = ()

CODE: FindingCode = "misaligned"
LEAST_BYTES = 4096  # the page of flash, of a file below a loop device, and of all drives of the last ten years


def detect(facts: Facts) -> Iterator[Finding]:
    """Every layer whose start is not on a block of what lies right below it."""
    target = facts.run.plan.target
    for layer in target.layers:
        block = _block_bytes(layer, target)
        if layer.start_bytes is None or layer.start_bytes % block == 0:
            continue
        yield Finding(
            code=CODE,
            severity="warn",
            phase="",
            says=(
                f"{layer.name} starts at {capacity(layer.start_bytes)}, which is not a multiple of {capacity(block)}:"
                " each I/O touches one more block than it needs, and writes make the drive read first."
            ),
            evidence={"start_bytes": float(layer.start_bytes), "block_bytes": float(block)},
            remedy="Create the partition anew so that it starts at a multiple of 1 MiB, or use the whole device.",
        )


def _block_bytes(layer: Layer, target: Target) -> int:
    """The largest physical block below a layer, at least 4 KiB."""
    below = [each.physical_block_bytes or 0 for each in target.layers if each.name in layer.lower]
    return max(LEAST_BYTES, *below, layer.physical_block_bytes or 0)
