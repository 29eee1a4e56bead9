"""What a killed iocast left half written in a run folder, or of a run folder that never got its name."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from iocast.archive.file_names import DOCUMENTS, INTERVALS, REPORT_PAGE, SAMPLES
from iocast.archive.ownership import owner_alive
from iocast.archive.writing.whole_files import NEW, hold, remove_leftover

_OF_ITS_OWN = r"(\.[0-9a-f]{8})?\.new"  # while another process, or a file that is not ours, has the usual name
_FILE = re.compile(
    rf"({'|'.join(map(re.escape, DOCUMENTS))}){_OF_ITS_OWN}|\.{re.escape(REPORT_PAGE)}\.iocast{_OF_ITS_OWN}"
)
_TABLE = re.compile(rf"\d+(\.parquet)?{_OF_ITS_OWN}")
_UNBORN = re.compile(r"\.\d{4}-\d\d-\d\dT\d{6}-[a-z0-9-]{1,40}\.\d+\.new")


def new_files(run: Path) -> Iterator[Path]:
    """The files of a run folder that have the names of what is not whole yet. Raises OSError."""
    yield from (each for each in run.iterdir() if _FILE.fullmatch(each.name))
    for tables in (run / INTERVALS, run / SAMPLES):
        if tables.is_dir() and not tables.is_symlink():
            yield from (each for each in tables.iterdir() if _TABLE.fullmatch(each.name))


def sweep_run(run: Path) -> None:
    """Removes what a killed iocast left in a run folder; nothing while the process that makes the run lives."""
    with contextlib.suppress(OSError):
        found = list(new_files(run))
        if found and not owner_alive(str(run)):
            for each in found:
                remove_leftover(each)


def make_unborn(fresh: Path) -> int:
    """Makes a run folder under its first name; the descriptor holds the lock that tells it from a leftover, until it
    is closed. Raises OSError.
    """
    while True:
        fresh.mkdir()
        with contextlib.suppress(FileNotFoundError):  # taken for a leftover before it was locked
            descriptor = os.open(fresh, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            hold(descriptor)
            if fresh.exists():
                return descriptor
            os.close(descriptor)


def sweep_unborn(root: Path) -> None:
    """Removes run folders of `root` that never got their names, because their process was killed."""
    with contextlib.suppress(OSError):
        for each in [path for path in root.iterdir() if _UNBORN.fullmatch(path.name)]:
            with contextlib.suppress(OSError):
                _remove_unborn(each)


def _remove_unborn(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if os.fstat(descriptor).st_uid != os.geteuid():
            return
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # OSError: it is being made
        names = {name + end for name in DOCUMENTS for end in ("", NEW)}
        for name in names.intersection(os.listdir(descriptor)):
            if stat.S_ISREG(os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode):
                os.unlink(name, dir_fd=descriptor)
        os.rmdir(folder)  # what is not of a run stays
    finally:
        os.close(descriptor)
