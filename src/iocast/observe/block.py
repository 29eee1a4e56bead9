"""Block requests: how long each waited in the kernel's queue, and how long the device had it.

What it is: histograms for each device, operation and size class, from the kernel's own tracepoints: a request is
put into a queue (block_rq_insert), handed to the driver (block_rq_issue), done (block_rq_complete). Queue time
lies between the first two, device time between the last two. They are kept once a phase, beside its figures.

Why it matters: it says where the time went. A response time of 20 ms of which the device had 0.2 is no
matter of the device; one that the device had all of is no matter of the scheduler, the file system or the engine.

Needs: root (the kernel's tracing belongs to root), tracefs, and a device that handles requests: disks,
NVMe, virtio, loop, multipath. Where tracefs is not mounted, it is mounted for this process alone.

Overhead: about 1 µs of CPU time a request while it watches, so it does not always: up to BUDGET_PER_S requests a
second all are seen; above that a window opens in each second until so many were. What share of the time was
watched stands beside the figures. The trace is private: who else traces is not disturbed.

What it cannot see: devices that handle bios and not requests (md, LVM and other dm, zram): look at the disks below
them; time in the plug, in wait for a free tag, in the file system and in the page cache, which is in none of
both times; which I/O of the load a request carries, where the kernel merges or splits them.
"""

from __future__ import annotations

import msgspec

from iocast import _core
from iocast.model.block import BlockTimes, DeviceNumber, named
from iocast.model.run import Sample
from iocast.model.target import Layer, Target
from iocast.observe.observer import BlindError
from iocast.observe.sysfs import device_directory

NAME = "block"
NEEDS = "root; tracefs; a device that handles requests"
OVERHEAD = "below 1 % of one processor: it watches only as much of a second as that allows"

BUDGET_PER_S = 2_000  # requests followed a second; docs/performance.md has what one costs


def watched_layers(target: Target) -> tuple[Layer, ...]:
    """The layers that handle requests, and not bios: those that have hardware queues."""
    return tuple(layer for layer in target.layers if _has_requests(layer))


def _has_requests(layer: Layer) -> bool:
    directory = device_directory(layer.major, layer.minor)
    return directory is not None and (directory / "mq").is_dir()


class Observer:
    """Watches every layer of the target that handles requests."""

    def __init__(self, target: Target, files: tuple[str, ...]) -> None:
        self.unseen: tuple[str, ...] = ()
        self._target = target
        self._names: dict[DeviceNumber, str] = {}
        self._watch: _core.BlkWatch | None = None

    def __enter__(self) -> Observer:
        layers = watched_layers(self._target)
        if not self._target.layers:
            raise BlindError("the target stands on no block device of this machine")
        if not layers:
            names = ", ".join(layer.name for layer in self._target.layers)
            raise BlindError(f"no layer of the target handles requests ({names})")
        self._names = {DeviceNumber(layer.major, layer.minor): layer.name for layer in layers}
        devices = [{"major": layer.major, "minor": layer.minor} for layer in layers]
        options = {"devices": devices, "budget_per_s": BUDGET_PER_S}
        try:
            self._watch = _core.BlkWatch(msgspec.json.encode(options).decode())
        except _core.CoreError as error:
            raise BlindError(str(error.args[0])) from error
        return self

    def sample(self) -> list[Sample]:
        """None: what it sees are histograms, and they are read once, when the load is over."""
        return []

    def times(self) -> BlockTimes:
        """Everything that was seen since it began, or since this was asked last. Raises BlindError."""
        if self._watch is None:
            raise BlindError("the watch is over")
        try:
            seen = msgspec.json.decode(self._watch.snapshot(), type=BlockTimes)
        except _core.CoreError as error:
            raise BlindError(str(error.args[0])) from error
        return named(seen, self._names)

    def __exit__(self, *_: object) -> None:
        if self._watch is not None:
            self._watch.stop()
            self._watch = None
