"""Layers of the kernel: latency histograms of system calls, bios, requests, the driver and, if wanted, the run queue.

What it is: counts by powers of two of a microsecond, since the watch began, from the kernel's tracepoints.
`block_layer` (device, clock, operation, size class) has three clocks: `bio`, from the arrival of a bio to its end;
`request`, from the making of a request, as iostat; `driver`, from its hand-over to the driver. `system_calls`
(command, call, size class) has read, pread64, preadv, preadv2, write, pwrite64, pwritev, pwritev2, fsync, fdatasync,
sync_file_range, msync on files, and I/Os of io_uring; `calls_by_process` and `calls_by_file` have their sums,
`calls_by_device` those of the files of each device, `devices_below` what stands below it.
`run_delays` has waits for a processor.

Why it matters: the gap between two layers names what loses the time. A call that takes longer than its bio waited for a
processor, a lock or a throttle; a request that takes longer than the driver waited in the scheduler of the device.

Needs: root (for kernel tracing) and tracefs; for `request` as iostat counts it, Linux 6.5 or later; for io_uring,
Linux 6.0.

Overhead: CPU time for every I/O, the price of each part in docs/performance.md. Up to BUDGET_PER_S records a second,
about six an I/O, are all kept; above that, windows of each second are watched, and what began in one is followed to its
end and stands for what devices and processes did until the next by their own counters (`traced_ns` has their length).
`--every-io` keeps all. The run queue costs the most, and is watched only when asked for. Two private tracing instances
with 8 MiB a processor each; other tracers are not disturbed.

What it cannot see: the clocks of bio-based devices (md, LVM and other dm, zram): see the disks below them; the wait
in a throttle of a control group, which ends before the bio is counted (it is the gap between the call and the bio);
I/Os of libaio and page faults of mmap, which have no call of their own; whose I/O a request is. What began before the
watch is left out and counted (`unpaired`), and so is what was under way when the rings overflowed. In windows, a rare
slow I/O between two of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType

import msgspec
from msgspec import Struct

from iocast import _core, metrics
from iocast._core import unix_ns
from iocast.model.block_times import DeviceNumber
from iocast.model.run import Sample
from iocast.model.target import Target
from iocast.observe.block import watched_layers
from iocast.observe.live.file_devices import FileDevices
from iocast.observe.live.from_nought import FromNought
from iocast.observe.live.watched import EVERYBODY, Watched
from iocast.observe.observer import BlindError
from iocast.observe.target.sysfs import device_directory

NAME = metrics.KERNEL_LAYERS
NEEDS = "root; tracefs"
OVERHEAD = (
    "CPU time an I/O, measured on a busy machine with 2 processors: block layer 2 µs, with system calls 4 µs, with the "
    "run queue 5 to 6 µs, of which reading and counting take 0.7 to 1.1 µs"
)
UNTRACED = "latency histograms need root and tracefs"
BUDGET_PER_S = 40_000  # records, of some 0.7 us of CPU time each


class _Counts(Struct, frozen=True):
    count: int
    sum_ns: int
    bytes: int
    failed: int
    buckets: tuple[tuple[int | None, int], ...]


class _Block(Struct, frozen=True):
    device: DeviceNumber
    clock: str
    op: str
    size_bytes: int | None
    counts: _Counts


class _Call(Struct, frozen=True):
    command: str
    call: str
    size_bytes: int | None
    counts: _Counts


class _Process(Struct, frozen=True):
    pid: int
    command: str
    call: str
    count: int
    sum_ns: int
    bytes: int


class _File(Struct, frozen=True):
    path: str
    call: str
    count: int
    sum_ns: int
    bytes: int


class _Snapshot(Struct, frozen=True):
    watched_ns: int
    lost_events: int
    events: int
    cpu_ns: int
    blocks: tuple[_Block, ...] | None
    blocks_apart: dict[str, int]
    calls: tuple[_Call, ...] | None
    calls_apart: dict[str, int]
    rings_seen: bool
    processes: tuple[_Process, ...]
    files: tuple[_File, ...]
    run_delays: tuple[tuple[str, _Counts], ...] | None


class Observer:
    """Watches the devices of the target (all, where it has none) and the calls of those who are followed."""

    def __init__(self, target: Target, files: tuple[str, ...] = (), watched: Watched = EVERYBODY) -> None:
        self.unseen: tuple[str, ...] = ()
        self._target = target
        self._watched = watched
        self._watch: _core.LayerWatch | None = None
        self._nought = FromNought(0)
        self._names: dict[DeviceNumber, str] = {}
        self._files = FileDevices(())

    def __enter__(self) -> Observer:
        layers = watched_layers(self._target)
        self._files = FileDevices((layer.name for layer in layers), self._watched.pids)
        if self._target.layers and not layers:
            names = ", ".join(layer.name for layer in self._target.layers)
            self.unseen += (f"the block layer and io_uring: no layer of the target is request-based ({names})",)
        options = {
            "blocks": bool(layers) or not self._target.layers,
            "devices": [{"major": layer.major, "minor": layer.minor} for layer in layers],
            "calls": True,
            "scheduler": self._watched.scheduler,
            "pids": self._watched.pids,
            "commands": self._watched.commands,
            "budget_per_s": float(BUDGET_PER_S) if self._watched.windows else None,
        }
        try:
            self._watch = _core.LayerWatch(msgspec.json.encode(options).decode())
        except _core.CoreError as error:
            why = f"{UNTRACED}: {error.args[0]}"
            raise BlindError(why, "run it as root; means come from the counters of the devices meanwhile") from error
        self._nought = FromNought(unix_ns())
        if options["blocks"] and not self._read().rings_seen:
            self.unseen += ("I/Os of io_uring: this kernel has no tracepoint for their submission",)
        return self

    def sample(self) -> list[Sample]:
        """Every counter that is above 0; one that is new is 0 at the time of the samples before."""
        snapshot = self._read()
        now_ns = unix_ns()
        samples = (
            Sample(now_ns, observer, metrics.PART.join(subject), metric, float(value))
            for observer, subject, counters in self._rows(snapshot)
            for metric, value in counters.items()
        )
        return self._nought.completed(samples, now_ns)

    def _read(self) -> _Snapshot:
        if self._watch is None:
            raise BlindError("the watch has ended")
        try:
            return msgspec.json.decode(self._watch.snapshot(), type=_Snapshot)
        except _core.CoreError as error:
            raise BlindError(str(error.args[0]), str(error.args[1])) from error

    def _rows(self, counters: _Snapshot) -> Iterator[tuple[str, tuple[str, ...], dict[str, int]]]:
        followed = len(self._watched.pids) + len(self._watched.commands)
        yield NAME, ("",), _of_the_watch(counters) | {metrics.FOLLOWED: followed}
        for block in counters.blocks or ():
            place = (self._name(block.device), block.clock, block.op, _size(block.size_bytes))
            yield metrics.BLOCK_LAYER, place, _counters(block.counts)
        for call in counters.calls or ():
            yield metrics.SYSTEM_CALLS, (call.command, call.call, _size(call.size_bytes)), _counters(call.counts)
        for each in counters.processes:
            yield metrics.CALLS_BY_PROCESS, (str(each.pid), each.command, each.call), _sums(each)
        for file in counters.files:
            yield metrics.CALLS_BY_FILE, (file.call, file.path), _sums(file)
        for (devices, name), sums in self._by_device(counters.files).items():
            yield metrics.CALLS_BY_DEVICE, (devices, name), sums
        for upper, lower in self._files.below.items():
            for device in lower:
                yield metrics.DEVICES_BELOW, (upper, device), {metrics.DEPTH: 1}
        for command, counts in counters.run_delays or ():
            yield metrics.RUN_DELAYS, (command,), _counters(counts)

    def _by_device(self, files: tuple[_File, ...]) -> dict[tuple[str, str], dict[str, int]]:
        """Sums by the devices below the files, "" for none that is watched; files of unknown places are left out."""
        by_device: dict[tuple[str, str], dict[str, int]] = {}
        for file in files:
            devices = self._files.of(file.path) if file.path else None
            if devices is not None:
                sums = by_device.setdefault((",".join(devices), file.call), {})
                for metric, value in _sums(file).items():
                    sums[metric] = sums.get(metric, 0) + value
        return by_device

    def _name(self, device: DeviceNumber) -> str:
        if device not in self._names:
            folder = device_directory(device.major, device.minor)
            self._names[device] = folder.name if folder else f"{device.major}:{device.minor}"
        return self._names[device]

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        if self._watch is not None:
            self._watch.stop()
            self._watch = None


def _of_the_watch(counters: _Snapshot) -> dict[str, int]:
    """How far the counts can be trusted, and what reading them costs."""
    blocks, calls = counters.blocks_apart, counters.calls_apart
    return {
        metrics.LOST_EVENTS: counters.lost_events,
        metrics.EVENTS: counters.events,
        metrics.TRACED_NS: counters.watched_ns,
        metrics.READER_CPU_NS: counters.cpu_ns,
        metrics.UNPAIRED: sum(blocks[clock] for clock in ("bio", "request", "driver")) + calls["without_beginning"],
        metrics.GIVEN_UP: blocks["given_up"] + calls["given_up"],
    }


def _counters(counts: _Counts) -> dict[str, int]:
    buckets = {metrics.NO_BOUND if upper is None else metrics.bucket(upper): count for upper, count in counts.buckets}
    sums = {metrics.COUNT: counts.count, metrics.SUM_NS: counts.sum_ns, metrics.BYTES: counts.bytes}
    return {**sums, metrics.FAILED: counts.failed, **buckets}


def _sums(each: _Process | _File) -> dict[str, int]:
    return {metrics.COUNT: each.count, metrics.SUM_NS: each.sum_ns, metrics.BYTES: each.bytes}


def _size(size_bytes: int | None) -> str:
    return metrics.ABOVE if size_bytes is None else str(size_bytes)
