"""Places in a device stack that all of a test's I/O passes, and what the layers above each have made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from iocast.analyse.device_io import DeviceIo, together, top_layers
from iocast.model.target import Layer, Target
from iocast.model.workload import Op

# These hand each write to one of their layers, once; any other kind over several layers may write more.
SPREADING = frozenset({"raid0", "linear", "multipath"})
MIRRORS = frozenset({"raid1", "raid10"})  # they write twice, but read once
# These write more than they are given even over one layer, and may read before they write.
REWRITING = frozenset({"dm", "dmraid", "vdo", "bcache", "drbd", "raid4", "raid5", "raid6"})
SHRINKING = frozenset({"vdo"})  # these store less than they are given

# These keep copies, checksums or compressed data by themselves: device bytes need not equal file bytes.
RESHAPING_FILESYSTEMS = frozenset({"btrfs", "zfs", "bcachefs", "overlay", "f2fs"})

PAGE_BYTES = 4096

# With fewer bytes than this in a whole phase, one stray request would decide the share.
ENOUGH_BYTES = 1 << 20


class Place(Struct, frozen=True, kw_only=True):
    """Layers side by side that carry all of a test's I/O, summed, and how it may have changed on its way."""

    io: DeviceIo
    writes_multiply: bool  # a write of the test may be several here
    reads_multiply: bool  # a write of the test may cause reads here
    spread: bool  # requests were cut at bounds that are not known
    journalled: bool  # a file system above writes for itself
    cached: bool  # a layer above may answer from a cache of its own
    split_bytes: int | None  # a request is at most so large
    block_bytes: int  # and at least so


def places(by_device: Mapping[str, DeviceIo], target: Target) -> tuple[Place, ...]:
    """From under the file system down to the disks; those left out of which a layer was not counted."""
    by_name = {layer.name: layer for layer in target.layers}
    level, above = top_layers(target), list[Layer]()
    all_places = []
    for _ in target.layers:  # no stack is deeper than it has layers
        if level and all(layer.name in by_device for layer in level):
            all_places.append(_place(level, above, target, together([by_device[layer.name] for layer in level])))
        below = {layer.name: layer for layer in _one_down(level, by_name)}
        passed = [layer for layer in level if layer.name not in below]
        above += passed
        level = tuple(below.values()) if passed else ()
    return tuple(all_places)


def passed_by_all(top: DeviceIo | None, passed: Sequence[Place]) -> tuple[DeviceIo, ...]:
    """What must have moved every byte of direct I/O: right under the file system, and all disks together.

    Disks that were not counted, or stand still for another reason than a cache, are left out.
    """
    bottom = passed[-1] if passed else None
    if bottom is None or top is None or bottom.io.layer == top.layer:
        return () if top is None else (top,)
    # Paths of NVMe multipath are not counted by older kernels; under a loop device it is a cache that explains it.
    silent = bottom.io.stood_still and not bottom.cached
    return (top,) if silent else (top, bottom.io)


def moved_share(engine_bytes: int, op: Op, devices: Sequence[DeviceIo]) -> tuple[float, DeviceIo] | None:
    """Bytes that the device moved over bytes that the test did, and where; None when it is not known.

    Of the places that all of them must pass, the one that moved the least.
    """
    if engine_bytes < ENOUGH_BYTES:
        return None
    shares = [
        (moved / engine_bytes, device)
        for device in devices
        if (moved := device.read_bytes if op == "read" else device.written_bytes) is not None
    ]
    return min(shares, key=lambda share: share[0], default=None)


def _one_down(level: tuple[Layer, ...], by_name: dict[str, Layer]) -> list[Layer]:
    """The layers right below; a layer with nothing below it, or not all of it known, stays."""
    below = []
    for layer in level:
        known = layer.lower and all(name in by_name for name in layer.lower)
        below += [by_name[name] for name in layer.lower] if known else [layer]
    return below


def _place(level: tuple[Layer, ...], above: list[Layer], target: Target, io: DeviceIo) -> Place:
    reshaped = target.filesystem in RESHAPING_FILESYSTEMS
    rewriting = reshaped or any(_rewrites(layer) for layer in above)
    limits = [limit for layer in (*above, *level) if (limit := _split_bytes(layer)) is not None]
    blocks = [layer.logical_block_bytes for layer in level if layer.logical_block_bytes]
    return Place(
        io=io,
        writes_multiply=rewriting or any(layer.kind in MIRRORS for layer in above),
        reads_multiply=rewriting,
        spread=reshaped or any(len(layer.lower) > 1 and layer.kind != "multipath" for layer in above),
        journalled=target.filesystem is not None or any(layer.kind == "loop" for layer in above),
        cached=any(layer.kind == "loop" for layer in above),
        split_bytes=min(limits) if limits else None,
        block_bytes=min(blocks) if blocks else 512,
    )


def _rewrites(layer: Layer) -> bool:
    several = len(layer.lower) > 1 and layer.kind not in SPREADING | MIRRORS
    return several or layer.kind in REWRITING


def _split_bytes(layer: Layer) -> int | None:
    """What the layer takes in one request; in the worst case each page of a buffer is a segment of its own."""
    segments = layer.max_segments * PAGE_BYTES if layer.max_segments else None
    known = [limit for limit in (layer.max_io_bytes, segments) if limit]
    return min(known) if known else None
