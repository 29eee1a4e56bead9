"""Limits: of this process's control group: I/O limits (io.max, blkio.throttle), and how its CPU quota held it back.

What it is: for each disk below the target, the lowest limit of iocast's control group and its parents (of a load
through a database on this machine, those of the server):
MB/s and IOPS of reads and of writes; of each group with a CPU quota, in how many of its periods the quota was used up
(cpu.stat). Nothing is recorded if no limits are set.

Why it matters: a rate-limited row in a container measures a setting, not the storage; a quota that is used up stops the
test for a part of each period, while the processors of the machine are idle.

Needs: the cgroup file systems at /sys/fs/cgroup.

Overhead: a few small reads.

What it cannot see: limits outside this machine or its namespace: those of the hypervisor, the array or the cloud.
"""

from __future__ import annotations

import os

from iocast import metrics
from iocast._core import unix_ns
from iocast.model.run import Sample
from iocast.model.target import Target
from iocast.observe.group_counters import parse_cpu_stat
from iocast.observe.observer import BlindError

NAME = metrics.LIMITS
NEEDS = "/proc/self/cgroup and /sys/fs/cgroup"
OVERHEAD = "about 200 µs a sample (measured: 130 to 200 µs, 2 processors, 3 groups deep)"

V2_FILE = "io.max"
V2_KEYS = {
    "rbps": metrics.READ_BYTES_PER_S,
    "wbps": metrics.WRITE_BYTES_PER_S,
    "riops": metrics.READ_IOS_PER_S,
    "wiops": metrics.WRITE_IOS_PER_S,
}
V1_FILES = {
    "blkio.throttle.read_bps_device": metrics.READ_BYTES_PER_S,
    "blkio.throttle.write_bps_device": metrics.WRITE_BYTES_PER_S,
    "blkio.throttle.read_iops_device": metrics.READ_IOS_PER_S,
    "blkio.throttle.write_iops_device": metrics.WRITE_IOS_PER_S,
}
Limits = dict[tuple[str, str], float]  # (major:minor, metric)


def parse_io_max(text: str) -> Limits:
    """The limits of one io.max: "8:16 rbps=2097152 wbps=max riops=max wiops=120"."""
    by_device: Limits = {}
    for line in text.splitlines():
        number, *pairs = line.split()
        for key, _, value in (pair.partition("=") for pair in pairs):
            if key in V2_KEYS and value.isdigit():
                by_device[number, V2_KEYS[key]] = float(value)
    return by_device


def parse_throttle(text: str, metric: str) -> Limits:
    """The limits of one file of blkio.throttle: "8:16 1048576"."""
    pairs = (line.split() for line in text.splitlines())
    return {(pair[0], metric): float(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


class Observer:
    """Reads the limits of our own group and of all above it; the lowest of each disk counts."""

    def __init__(self, target: Target, files: tuple[str, ...], root: str = "/") -> None:
        self.unseen: tuple[str, ...] = ()
        self._root = root
        server = target.database.pid if target.database is not None else None
        self._process = "self" if server is None else str(server)  # whose I/O it is
        self._names = {f"{layer.major}:{layer.minor}": layer.name for layer in target.layers}

    def __enter__(self) -> Observer:
        if not self._groups():
            raise BlindError("the control group of this process is not visible")
        return self

    def sample(self) -> list[Sample]:
        """What holds now: a limit may be set while a test runs."""
        now_ns, lowest = unix_ns(), Limits()
        for folder in self._groups():
            for key, value in limits_of(folder).items():
                lowest[key] = min(value, lowest.get(key, value))
        samples = [
            Sample(now_ns, NAME, self._names[number], metric, value)
            for (number, metric), value in sorted(lowest.items())
            if number in self._names
        ]
        for folder in groups_of(self._process, self._root, "cpu"):
            quota = parse_cpu_stat(read_or_empty(f"{folder}/cpu.stat"))
            group = f"cgroup {group_name(folder, self._root)}"
            samples += [Sample(now_ns, NAME, group, metric, float(at)) for metric, at in quota.items()]
        return samples

    def _groups(self) -> list[str]:
        return groups_of(self._process, self._root)

    def __exit__(self, *_: object) -> None:
        """Nothing is kept open."""


def group_name(folder: str, root: str = "/") -> str:
    """How the control group of a folder is called: its path, in version 1 with the controller in front."""
    return "/" + os.path.relpath(folder, os.path.join(root, "sys/fs/cgroup")).removeprefix(".")


def groups_of(process: str, root: str = "/", controller: str = "blkio") -> list[str]:
    """The folders of a process's group and of those above it: of version 2, and of one controller of version 1."""
    groups = []
    for line in read_or_empty(os.path.join(root, f"proc/{process}/cgroup")).splitlines():
        _, controllers, path = line.split(":", 2)
        base = os.path.join(root, "sys/fs/cgroup")
        if controller in controllers.split(","):
            base = os.path.join(base, controller)
        elif controllers:
            continue
        elif os.path.isdir(os.path.join(base, "unified")):  # both versions are mounted
            base = os.path.join(base, "unified")
        parts = [part for part in path.split("/") if part not in ("", "..")]
        groups += [os.path.join(base, *parts[:deep]) for deep in range(len(parts), -1, -1)]
    return [folder for folder in groups if os.path.isdir(folder)]


def limits_of(folder: str) -> Limits:
    """The limits that one group sets itself."""
    limits = parse_io_max(read_or_empty(f"{folder}/{V2_FILE}"))
    for name, metric in V1_FILES.items():
        limits |= parse_throttle(read_or_empty(f"{folder}/{name}"), metric)
    return limits


def read_or_empty(path: str) -> str:
    """The text of a file of the kernel; "" where it cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)  # a third of the time of open(): it is done by thousands
    except OSError:
        return ""
    text = b""
    try:
        while more := os.read(descriptor, 1 << 16):
            text += more
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    return text.decode("ascii", "replace")
