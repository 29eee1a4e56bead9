"""Signs that iocast works on a file, for the case that it ends without a word: killed, or its storage failed.

While it writes to a work file it touches the mark many times a second. What was written to the file later than the last
touch is another program's. Of all that is older a sample of the content decides, as iocast writes random bytes and
zeros only: between that touch and the end of the process both may have written, and a mark may be touched by others.
"""

from __future__ import annotations

import os
import re
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from iocast.starting import starting

_EVERY_S = 0.05
_ENDS_WITHIN_S = 2.0  # storage that does not answer holds up a touch, not the run
_LATE_NS = 1_000_000_000  # by which a touch may be late on a busy machine
_STORED_LATE_NS = 60_000_000_000  # what storage kept of one when it went without a word
_HEAD_BYTES, _BLOCK_BYTES = 64 << 10, 4096  # of the sample of a file
_PARTS = 64
LAYOUT_BYTES = 1 << 20  # of a write that lays a file out
_SECTOR_BYTES = 512  # the smallest I/O: each may have the same random bytes
_RANDOM_SHARE = 0.9  # random bytes do not become smaller than that
_TOO_FEW_BYTES = 64  # to tell whether they are random
_ZEROS_LEAST, _ZEROS_SHARE = 3, 1 / 10  # of random bytes may be zero; seals of verified writes have counters in them
_TEXT = re.compile(rb"[\t\n\r -~]{24}")  # among random bytes once in 30,000 files


@contextmanager
def touching(descriptor: int) -> Iterator[None]:
    """While entered, an open mark has a time of last change that is the present. Raises LoadError."""
    ended, own = threading.Event(), os.dup(descriptor)

    def touch() -> None:
        try:
            while not ended.wait(_EVERY_S):
                with suppress(OSError):
                    os.utime(own)
        finally:
            os.close(own)

    thread = threading.Thread(target=touch, name="iocast-touch", daemon=True)
    try:
        with starting():
            thread.start()
    except BaseException:
        os.close(own)
        raise
    try:
        yield
    finally:
        ended.set()
        thread.join(_ENDS_WITHIN_S)


def is_changed_since(touched_ns: int, descriptor: int, size_bytes: int, *, same_boot: bool) -> bool:
    """Whether another program wrote to a file on which an iocast worked that ended without a word.

    `touched_ns`: when its mark was touched last; after another start of the machine that may be what storage had of it.
    `size_bytes`: its size when it is whole. While it is laid out it may be longer.
    No program sets the time of the last change, and a mark may be touched by others later: then the content tells.
    """
    status = os.fstat(descriptor)
    if status.st_size > in_whole_writes(size_bytes) or (
        status.st_size % _SECTOR_BYTES and status.st_size != size_bytes
    ):
        return True
    changed_ns = max(status.st_mtime_ns, status.st_ctime_ns)
    return changed_ns > touched_ns + (_LATE_NS if same_boot else _STORED_LATE_NS) or not is_random_or_zero(descriptor)


def in_whole_writes(size_bytes: int) -> int:
    """The size that a file has while it is laid out: a multiple of LAYOUT_BYTES."""
    return -(-size_bytes // LAYOUT_BYTES) * LAYOUT_BYTES


def is_random_or_zero(descriptor: int) -> bool:
    """Whether the sampled content of a file may be what iocast writes. Raises OSError."""
    return all(_may_be_ours(content) for content in sampled(descriptor, _PARTS))


def sampled(descriptor: int, parts: int) -> Iterator[bytes]:
    """What is in the first blocks of a file, and in some all over it. Raises OSError.

    What is read does not stay in the page cache; the rest of the file does.
    """
    last = max(0, os.fstat(descriptor).st_size - _BLOCK_BYTES)
    spread = [last * part // (parts - 1) // _BLOCK_BYTES * _BLOCK_BYTES for part in range(1, parts)]
    for at, size in ((0, _HEAD_BYTES), *((at, _BLOCK_BYTES) for at in spread)):
        yield os.pread(descriptor, size, at)
        os.posix_fadvise(descriptor, at, size, os.POSIX_FADV_DONTNEED)


def _may_be_ours(content: bytes) -> bool:
    if _TEXT.search(content):
        return False
    return all(_is_random_then_zero(content[at : at + _SECTOR_BYTES]) for at in range(0, len(content), _SECTOR_BYTES))


def _is_random_then_zero(sector: bytes) -> bool:
    """Random bytes, in which few are zero, and then nothing but zeros: tables of file systems, of partitions and of
    databases are zeros with something among them.
    """
    random = sector.rstrip(b"\0")
    if random.count(0) > _ZEROS_LEAST + _ZEROS_SHARE * len(random):
        return False
    return len(random) < _TOO_FEW_BYTES or len(zlib.compress(random)) >= _RANDOM_SHARE * len(random)
