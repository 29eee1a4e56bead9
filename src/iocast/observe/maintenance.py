"""Maintenance: background work of the storage during a test: resyncs, checks, scrubs; also overheated drives.

What it is: a flag, 1 while it applies: md array in resync, recovery, reshape or check; btrfs file system in
balance or resize, and in scrub if it holds the target; ZFS pool
degraded; drive at its warning temperature.

Why it matters: such work takes a good part of the storage's performance for hours, and no other figure shows it.

Needs: sysfs; for ZFS the statistics in /proc/spl/kstat; for SATA drives the module drivetemp.

Overhead: a few small reads per array, file system and drive.

What it cannot see: maintenance of arrays behind a controller or network; ZFS scans, LVM and fstrim, which are asked
for once, before the first row; btrfs scrubs without CAP_SYS_ADMIN, or of file systems other than the target's.
"""

from __future__ import annotations

import errno
import fcntl
import glob
import os
from collections.abc import Collection

from iocast import metrics
from iocast._core import unix_ns
from iocast.model.run import Sample
from iocast.model.target import Target
from iocast.observe.observer import BlindError

NAME = metrics.MAINTENANCE
NEEDS = "/sys (and /proc/spl/kstat for ZFS)"
OVERHEAD = "about 140 µs a sample (measured: 100 to 140 µs without arrays), and the same again for each array"

IDLE_MD = frozenset({"idle", "frozen", ""})
IDLE_BTRFS = frozenset({"none", ""})

# BTRFS_IOC_SCRUB_PROGRESS of linux/btrfs.h: _IOWR(0x94, 29, 1024 bytes); it fails with ENOTCONN where none runs.
SCRUB_PROGRESS, SCRUB_ARGS = (3 << 30) | (1024 << 16) | (0x94 << 8) | 29, 1024


class Observer:
    """Reads the state of all of the machine; what is below the target is told apart by its reader."""

    def __init__(self, target: Target, files: tuple[str, ...], root: str = "/") -> None:
        self.unseen: tuple[str, ...] = ()
        self._root = root
        self._btrfs_at = target.mount_point if target.filesystem == "btrfs" else None
        self._devices = max(1, len(target.layers))  # their ids count from 1

    def __enter__(self) -> Observer:
        if not os.path.isdir(os.path.join(self._root, "sys")):
            raise BlindError("/sys is not mounted")
        return self

    def sample(self) -> list[Sample]:
        """One sample for each task that could run here: 1 while it does."""
        now_ns = unix_ns()
        states = [*self._md(), *self._btrfs(), *self._scrub(), *self._zfs(), *self._heat()]
        return [Sample(now_ns, NAME, subject, metric, float(running)) for subject, metric, running in states]

    def _md(self) -> list[tuple[str, str, bool]]:
        work = []
        for path in self._glob("sys/block/md*/md/sync_action"):
            action = _read(path)
            name = path.split("/")[-3]
            running = action not in IDLE_MD
            work.append((name, f"{metrics.MD}_{action}" if running else metrics.MD_SYNC, running))
        return work

    def _btrfs(self) -> list[tuple[str, str, bool]]:
        work = []
        for path in self._glob("sys/fs/btrfs/*-*/exclusive_operation"):
            folder = os.path.dirname(path)
            name = (_read(f"{folder}/label") or os.path.basename(folder)).strip()
            action = _read(path)
            running = action not in IDLE_BTRFS
            work.append(
                (name, f"{metrics.BTRFS}_{action.replace(' ', '_')}" if running else metrics.BTRFS_BALANCE, running)
            )
        return work

    def _scrub(self) -> list[tuple[str, str, bool]]:
        if self._btrfs_at is None:
            return []
        try:
            running = _is_scrubbed(self._btrfs_at, self._devices)
        except OSError as error:
            self._btrfs_at = None
            self.unseen = (f"btrfs scrub status: {error.strerror}",)
            return []
        return [(self._btrfs_at, metrics.BTRFS_SCRUB, running)]

    def _zfs(self) -> list[tuple[str, str, bool]]:
        work = []
        for path in self._glob("proc/spl/kstat/zfs/*/state"):
            pool = path.split("/")[-2]
            work.append((pool, metrics.ZFS_DEGRADED, _read(path) not in ("ONLINE", "")))
        return work

    def _heat(self) -> list[tuple[str, str, bool]]:
        work = []
        for path in self._glob("sys/class/hwmon/hwmon*/temp1_max"):
            folder = os.path.dirname(path)
            if _read(f"{folder}/name") not in ("nvme", "drivetemp"):
                continue
            limit, now = _number(path), _number(f"{folder}/temp1_input")
            blocks = self._glob(f"{os.path.relpath(folder, self._root)}/device/block/*") or self._glob(
                f"{os.path.relpath(folder, self._root)}/device/nvme*n*"
            )
            if limit and now is not None:
                work += [(os.path.basename(block), metrics.HOT, now >= limit) for block in blocks]
        return work

    def _glob(self, pattern: str) -> list[str]:
        return sorted(glob.glob(os.path.join(self._root, pattern)))

    def __exit__(self, *_: object) -> None:
        """Nothing is kept open."""


def btrfs_on(layers: Collection[str], root: str = "/") -> set[str]:
    """The names, as above, of the btrfs that stand on any of these devices."""
    members = set()
    for folder in glob.glob(os.path.join(root, "sys/fs/btrfs/*-*")):
        if any(name in layers for name in map(os.path.basename, glob.glob(f"{folder}/devices/*"))):
            members.add((_read(f"{folder}/label") or os.path.basename(folder)).strip())
    return members


def _is_scrubbed(mount_point: str, devices: int) -> bool:
    """True while any device of a mounted btrfs is scrubbed. Raises OSError where that may not be asked."""
    handle = os.open(mount_point, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for number in range(1, devices + 1):
            try:
                fcntl.ioctl(handle, SCRUB_PROGRESS, bytearray(number.to_bytes(8, "little").ljust(SCRUB_ARGS, b"\0")))
            except OSError as error:
                if error.errno not in (errno.ENOTCONN, errno.ENODEV):
                    raise
            else:
                return True
        return False
    finally:
        os.close(handle)


def _read(path: str) -> str:
    """A small file without its end of line; "" when it is gone or cannot be read: the thing may just have ended."""
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


def _number(path: str) -> int | None:
    text = _read(path)
    return int(text) if text.lstrip("-").isdigit() else None
