"""What of a file is really on the device: FIEMAP where the file system has it, SEEK_HOLE where it has not.

A hole or an unwritten extent is read as zeros without any I/O, so a file with either is never measured.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct
from collections.abc import Iterator

from msgspec import Struct

_FS_IOC_FIEMAP = 0xC020660B
_SYNC = 0x1
_LAST, _UNKNOWN, _DELALLOC, _UNWRITTEN = 0x1, 0x2, 0x4, 0x800
_SHARED = 0x2000
_HEADER = struct.Struct("=QQLLLL")
_EXTENT = struct.Struct("=QQQQQLLLL")
_BATCH = 512
_NO_FIEMAP = (errno.EOPNOTSUPP, errno.ENOTTY, errno.EINVAL, errno.ENOSYS)


class Extents(Struct, frozen=True):
    """Bytes of the first `size_bytes` of a file that are not backed by written blocks."""

    size_bytes: int
    hole_bytes: int
    unwritten_bytes: int  # allocated but never written, or not yet allocated
    method: str  # "FIEMAP", "SEEK_HOLE" (which cannot see unwritten extents), "none"
    why_not: str = ""  # why there is no better method
    shared_bytes: int = 0  # in blocks which other files have too (reflinks, snapshots); FIEMAP alone knows

    @property
    def whole(self) -> bool:
        """True when nothing is known to be missing."""
        return self.hole_bytes == 0 and self.unwritten_bytes == 0


def survey(path: str) -> Extents:
    """Looks at every extent of a regular file. Raises OSError when it cannot be opened."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a FIFO does not hang it
    try:
        size = os.fstat(descriptor).st_size
        try:
            return _by_fiemap(descriptor, size)
        except OSError as error:
            if error.errno not in _NO_FIEMAP:
                raise
            return _by_seek_hole(descriptor, size, f"FIEMAP is not supported here ({os.strerror(error.errno)})")
    finally:
        os.close(descriptor)


def shared_bytes(descriptor: int) -> int | None:
    """Bytes of an open file that lie in blocks which other files have too (reflinks); None where that is unknown."""
    try:
        return _by_fiemap(descriptor, os.fstat(descriptor).st_size).shared_bytes
    except OSError as error:
        if error.errno not in _NO_FIEMAP:
            raise
        return None


def _by_fiemap(descriptor: int, size: int) -> Extents:
    covered, unwritten, shared = 0, 0, 0
    for inside, flags in _extents(descriptor, size):
        covered += inside
        if flags & (_UNWRITTEN | _DELALLOC | _UNKNOWN):
            unwritten += inside
        if flags & _SHARED:
            shared += inside
    return Extents(size, size - covered, unwritten, "FIEMAP", shared_bytes=shared)


def _extents(descriptor: int, size: int) -> Iterator[tuple[int, int]]:
    """How much of the file each extent has, and its flags. Raises OSError."""
    position = 0
    while position < size:
        buffer = bytearray(_HEADER.size + _BATCH * _EXTENT.size)
        _HEADER.pack_into(buffer, 0, position, size - position, _SYNC, 0, _BATCH, 0)
        fcntl.ioctl(descriptor, _FS_IOC_FIEMAP, buffer)
        mapped = _HEADER.unpack_from(buffer)[3]
        if not mapped:
            return
        for number in range(mapped):
            fields = _EXTENT.unpack_from(buffer, _HEADER.size + number * _EXTENT.size)
            start, length, flags = fields[0], fields[2], fields[5]
            yield max(0, min(start + length, size) - max(start, position)), flags
            position = max(position, start + length)
        if flags & _LAST:
            return


def _by_seek_hole(descriptor: int, size: int, why_not: str) -> Extents:
    position, holes = 0, 0
    try:
        while position < size:
            hole = os.lseek(descriptor, position, os.SEEK_HOLE)
            if hole >= size:
                break
            try:
                position = os.lseek(descriptor, hole, os.SEEK_DATA)
            except OSError as error:
                if error.errno != errno.ENXIO:
                    raise
                position = size  # no data after the hole
            holes += min(position, size) - hole
    except OSError as error:
        return Extents(size, 0, 0, "none", f"{why_not}, nor is SEEK_HOLE ({error.strerror})")
    return Extents(size, holes, 0, "SEEK_HOLE", why_not)
