"""Throttling: limits of the control groups of those who are followed, what they did, and how long a quota held them.

What it is: for each control group of the followed processes, and those above it: its I/O limits of each device, what it
read and wrote there (io.stat, blkio.throttle.io_serviced), and how long its CPU quota held it back (cpu.stat).

Why it matters: a limit of a control group makes I/O slow above the block layer, where iostat sees nothing; a
CPU quota makes everything slow while processors are idle.

Needs: the cgroup file systems at /sys/fs/cgroup; without pids or commands, the group of iocast itself.

Overhead: some ten small reads a group.

What it cannot see: limits outside this machine or its namespace; how long a single I/O was held.
"""

from __future__ import annotations

from iocast import metrics
from iocast._core import unix_ns
from iocast.model.run import Sample
from iocast.model.target import Target
from iocast.observe.group_counters import DeviceCounters, parse_cpu_stat, parse_io_stat, parse_throttle_counts
from iocast.observe.limits import group_name, groups_of, limits_of, read_or_empty
from iocast.observe.live.watched import EVERYBODY, Watched, processes
from iocast.observe.observer import BlindError
from iocast.observe.target.sysfs import device_directory

NAME = metrics.THROTTLING
NEEDS = "/proc/PID/cgroup and /sys/fs/cgroup"
OVERHEAD = "about 0.5 ms of CPU time a sample for a group (measured, 2 processors)"

_MOST_PROCESSES = 64  # of those that are asked for their groups: a server's are nearly always in one


class Observer:
    """Reads the groups of those who are followed, and of all above them."""

    def __init__(
        self, target: Target, files: tuple[str, ...] = (), watched: Watched = EVERYBODY, root: str = "/"
    ) -> None:
        self.unseen: tuple[str, ...] = ()
        self._watched = watched
        self._root = root

    def __enter__(self) -> Observer:
        if not self._groups("blkio") and not self._groups("cpu"):
            raise BlindError("no control group of the processes is visible")
        return self

    def sample(self) -> list[Sample]:
        """Subjects: the group for its quota, `group|device` for its limits and for what it did."""
        now_ns = unix_ns()
        samples: list[Sample] = []
        for folder in self._groups("blkio"):
            group = group_name(folder, self._root)
            by_group: dict[str, dict[str, float]] = {number: dict(done) for number, done in _done(folder).items()}
            for (number, metric), limit in limits_of(folder).items():
                by_group.setdefault(number, {})[metric] = limit
            for number, counters in by_group.items():
                subject = f"{group}{metrics.PART}{self._device(number)}"
                samples += [Sample(now_ns, NAME, subject, metric, float(at)) for metric, at in counters.items()]
        for folder in self._groups("cpu"):
            group, quota = group_name(folder, self._root), parse_cpu_stat(read_or_empty(f"{folder}/cpu.stat"))
            samples += [Sample(now_ns, NAME, group, metric, float(at)) for metric, at in quota.items()]
        return samples

    def _groups(self, controller: str) -> list[str]:
        followed = self._watched.pids or self._watched.commands
        whose = [str(pid) for pid, _ in processes(self._watched, self._root)] if followed else ["self"]
        groups: dict[str, None] = {}
        for process in whose[:_MOST_PROCESSES]:
            groups |= dict.fromkeys(groups_of(process, self._root, controller))
        return list(groups)

    def _device(self, number: str) -> str:
        major, _, minor = number.partition(":")
        known = device_directory(int(major), int(minor)) if major.isdigit() and minor.isdigit() else None
        return known.name if known else number

    def __exit__(self, *_: object) -> None:
        """Nothing is kept open."""


def _done(folder: str) -> DeviceCounters:
    """Of version 2, or of version 1."""
    by_device = parse_io_stat(read_or_empty(f"{folder}/io.stat"))
    for name, read, written in (
        ("blkio.throttle.io_serviced_recursive", metrics.READS, metrics.WRITES),
        ("blkio.throttle.io_service_bytes_recursive", metrics.READ_BYTES, metrics.WRITTEN_BYTES),
    ):
        for number, counters in parse_throttle_counts(read_or_empty(f"{folder}/{name}"), read, written).items():
            by_device[number] = by_device.get(number, {}) | counters
    return by_device
