"""How much of an open file the page cache holds: cachestat(2), or mincore(2) where that is missing."""

from __future__ import annotations

import ctypes
import errno
import functools
import mmap
import os

from msgspec import Struct

_CACHESTAT = 451  # the same number on every architecture (Linux 6.5)
_WINDOW_BYTES = 1 << 30  # mincore answers one byte a page: 256 KiB for this
_MAP_FAILED = ctypes.c_void_p(-1).value


class Residency(Struct, frozen=True, kw_only=True):
    """Of one file at one instant. None: mincore does not tell."""

    cached_bytes: int
    dirty_bytes: int | None = None
    writeback_bytes: int | None = None


class _Range(ctypes.Structure):
    _fields_ = (("start", ctypes.c_uint64), ("length", ctypes.c_uint64))


class _Counts(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("cache", "dirty", "writeback", "evicted", "recently_evicted"))


@functools.cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
    libc.syscall.restype = ctypes.c_long
    return libc


def by_cachestat(fd: int) -> Residency:
    """Asks for the whole file. Raises OSError: ENOSYS before Linux 6.5, EOPNOTSUPP on hugetlbfs."""
    whole, counts = _Range(0, 0), _Counts()  # length 0: to the end
    if _libc().syscall(
        ctypes.c_long(_CACHESTAT),
        ctypes.c_uint(fd),
        ctypes.byref(whole),
        ctypes.byref(counts),
        ctypes.c_uint(0),
    ):
        raise _last_error()
    page = mmap.PAGESIZE
    return Residency(
        cached_bytes=counts.cache * page,
        dirty_bytes=counts.dirty * page,
        writeback_bytes=counts.writeback * page,
    )


def by_mincore(fd: int, size_bytes: int) -> Residency:
    """Maps the file without touching it. Only owners and writers are answered truly. Raises OSError."""
    if not may_mincore(fd):
        raise OSError(errno.EPERM, "only the owner or a writer of a file can see what is cached")
    cached_pages = 0
    for start in range(0, size_bytes, _WINDOW_BYTES):
        cached_pages += _mincore_window(fd, start, min(_WINDOW_BYTES, size_bytes - start))
    return Residency(cached_bytes=cached_pages * mmap.PAGESIZE)


def may_mincore(fd: int) -> bool:
    """To all others the kernel says since 5.2 that every page is cached."""
    try:
        return os.fstat(fd).st_uid == os.geteuid() or os.access(f"/proc/self/fd/{fd}", os.W_OK)
    except OSError:
        return False


def _mincore_window(fd: int, start: int, length: int) -> int:
    libc = _libc()
    address = libc.mmap(None, length, mmap.PROT_READ, mmap.MAP_SHARED, fd, start)
    if address == _MAP_FAILED:
        raise _last_error()
    try:
        pages = (ctypes.c_ubyte * -(-length // mmap.PAGESIZE))()
        if libc.mincore(address, length, pages):
            raise _last_error()
    finally:
        libc.munmap(address, length)
    return len(pages) - bytes(pages).count(0)


def _last_error() -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number))
