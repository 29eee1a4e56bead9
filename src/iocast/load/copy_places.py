"""Where a file is copied from and to: the source is only read, the copy never takes the place of what iocast did not
make, and must fit.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from msgspec import Struct

from iocast.archive.writing.named_outputs import check_output
from iocast.errors import TargetError
from iocast.load.os_refusals import refusal
from iocast.load.work_files import RESERVE_MOST_BYTES, RESERVE_SHARE
from iocast.text import capacity

_SAFELY = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class Source(Struct, frozen=True):
    """The file that is copied, as it was found; a change of it ends the experiment."""

    path: str
    device: int
    inode: int
    size_bytes: int
    modified_ns: int
    allocated_bytes: int


def find_source(path: str) -> Source:
    """Looks at the source, and opens it once. Raises TargetError."""
    try:
        status = os.stat(path)
        if stat.S_ISREG(status.st_mode):
            descriptor = os.open(path, _SAFELY)
            status = os.fstat(descriptor)
            os.close(descriptor)
    except OSError as error:
        raise refusal("cannot read", path, error) from error
    if not stat.S_ISREG(status.st_mode):
        raise TargetError(f"{path} is not a regular file", "give a regular file as SOURCE")
    if not status.st_size:
        raise TargetError(f"{path} is empty", "give a SOURCE of some hundred MiB, better larger than the caches")
    return _source(path, status)


def open_source(source: Source) -> int:
    """A new descriptor of the source. Raises TargetError where it is not the file that was found, or was changed."""
    try:
        descriptor = os.open(source.path, _SAFELY)
    except OSError as error:
        raise refusal("cannot read", source.path, error) from error
    if not _unchanged(source, os.fstat(descriptor)):
        os.close(descriptor)
        raise TargetError(f"{source.path} was changed during the copies", "copy a file that nobody writes to")
    return descriptor


def destination_of(source: Source, path: str) -> Path:
    """The name of the copy: in a directory it is `iocast-copy.NAME`. Raises TargetError, ArchiveError."""
    if not path:
        raise TargetError("DESTINATION is empty", "give a directory, or the name of a file that does not exist yet")
    to = Path(os.path.abspath(path))
    if to.is_dir():
        to = to / f"iocast-copy.{os.path.basename(source.path)}"
    elif path.endswith("/"):
        raise TargetError(f"{path} is not a directory", "make it first, or check the path")
    if os.path.lexists(to) and os.path.realpath(to) == os.path.realpath(source.path):
        raise TargetError(f"{to} is SOURCE itself", "give another directory or file name")
    check_output(to, "DESTINATION")
    return to


def check_room(source: Source, directory: Path, *, keep: bool) -> None:
    """Refuses a copy that would not leave the reserve free. One copy is there at a time, with `keep` perhaps two.

    Raises TargetError.
    """
    try:
        place = os.statvfs(directory)
    except OSError as error:
        raise refusal("cannot write to", str(directory), error) from error
    total, free = place.f_blocks * place.f_frsize, place.f_bavail * place.f_frsize
    if not total:
        return  # some memory file systems have no limit
    needed = source.size_bytes * (2 if keep else 1)
    reserve = min(int(total * RESERVE_SHARE), RESERVE_MOST_BYTES)
    if needed > free - reserve:
        raise TargetError(
            f"{directory}: {'two copies' if keep else 'a copy'} of {capacity(needed)} would not fit:"
            f" {capacity(free)} are free, of which {capacity(reserve)} must stay free",
            "free some space, give a smaller SOURCE, or another DESTINATION",
        )


def block_bytes(directory: Path) -> int:
    """`st_blksize` of what is made in a directory. Raises TargetError."""
    try:
        return os.stat(directory).st_blksize
    except OSError as error:
        raise refusal("cannot look at", str(directory), error) from error


def _unchanged(source: Source, now: os.stat_result) -> bool:
    """Room on the disk does not count: a file system lays it out, or gives it back, some time after a write."""
    known = (source.device, source.inode, source.size_bytes, source.modified_ns)
    return known == (now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns)


def _source(path: str, status: os.stat_result) -> Source:
    return Source(path, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_blocks * 512)
