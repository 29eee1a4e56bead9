"""Which other processes have a block device open or mapped, by any node, itself or on its disk or partitions."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from iocast.observe.target.mounts import read_mounts
from iocast.observe.target.sysfs import device_directory, kernel_name, read_text

# A look at an open file of a dead server may never come back.
_REMOTE = re.compile(r"nfs|cifs|smb|ceph|fuse|9p|afs|gfs|ocfs|lustre|glusterfs|beegfs|virtiofs")
_NO_FILE = re.compile(r"(socket|pipe|anon_inode|mnt|net|pid|user|uts|ipc|cgroup|time):")


def related(major: int, minor: int, root: Path = Path("/")) -> dict[int, str]:
    """Device numbers that reach the same blocks, with their kernel names: the device, its partitions, its disk."""
    directory = device_directory(major, minor, root)
    if directory is None:
        return {os.makedev(major, minor): f"{major}:{minor}"}
    whole = [directory.parent] if (directory / "partition").exists() else []
    parts = sorted(entry.parent for entry in directory.glob("*/partition"))
    found: dict[int, str] = {}
    for each in [directory, *whole, *parts]:
        number = (read_text(each / "dev") or "").partition(":")
        if number[2]:
            found[os.makedev(int(number[0]), int(number[2]))] = kernel_name(each)
    return found


def device_users(major: int, minor: int) -> tuple[list[str], int]:
    """One sentence for each other process that uses any of them, as far as this user may see; and how many processes
    could not be looked at.
    """
    numbers, remote = related(major, minor), _remote_places()
    found, unseen = [], 0
    seen_maps: dict[str, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        if folder.name == str(os.getpid()):
            continue
        try:
            opened = {number for entry in _descriptors(folder, remote) if (number := _number(entry)) in numbers}
            mapped = {number for number in _mapped(folder, remote, seen_maps) if number in numbers} - opened
        except PermissionError:
            unseen += 1
            continue
        except OSError:
            continue  # it ended meanwhile
        who = f"process {folder.name} ({read_text(folder / 'comm') or '?'})"
        found += [f"{who} has {numbers[number]} open" for number in sorted(opened)]
        found += [f"{who} has {numbers[number]} mapped into its memory" for number in sorted(mapped)]
    return found, unseen


def _remote_places() -> tuple[str, ...]:
    return tuple(f"{mount.mount_point}/" for mount in read_mounts() if _REMOTE.match(mount.filesystem))


def _descriptors(folder: Path, remote: tuple[str, ...]) -> Iterator[str]:
    for name in os.listdir(folder / "fd"):
        entry = f"{folder}/fd/{name}"
        try:
            place = os.readlink(entry)
        except FileNotFoundError:
            continue
        if not _NO_FILE.match(place) and not place.startswith(remote):
            yield entry


def _mapped(folder: Path, remote: tuple[str, ...], seen: dict[str, int]) -> set[int]:
    """Device numbers of what is mapped. Libraries are mapped by every process: each is looked at once."""
    found = set()
    for line in (folder / "maps").read_bytes().decode("utf-8", "replace").splitlines():
        span, _, _, _, inode, *name = line.split(maxsplit=5)
        if inode == "0" or not name or name[0].startswith(remote):
            continue
        what = line.split(maxsplit=3)[3]
        if what not in seen:
            first, _, last = span.partition("-")
            seen[what] = _number(f"{folder}/map_files/{first.lstrip('0')}-{last.lstrip('0')}")
        found.add(seen[what])
    return found


def _number(entry: str) -> int:
    """The number of the block device behind a link of /proc, 0 for everything else."""
    try:
        status = os.stat(entry)
    except OSError:
        return 0
    return status.st_rdev if stat.S_ISBLK(status.st_mode) else 0
