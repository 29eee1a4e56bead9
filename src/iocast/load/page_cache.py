"""Drops what the page cache holds of work files, and what the kernel remembers of names: reads reach the device."""

from __future__ import annotations

import contextlib
import os
import stat

from iocast.archive.writing.held_directories import held_path
from iocast.errors import TargetError
from iocast.load.os_refusals import refusal
from iocast.load.work_files import WorkFile

_PLAIN = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


def drop_cached(files: tuple[WorkFile, ...]) -> None:
    """Only pages of these files, which needs no privilege; what is not yet written is written first.

    Raises TargetError.
    """
    for file in files:
        try:
            _drop(os.open(held_path(file.path), _PLAIN))
        except OSError as error:
            raise refusal("cannot drop the page cache of", file.path, error) from error


def drop_below(folder: str) -> None:
    """Pages of all regular files below a folder, which no link leads out of; what is not yet written is written first.

    Raises TargetError.
    """
    try:
        for _, _, names, directory in os.fwalk(folder, follow_symlinks=False):
            for name in names:
                with contextlib.suppress(FileNotFoundError):  # whose it is may remove it meanwhile
                    if stat.S_ISREG(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode):
                        _drop(os.open(name, _PLAIN | os.O_NOFOLLOW, dir_fd=directory))
    except OSError as error:
        raise refusal("cannot drop the page cache of files in", folder, error) from error


def _drop(descriptor: int) -> None:
    """The pages of one file, which is closed. Raises OSError."""
    try:
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


def drop_names() -> None:
    """All dentries, inodes and pages that nobody uses, of the whole machine: the kernel offers nothing smaller.

    Needs root. Raises TargetError.
    """
    os.sync()
    try:
        with open("/proc/sys/vm/drop_caches", "w") as switch:
            switch.write("3")
    except OSError as error:
        raise TargetError(
            f"cannot drop the kernel's cache of names and inodes: {error.strerror}",
            "run as root, or leave out the rows that start cold",
        ) from error
