"""Loop devices: what each stands on, a file or a block device, and which file that is."""

from __future__ import annotations

import fcntl
import os
import re
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from iocast.archive.writing.file_identity import identity
from iocast.observe.target.mounts import remote_places
from iocast.observe.target.patience import within
from iocast.observe.target.sysfs import (
    device_directory,
    device_number,
    kernel_name,
    named_directory,
    source_directory,
)

Inode = tuple[int, int]  # device of the file system, inode
_LOOP_GET_STATUS64 = 0x4C05
_LOOP_INFO = struct.Struct("=QQQQQ")  # device, inode, device number of the file itself, offset, size limit
_LOOP_INFO_BYTES = 232
_LOOP = re.compile(r"\s*7\s+\d+\s+\d+\s+loop")  # in the list of disks, which has none without a size
_PATIENCE_S = 2.0


class LoopStatus(NamedTuple):
    """What the kernel says of a loop device."""

    inode: Inode
    number: int  # of the block device that it stands on; 0: it stands on a file
    offset: int
    limit: int  # 0: to the end


class Backing(NamedTuple):
    """What a loop device stands on: a block device, or the file of an inode; neither is known where nobody answers."""

    loop: Path
    path: str  # as the kernel names it: deleted names and those of other mount namespaces lead nowhere
    inode: Inode | None = None
    device: Path | None = None


def unseen_loops(root: Path = Path("/")) -> bool:
    """Whether there are, or may be, loop devices that nothing shows: without /sys the list of all disks has them."""
    if (root / "sys/class/block").is_dir():
        return False
    try:
        disks = (root / "proc/partitions").read_text("ascii", "replace").splitlines()
    except OSError:
        return root == Path("/")  # a tree on paper has what it needs
    return any(_LOOP.match(line) for line in disks)


def all_loops(root: Path = Path("/"), besides: str = "/") -> list[Backing]:
    """What each loop device stands on, by name.

    Left out are those on the file system of another machine or process, where a look may never come back, but for the
    one on which `besides` lies.
    """
    remote = remote_places(besides, root)
    backings: list[Backing] = []
    for entry in sorted(root.glob("sys/class/block/loop*")):
        loop = named_directory(entry.name, root)
        if loop is not None and not remote.hold(_path(loop) or ""):
            backings += filter(None, [backing(loop, root)])
    return backings


def backing(device: Path, root: Path = Path("/")) -> Backing | None:
    """What a device stands on that is a loop; None for all others, and for one to which nothing is attached."""
    path = _path(device)
    if path is None:
        return None
    known = within(_PATIENCE_S, lambda: _by_status(device, path, root) or _by_path(device, path, root))
    return known or Backing(device, path)


def _path(device: Path) -> str | None:
    """The kernel's name of the file; "" where it is too long to be shown. Without a file there is no such directory."""
    try:
        return os.fsdecode((device / "loop/backing_file").read_bytes()).removesuffix("\n")
    except OSError:
        return "" if (device / "loop").is_dir() else None


def _by_status(loop: Path, path: str, root: Path) -> Backing | None:
    if root != Path("/"):
        return None
    try:
        with opened_device(loop) as descriptor:
            status = loop_status(descriptor)
    except OSError:
        return None
    if status is None:
        return None
    below = device_directory(os.major(status.number), os.minor(status.number)) if status.number else None
    return Backing(loop, path, None if status.number else status.inode, below)


def _by_path(loop: Path, path: str, root: Path) -> Backing | None:
    if (below := source_directory(path, root)) is not None:
        return Backing(loop, path, device=below)
    try:
        status = os.stat(root / path.lstrip("/"))
    except OSError:
        return None
    return Backing(loop, path, (status.st_dev, status.st_ino)) if stat.S_ISREG(status.st_mode) else None


@contextmanager
def opened_device(directory: Path, flags: int = 0) -> Iterator[int]:
    """A descriptor of a device by its directory in sysfs, for as long as it is entered. Raises OSError, also where
    another node has its name.
    """
    path = f"/dev/{kernel_name(directory)}"
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | flags)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISBLK(status.st_mode) or status.st_rdev != os.makedev(*device_number(directory)):
            raise FileNotFoundError(f"{path} is another device")
        yield descriptor
    finally:
        os.close(descriptor)


def loop_status(descriptor: int) -> LoopStatus | None:
    """What the kernel says of an open loop device, or of a partition of one; None for all others."""
    buffer = bytearray(_LOOP_INFO_BYTES)
    try:
        fcntl.ioctl(descriptor, _LOOP_GET_STATUS64, buffer)
    except OSError:
        return None
    device, inode, number, offset, limit = _LOOP_INFO.unpack_from(buffer)
    return LoopStatus((device, inode), number, offset, limit)


def file_mark(path: str, inode: Inode) -> tuple[str, str]:
    """Which file it is, also after its inode is given to another one: "254:0:131077:g2882400001:b1795655219.574678090".

    Or "", and what keeps that from being said, with the way out. The generation of the inode and the time of birth are
    there as far as the file system keeps them.
    """
    answer = within(_PATIENCE_S, lambda: _file_mark(path, inode))
    return answer or ("", "cannot be looked at: its file system does not answer")


def _file_mark(path: str, inode: Inode) -> tuple[str, str]:
    if not path:
        return "", "has a longer path than the kernel shows: attach it by a shorter one"
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        if path.endswith(" (deleted)"):
            return "", "was deleted: attach the loop device again by a name that exists"
        return "", "is not visible here: attach it again in this mount namespace"
    except OSError as error:
        return "", f"cannot be opened ({error.strerror}): run as a user who may read it"
    try:
        status = os.fstat(descriptor)
        if (status.st_dev, status.st_ino) != inode:
            return "", "is no longer the one of that name: attach the loop device again"
        known = identity(descriptor)
    finally:
        os.close(descriptor)
    if not known.lasts:
        why = "lies on a file system that keeps neither generation nor birth time of an inode"
        return "", f"{why}, so a later file would have the same name: put it on ext4, XFS, btrfs or tmpfs"
    number = f"{os.major(inode[0])}:{os.minor(inode[0])}:{inode[1]}"
    birth = "" if known.born_ns is None else f":b{known.born_ns // 10**9}.{known.born_ns % 10**9:09d}"
    return number + (f":g{known.generation}" if known.generation else "") + birth, ""
