"""Which file an open one is, so that no later file and no snapshot passes for it, and whether it is the caller's."""

from __future__ import annotations

import ctypes
import fcntl
import functools
import os
import stat
import struct
from collections.abc import Container
from pathlib import Path
from typing import NamedTuple

MARK_SUFFIX = ".iocast"  # of the name of a file: that of the mark beside it, which says that iocast made the file
_FS_IOC_GETVERSION = 0x80087601
_AT_EMPTY_PATH, _STATX_BTIME, _STATX_SUBVOL = 0x1000, 0x800, 0x8000
_STATX_MNT_ID_UNIQUE = 0x4000
_STATX_BYTES, _BTIME_AT, _MOUNT_AT, _SUBVOLUME_AT = 256, 80, 144, 160
_BTRFS_IOC_INO_LOOKUP, _BTRFS_LOOKUP_BYTES, _BTRFS_FIRST_OBJECT = 0xD0009412, 4096, 256
_ALL_USERS = 2**32 - 1
_AS_OWNER = os.O_RDONLY | os.O_NOATIME | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class FileIdentity(NamedTuple):
    """What tells a file from all others of its file system, as far as that keeps it."""

    inode: int
    generation: int | None  # another one for each file that has the inode number
    born_ns: int | None
    subvolume: int | None  # a snapshot has the same inodes, generations and times

    @property
    def lasts(self) -> bool:
        """Whether it says more than a number that a later file can get. Some file systems have 0 for each file."""
        return bool(self.generation) or self.born_ns is not None


def identity(descriptor: int) -> FileIdentity:
    """Which file is open. Raises OSError."""
    born_ns, subvolume = _birth(descriptor)
    if subvolume is None:
        subvolume = _btrfs_subvolume(descriptor)  # before Linux 6.10
    return FileIdentity(os.fstat(descriptor).st_ino, _generation(descriptor), born_ns, subvolume)


def mount_of(descriptor: int) -> int | None:
    """The number of the mount through which a file is open, which no later mount gets; None before Linux 6.8."""
    facts = _statx(descriptor, _STATX_MNT_ID_UNIQUE)
    if facts is None or not facts.kept & _STATX_MNT_ID_UNIQUE:
        return None
    return facts.mount


def belongs_to(status: os.stat_result, place: str | Path, users: Container[int]) -> bool:
    """Whether a file belongs to one of these users; `place` is a path that leads to it.

    In a user namespace all owners that it does not know have one number. Of files with that number those are the
    caller's that the kernel opens for their owner only.
    """
    if status.st_uid not in users:
        return False
    return status.st_uid != _unknown_user() or _opens_as_owner(status, place)


def is_ours(status: os.stat_result, place: str | Path) -> bool:
    """Whether a file belongs to the caller or to root."""
    return belongs_to(status, place, (os.geteuid(), 0))


@functools.cache
def _unknown_user() -> int | None:
    """The number of all users that the namespace does not know; None where it knows all."""
    try:
        known = sum(int(line.split()[2]) for line in Path("/proc/self/uid_map").read_text().splitlines())
        if known >= _ALL_USERS:
            return None
        return int(Path("/proc/sys/kernel/overflowuid").read_text())
    except (OSError, ValueError, IndexError):
        return None


def _opens_as_owner(status: os.stat_result, place: str | Path) -> bool:
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        return False
    try:
        descriptor = os.open(place, _AS_OWNER)
    except OSError:
        return False
    try:
        return os.path.samestat(os.fstat(descriptor), status)
    finally:
        os.close(descriptor)


def _generation(descriptor: int) -> int | None:
    answer = bytearray(8)
    try:
        fcntl.ioctl(descriptor, _FS_IOC_GETVERSION, answer)
    except OSError:
        return None
    return int.from_bytes(answer[:4], "little")


def _birth(descriptor: int) -> tuple[int | None, int | None]:
    """When a file was made, and the number of its subvolume; None each where that is not known."""
    facts = _statx(descriptor, _STATX_BTIME | _STATX_SUBVOL)
    if facts is None:
        return None, None
    born_ns = facts.born_ns if facts.kept & _STATX_BTIME else 0
    return born_ns or None, facts.subvolume if facts.kept & _STATX_SUBVOL else None


class _Facts(NamedTuple):
    """Those of statx(2) that are asked for here; `kept`: the mask of those that the file system has."""

    kept: int
    born_ns: int
    mount: int
    subvolume: int


def _statx(descriptor: int, mask: int) -> _Facts | None:
    call = getattr(ctypes.CDLL(None), "statx", None)  # of glibc since 2.28
    buffer = ctypes.create_string_buffer(_STATX_BYTES)
    if call is None or call(descriptor, b"", _AT_EMPTY_PATH, mask, buffer):
        return None
    (kept,) = struct.unpack_from("=I", buffer)
    seconds, ns = struct.unpack_from("=qI", buffer, _BTIME_AT)
    (mount,) = struct.unpack_from("=Q", buffer, _MOUNT_AT)
    (subvolume,) = struct.unpack_from("=Q", buffer, _SUBVOLUME_AT)
    return _Facts(kept, seconds * 10**9 + ns, mount, subvolume)


def _btrfs_subvolume(descriptor: int) -> int | None:
    answer = bytearray(struct.pack("=QQ", 0, _BTRFS_FIRST_OBJECT).ljust(_BTRFS_LOOKUP_BYTES, b"\0"))
    try:
        fcntl.ioctl(descriptor, _BTRFS_IOC_INO_LOOKUP, answer)
    except OSError:
        return None
    return int(struct.unpack_from("=Q", answer)[0])
