"""File systems to try, one after the other on one loop device over a work file; all is taken away at the end.

Should this process be killed, the kernel does it: the mounts are in a namespace of its own, and the loop device is
detached when nobody has it open. What is left is the image and an empty directory, which `iocast clean` removes.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from iocast.errors import LoadError, TargetError
from iocast.load.file_attributes import refuse_fixed
from iocast.load.filling import claimed_file, create
from iocast.load.os_refusals import refusal
from iocast.load.removal import remove
from iocast.load.work_files import MOUNT_NAME, WORK_NAME, WorkFile

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
_CLONE_NEWNS = 0x00020000  # linux/sched.h; os.unshare is of Python 3.12
_GONE_WITHIN_S = 5.0


def image_path(directory: str) -> str:
    """The work file that `loop_device` stands on."""
    return str(Path(directory).resolve() / f"{WORK_NAME}.image.dat")


@contextmanager
def loop_device(directory: str, size_bytes: int) -> Iterator[str]:
    """While entered, a loop device over a written file in `directory`. Raises TargetError, LoadError."""
    if os.geteuid():
        raise TargetError(
            "making loop devices and mounting them needs root",
            "run as root, or give existing directories on the file systems to compare",
        )
    if shutil.disk_usage(directory).free < size_bytes + _RESERVE_BYTES:
        raise TargetError(
            f"{directory} has not enough free space for an image of {size_bytes // _MIB} MiB",
            "give a directory with more free space",
        )
    file = WorkFile(image_path(directory), size_bytes, fill=True)
    refuse_fixed(file.path)
    with claimed_file(file):
        create(file)
        try:
            _fill(file)
            with _attached(file.path) as device:
                yield device
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


@contextmanager
def _attached(path: str) -> Iterator[str]:
    """While entered, a loop device over a file. Raises LoadError."""
    words = ("losetup", "--find", "--show")
    try:
        # Past the page cache: else the image is answered from memory, and one thread of the loop serialises.
        device = _run(*words, "--direct-io=on", path)
    except LoadError:
        device = _run(*words, path)
    handle = -1
    try:
        handle = os.open(device, os.O_RDONLY | os.O_CLOEXEC)
    finally:
        # Of a device that is open this only says what is to happen when the last one closes it, be it by a kill.
        _run("losetup", "--detach", device)
    try:
        yield device
    finally:
        os.close(handle)
        _wait_until_gone(device)


def _wait_until_gone(device: str) -> None:
    """Somebody else, such as udev, may have it open for a moment longer."""
    backing = Path(f"/sys/block/{Path(device).name}/loop/backing_file")
    until = time.monotonic() + _GONE_WITHIN_S
    while backing.exists() and time.monotonic() < until:
        time.sleep(0.01)


@cache
def _mount_alone() -> None:
    """From now on what this process mounts is seen by it and what it starts, and goes with them, however they end.

    Where the kernel does not allow it, mounts are seen by all as usual. Raises LoadError.
    """
    if ctypes.CDLL(None).unshare(_CLONE_NEWNS) == 0:
        _run("mount", "--make-rslave", "/")  # what others mount still comes here


@contextmanager
def file_system(kind: str, device: str, directory: str) -> Iterator[str]:
    """While entered, a new file system on `device` is mounted in `directory`, at the path that it gives.

    Raises LoadError.
    """
    _run(*MAKERS[kind], device)
    _mount_alone()
    place = str(Path(directory).resolve() / MOUNT_NAME)
    try:
        os.makedirs(place, exist_ok=True)  # a killed one may have left it
    except OSError as error:
        raise refusal("cannot create", place, error) from error
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
        raise LoadError(f"cannot run {words[0]}: {error.strerror}", "install it, or omit that file system") from error
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise LoadError(f"{' '.join(words)} failed: {said[-1] if said else done.returncode}")
    return done.stdout.strip()
