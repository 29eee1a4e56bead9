"""Block requests: queue time in the kernel and service time of the device.

What it is: histograms for each device, operation and size class, from the kernel's tracepoints: a request is
queued (block_rq_insert), issued to the driver (block_rq_issue) and completed (block_rq_complete). Queue time
lies between the first two, device time between the last two. They are stored once per phase, with its figures.

Why it matters: it shows where the time goes. If a response time of 20 ms has 0.2 ms of device time, the cause
is above the device; if device time makes up all of it, scheduler, file system and engine are not the cause.

Needs: root (for kernel tracing), tracefs, and a request-based device: disks,
NVMe, virtio, loop, multipath. If tracefs is not mounted, it is mounted for this process only.

Overhead: about 1 µs of CPU time per traced request. Up to BUDGET_PER_S requests per second are all traced; above
that, a window in each second traces up to this number. The share of time that was
traced is shown with the figures. The trace is private and does not disturb other tracers.

What it cannot see: bio-based devices (md, LVM and other dm, zram): see the disks below
them; time in the plug, waiting for a free tag, in the file system and in the page cache, which is in neither
figure; which I/O of the load a request carries, where the kernel merges or splits I/Os.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

import msgspec

from iocast import _core, metrics
from iocast._core import unix_ns
from iocast.errors import TargetError
from iocast.model.block_times import BlockTimes, DeviceNumber, named
from iocast.model.run import Sample
from iocast.model.target import Layer, Target
from iocast.observe.observer import BlindError
from iocast.observe.target.sysfs import device_directory

NAME = metrics.BLOCK
NEEDS = "root; tracefs; a request-based device"
OVERHEAD = "about 0.3 % of a processor (measured: 3 ms per second): under heavy load it samples part of each second"

_LOOK_S = 0.05  # how soon a signal is noticed
BUDGET_PER_S = 1_000  # requests followed a second; docs/performance.md has what one costs


def watched_layers(target: Target) -> tuple[Layer, ...]:
    """The layers that handle requests, and not bios: those that have hardware queues."""
    return tuple(layer for layer in target.layers if _has_requests(layer))


def _has_requests(layer: Layer) -> bool:
    directory = device_directory(layer.major, layer.minor)
    return directory is not None and (directory / "mq").is_dir()


class Watching:
    """A watch that is on, for a person who looks at it."""

    def __init__(self, devices: tuple[DeviceNumber, ...], options: Mapping[str, object]) -> None:
        self._core = _core.BlkWatch(msgspec.json.encode({"devices": devices, **options}).decode())
        self.notes = tuple(self._core.notes())

    def every(
        self, interval_ns: int, count: int | None, stopped: Callable[[], bool], name_of: Callable[[DeviceNumber], str]
    ) -> Iterator[tuple[BlockTimes, int]]:
        """What was seen in each interval, and when it ended; the last one is what was seen until it was stopped."""
        due_ns, done = time.monotonic_ns(), 0
        while not stopped() and (count is None or done < count):
            due_ns += interval_ns
            while (left_ns := due_ns - time.monotonic_ns()) > 0 and not stopped():
                time.sleep(min(left_ns / 1e9, _LOOK_S))
            counters = _read(self._core)
            yield named(counters, {each.device: name_of(each.device) for each in counters.devices}), unix_ns()
            done += 1

    def close(self) -> None:
        """Ends it."""
        self._core.stop()


@contextmanager
def watch(devices: tuple[DeviceNumber, ...], options: Mapping[str, object]) -> Iterator[Watching]:
    """Watches these devices, or all; options are those of the core (blk/watch.rs). Raises TargetError."""
    try:
        watching = Watching(devices, options)
    except _core.CoreError as error:
        raise TargetError(str(error.args[0]), str(error.args[1])) from error
    try:
        yield watching
    finally:
        watching.close()


def _read(watch: _core.BlkWatch) -> BlockTimes:
    try:
        return msgspec.json.decode(watch.snapshot(), type=BlockTimes)
    except _core.CoreError as error:
        raise BlindError(str(error.args[0]), str(error.args[1])) from error


_SHELF: ContextVar[dict[str, _core.BlkWatch] | None] = ContextVar("shelf", default=None)


@contextmanager
def kept_between_phases() -> Iterator[None]:
    """While entered, a watch that a phase is done with waits for the next one that wants the same.

    To begin one, and to end it, the kernel takes about a tenth of a second each (it waits for all processors).
    """
    shelf: dict[str, _core.BlkWatch] = {}
    token = _SHELF.set(shelf)
    try:
        yield
    finally:
        _SHELF.reset(token)
        for watch in shelf.values():
            watch.stop()


def _from_the_shelf(wanted: str) -> _core.BlkWatch | None:
    """The one that waits, without what it has seen since."""
    watch = (_SHELF.get() or {}).pop(wanted, None)
    if watch is None:
        return None
    try:
        watch.snapshot()
    except _core.CoreError:
        watch.stop()
        return None
    return watch


class Observer:
    """Watches every layer of the target that handles requests."""

    def __init__(self, target: Target, files: tuple[str, ...]) -> None:
        self.unseen: tuple[str, ...] = ()
        self._target = target
        self._names: dict[DeviceNumber, str] = {}
        self._watch: _core.BlkWatch | None = None
        self._wanted = ""
        self._failed = self._began = False

    def __enter__(self) -> Observer:
        layers = watched_layers(self._target)
        if not self._target.layers:
            raise BlindError("the target has no block device on this machine")
        if not layers:
            names = ", ".join(layer.name for layer in self._target.layers)
            raise BlindError(f"no layer of the target is request-based ({names})")
        self._names = {DeviceNumber(layer.major, layer.minor): layer.name for layer in layers}
        devices = [{"major": layer.major, "minor": layer.minor} for layer in layers]
        options = {"devices": devices, "budget_per_s": BUDGET_PER_S}
        try:
            self._wanted = msgspec.json.encode(options).decode()
            self._watch = _from_the_shelf(self._wanted) or _core.BlkWatch(self._wanted)
        except _core.CoreError as error:
            raise BlindError(str(error.args[0])) from error
        return self

    def sample(self) -> list[Sample]:
        """None: what it sees are histograms, read once, when the load is over. The first forgets what was before."""
        if self._watch is not None and not self._began:
            self._began = True
            _read(self._watch)
        return []

    def times(self) -> BlockTimes:
        """Everything that was seen since the first sample, or since this was asked last. Raises BlindError."""
        if self._watch is None:
            raise BlindError("the trace has ended")
        try:
            return named(_read(self._watch), self._names)
        except BlindError:
            self._failed = True
            raise

    def __exit__(self, *_: object) -> None:
        shelf, watch = _SHELF.get(), self._watch
        self._watch = None
        if watch is not None and shelf is not None and not self._failed and self._wanted not in shelf:
            shelf[self._wanted] = watch
        elif watch is not None:
            watch.stop()
