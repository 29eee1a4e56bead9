"""Block-device counters: I/O of each layer of the target since boot.

What it is: the kernel's counts of reads, writes, discards and flushes of every device of the stack, with
their total time, the busy time of the device, and its outstanding I/Os (sysfs `stat`, the
same figures as /proc/diskstats).

Why it matters: it is an independent check. I/O of the load must arrive here; more is other I/O from
neighbours, less is a cache, and a difference in time per I/O between two layers shows which layer
adds the delay.

Needs: /sys/dev/block (or /proc/diskstats), readable by all users, and queue/iostats switched on.

Overhead: one small file read per layer.

What it cannot see: I/O outside local block devices (NFS, tmpfs, ZFS below its pool), the process behind an I/O,
and the distribution of latency: these are totals. Times are whole milliseconds in 32 bits: they wrap to 0
after 49.7 days of total time, so take differences modulo that. Layers that count per request (disks) include
scheduler time; busy_ns of devices that serve I/Os in parallel means "not idle", not "saturated".
"""

from __future__ import annotations

from contextlib import ExitStack

from iocast import metrics
from iocast._core import unix_ns
from iocast.model.run import Sample
from iocast.model.target import Layer, Target
from iocast.observe.counter_file import CounterFile
from iocast.observe.observer import BlindError
from iocast.observe.target.sysfs import device_directory, read_int
from iocast.tools.kernel.disk_counters import parse_counters, parse_diskstats

NAME = metrics.DISKSTATS
NEEDS = "a block device under the target; /sys/dev/block or /proc/diskstats; queue/iostats = 1"
OVERHEAD = "about 10 µs a sample for each layer (measured: 1 layer, 9 to 13 µs)"


class Observer:
    """Reads the counters of every layer of the target."""

    def __init__(self, target: Target, files: tuple[str, ...]) -> None:
        self.unseen: tuple[str, ...] = ()
        self._layers = target.layers
        self._stats: dict[str, CounterFile] = {}
        self._all: CounterFile | None = None
        self._open = ExitStack()

    def __enter__(self) -> Observer:
        if not self._layers:
            raise BlindError("the target has no block device on this machine")
        counted = [layer for layer in self._layers if _is_counted(layer)]
        silent = [layer.name for layer in self._layers if layer not in counted]
        self.unseen = tuple(f"{name}: I/O counters are switched off (queue/iostats is 0)" for name in silent)
        if not counted:
            raise BlindError(f"I/O counters of {', '.join(silent)} are switched off (queue/iostats is 0)")
        try:
            self._open_counters(counted)
        except OSError as error:
            self._open.close()
            raise BlindError(f"cannot read {error.filename}: {error.strerror}") from error
        return self

    def _open_counters(self, counted: list[Layer]) -> None:
        for layer in counted:
            try:
                stat = CounterFile(f"/sys/dev/block/{layer.major}:{layer.minor}/stat")
            except FileNotFoundError:
                # Containers may hide sysfs; then one read of all devices stands in.
                stat = CounterFile("/proc/diskstats") if self._all is None else self._all
                self._all = stat
            self._stats[layer.name] = stat
            self._open.callback(stat.close)

    def sample(self) -> list[Sample]:
        """All counters of all layers; the bytes and ns are as in the names, the rest are counts."""
        now_ns = unix_ns()
        everything = parse_diskstats(self._all.read()) if self._all is not None else {}
        samples: list[Sample] = []
        for name, stat in self._stats.items():
            try:
                device_counters = everything.get(name) if stat is self._all else parse_counters(stat.read().split())
            except (OSError, ValueError) as error:
                raise BlindError(f"the counters of {name} can no longer be read: {error}") from error
            if device_counters is None:
                raise BlindError(f"{name} is no longer in /proc/diskstats")
            samples += [Sample(now_ns, NAME, name, metric, float(value)) for metric, value in device_counters.items()]
        return samples

    def __exit__(self, *_: object) -> None:
        self._open.close()


def _is_counted(layer: Layer) -> bool:
    directory = device_directory(layer.major, layer.minor)
    if directory is None:
        return True
    disk = directory.parent if (directory / "partition").exists() else directory
    return read_int(disk / "queue/iostats") != 0
