"""Renames that replace nothing, and names that change places: what Python's own rename cannot say."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import os
import stat
from pathlib import Path

from iocast.archive.writing.file_identity import is_ours

_NOREPLACE, _EXCHANGE = 1, 2
_UNKNOWN = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)  # of file systems that know neither


def rename_to_free_name(folder: int, name: str, to: str, to_folder: int | None = None) -> None:
    """Gives what is called `name` in the folder another name there, or in another folder. Raises FileExistsError,
    OSError.

    Where the file system has no such rename, a file gets a second name, which replaces nothing; where it has none of
    these either, and for folders, it is renamed after a look.
    """
    there = folder if to_folder is None else to_folder
    number = _renameat2(folder, name, to, _NOREPLACE, there)
    if not number:
        return
    if number not in _UNKNOWN:
        raise OSError(number, os.strerror(number))
    if not stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        try:
            os.link(name, to, src_dir_fd=folder, dst_dir_fd=there, follow_symlinks=False)
        except FileExistsError:
            raise
        except OSError as error:
            if error.errno not in (*_UNKNOWN, errno.EPERM, errno.EMLINK):
                raise
        else:
            os.unlink(name, dir_fd=folder)
            return
    with contextlib.suppress(FileNotFoundError):
        os.stat(to, dir_fd=there, follow_symlinks=False)
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
    os.rename(name, to, src_dir_fd=folder, dst_dir_fd=there)


def exchange(folder: int, one: str, other: str) -> bool:
    """Two names of the folder change places; False where the file system cannot do that. Raises OSError."""
    number = _renameat2(folder, one, other, _EXCHANGE, folder)
    if number and number not in _UNKNOWN:
        raise OSError(number, os.strerror(number))
    return not number


def others_may_rename(directory: str | Path) -> bool:
    """Whether somebody but root and the caller can make a path through a directory, or to what the caller has in it,
    lead elsewhere; a link on the way counts as such.

    It is looked at from the root down, so that what was looked at stays. With the sticky bit each moves what is his.
    """
    for way in (*reversed(Path(directory).parents), Path(directory)):
        try:
            status = os.lstat(way)
        except OSError:
            return True
        if not stat.S_ISDIR(status.st_mode) or not keeps_names(status, way):
            return True
    return False


def keeps_names(status: os.stat_result, place: str | Path) -> bool:
    """Whether nobody but root and the caller can rename what the caller has in the directory that `place` leads to."""
    open_to_others = status.st_mode & 0o022 and not status.st_mode & stat.S_ISVTX
    return is_ours(status, place) and not open_to_others


def _renameat2(folder: int, name: str, to: str, how: int, to_folder: int) -> int:
    """The number of the error; 0 for none."""
    call = _call()
    if call is None:
        return errno.ENOSYS
    return ctypes.get_errno() if call(folder, os.fsencode(name), to_folder, os.fsencode(to), how) else 0


@functools.cache
def _call() -> ctypes._NamedFuncPointer | None:
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)  # of glibc since 2.28
    if call is not None:
        call.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    return call
