"""Drops what the page cache holds of work files, so that buffered reads reach the device."""

from __future__ import annotations

import os

from iocast.load.os_refusals import refusal
from iocast.load.work_files import WorkFile


def drop_cached(files: tuple[WorkFile, ...]) -> None:
    """Only pages of these files, which needs no privilege; what is not yet written is written first.

    Raises TargetError.
    """
    for file in files:
        try:
            descriptor = os.open(file.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                os.fsync(descriptor)
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise refusal("cannot drop the page cache of", file.path, error) from error
