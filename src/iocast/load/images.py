"""File systems to try, one after the other on one loop device over a work file; all is taken away at the end."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from iocast.errors import LoadError, TargetError
from iocast.load.files import WORK_NAME, WorkFile
from iocast.load.filling import claimed_file, create
from iocast.load.refusals import refusal
from iocast.load.removal import remove

_MIB = 1 << 20
_EXT = ("-q", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0")
# Without discards: they would punch holes into the image, and writes to holes are slower.
MAKERS = {
    "ext2": ("mkfs.ext2", *_EXT),
    "ext3": ("mkfs.ext3", *_EXT),
    "ext4": ("mkfs.ext4", *_EXT),
    "xfs": ("mkfs.xfs", "-q", "-f", "-K"),
    "btrfs": ("mkfs.btrfs", "-q", "-f", "-K"),
}
_MOUNT_OPTIONS = {"btrfs": ("-o", "nodiscard")}
_RESERVE_BYTES = 1 << 30


@contextmanager
def loop_device(directory: str, size_bytes: int) -> Iterator[str]:
    """While entered, a loop device over a written file in `directory`. Raises TargetError, LoadError."""
    if os.geteuid():
        raise TargetError(
            "making loop devices and mounting them needs root",
            "run it as root, or name directories that are there on the file systems to compare",
        )
    if shutil.disk_usage(directory).free < size_bytes + _RESERVE_BYTES:
        raise TargetError(
            f"{directory} has no room for an image of {size_bytes // _MIB} MiB", "name a directory with more room"
        )
    file = WorkFile(str(Path(directory).resolve() / f"{WORK_NAME}.image.dat"), size_bytes, fill=True)
    with claimed_file(file):
        create(file)
        try:
            _fill(file)
            device = _attached(file.path)
            try:
                yield device
            finally:
                _run("losetup", "--detach", device)
        finally:
            remove(file.path)


def _fill(file: WorkFile) -> None:
    """Writes all of the image with data that is all different."""
    try:
        with open(file.path, "r+b", buffering=0) as image:
            for _ in range(file.size_bytes // _MIB):
                image.write(os.urandom(_MIB))
            os.fsync(image.fileno())
    except OSError as error:
        raise refusal("cannot write", file.path, error) from error


def _attached(path: str) -> str:
    words = ("losetup", "--find", "--show")
    try:
        # Past the page cache: else the image is answered from memory, and one thread of the loop serialises.
        return _run(*words, "--direct-io=on", path)
    except LoadError:
        return _run(*words, path)


@contextmanager
def file_system(kind: str, device: str) -> Iterator[str]:
    """While entered, a new file system on `device` is mounted at the path that it gives. Raises LoadError."""
    _run(*MAKERS[kind], device)
    place = tempfile.mkdtemp(prefix=f"iocast-{kind}-")
    try:
        _run("mount", "-t", kind, *_MOUNT_OPTIONS.get(kind, ()), device, place)
        try:
            yield place
        finally:
            _run("umount", place)
    finally:
        os.rmdir(place)


def blank(device: str) -> None:
    """Overwrites the beginning of an image's loop device, where file systems leave their marks. Raises LoadError."""
    _run("wipefs", "--all", "--quiet", device)


def _run(*words: str) -> str:
    """A program of the system, to its end. Raises LoadError with what it said."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except OSError as error:
        raise LoadError(
            f"cannot run {words[0]}: {error.strerror}", "install it, or leave that file system out"
        ) from error
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise LoadError(f"{' '.join(words)} failed: {said[-1] if said else done.returncode}")
    return done.stdout.strip()
