"""File systems to try, one after the other on one loop device over a work file; all is taken away at the end.

Should this process be killed, the kernel does it: the mounts are in a namespace of its own, and the loop device is
detached when nobody has it open. What is left is the image and an empty directory, which `iocast clean` removes; one
in /run stays until the next boot.

Others may be able to rename in the directory. So the image is opened once: it is filled, and the loop device set up, by
that descriptor. And what is mounted is worked on by its path, which must be one that only root can change: where the
directory is not, the mount is in /run.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import shutil
import stat
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from iocast.archive.writing.held_directories import held_path
from iocast.archive.writing.proofs import is_folder_proven, prove_folder
from iocast.archive.writing.renaming import others_may_rename
from iocast.errors import IocastError, LoadError, TargetError
from iocast.load.file_attributes import refuse_fixed
from iocast.load.filling import claimed_file, create
from iocast.load.marks import require_ours
from iocast.load.os_refusals import refusal
from iocast.load.removal import remove
from iocast.load.work_files import MOUNT_NAME, WORK_NAME, WorkFile
from iocast.starting import starting

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
# Programs of ext file systems may keep what they overwrite in a file of the site, which has the name of the device.
_LEADS_NOWHERE = {"LC_ALL": "C", "E2FSPROGS_UNDO_DIR": "none"}
_MOUNT_OPTIONS = {"btrfs": ("-o", "nodiscard")}
_RESERVE_BYTES = 1 << 30
_CLONE_NEWNS = 0x00020000  # linux/sched.h; os.unshare is of Python 3.12
_GONE_WITHIN_S = 5.0
_RUN = "/run"
_OWN_DIRECTORY = "give a directory that only root can change"
_PLACE = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_TRIES = 100  # for a loop device that is free
# linux/loop.h
_LOOP_CTL_GET_FREE = 0x4C82
_LOOP_SET_FD, _LOOP_CLR_FD = 0x4C00, 0x4C01
_LOOP_SET_STATUS64, _LOOP_GET_STATUS64 = 0x4C04, 0x4C05
_LOOP_SET_DIRECT_IO, _LOOP_CONFIGURE = 0x4C08, 0x4C0A
_LO_AUTOCLEAR, _LO_DIRECT_IO = 4, 16
_LOOP_CONFIG_BYTES, _LOOP_INFO_AT = 304, 8
_LOOP_INFO_BYTES, _LO_FLAGS_AT = 232, 52
Note = Callable[[IocastError], None]  # hears what could not be taken away


def _nowhere(_: IocastError) -> None:
    pass


def image_path(directory: str) -> str:
    """The work file that `loop_device` stands on."""
    return str(Path(directory).resolve() / f"{WORK_NAME}.image.dat")


@contextmanager
def loop_device(directory: str, size_bytes: int, note: Note = _nowhere) -> Iterator[str]:
    """While entered, a loop device over a written file in `directory`; `note` hears why the file is still there at the
    end. Raises TargetError, LoadError.
    """
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
    with claimed_file(file, touched=False):
        create(file, touched=False)
        try:
            with _attached(file) as device:
                yield device
        finally:
            _remove(file.path, note)


@contextmanager
def _opened(file: WorkFile) -> Iterator[int]:
    """The descriptor of the very image that was made. Raises TargetError."""
    try:
        image = os.open(held_path(file.path), os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOENT, errno.ENXIO):
            raise TargetError(f"{file.path} was replaced while iocast made it", _OWN_DIRECTORY) from error
        raise refusal("cannot open", file.path, error) from error
    try:
        require_ours(file.path, image)
        yield image
    finally:
        os.close(image)


def _remove(path: str, note: Note) -> None:
    """Whatever has its path by then: what was measured before is told nonetheless."""
    try:
        remove(path)
    except TargetError as error:
        note(error)
    except OSError as error:
        note(refusal("cannot remove", path, error))


def _fill(file: WorkFile, image: int) -> None:
    """Writes all of the image with data that is all different."""
    try:
        for _ in range(file.size_bytes // _MIB):
            left = memoryview(os.urandom(_MIB))
            while left:
                left = left[os.write(image, left) :]
        os.fsync(image)
    except OSError as error:
        raise refusal("cannot write", file.path, error) from error


@contextmanager
def _attached(file: WorkFile) -> Iterator[str]:
    """While entered, a loop device over the image, which is filled first. Raises LoadError, TargetError."""
    with _opened(file) as image:  # no longer: who has it open for writing, uses it
        _fill(file, image)
        try:
            device, handle = _set_up(image)
        except OSError as error:
            said = f"cannot attach a loop device to {file.path}: {error.strerror or error}"
            raise LoadError(said, "modprobe loop, or give file systems that exist (--filesystems none)") from error
    try:
        yield device
    finally:
        os.close(handle)  # nobody else has it open: the kernel detaches it, as it does after a kill
        _wait_until_gone(device)


def _set_up(image: int) -> tuple[str, int]:
    """A free loop device over an open file, whatever the file's path leads to by now, and a descriptor that keeps it.
    Raises OSError, LoadError.
    """
    control = os.open("/dev/loop-control", os.O_RDWR | os.O_CLOEXEC)
    try:
        for _ in range(_TRIES):
            device = f"/dev/loop{fcntl.ioctl(control, _LOOP_CTL_GET_FREE)}"
            handle = os.open(device, os.O_RDWR | os.O_CLOEXEC)
            try:
                _configure(handle, image)
                _require_backing(device, handle, image)
                return device, os.open(device, os.O_RDONLY | os.O_CLOEXEC)
            except OSError as error:
                if error.errno != errno.EBUSY:  # else another one took it in between
                    raise
            finally:
                os.close(handle)
    finally:
        os.close(control)
    raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))


def _configure(handle: int, image: int) -> None:
    """Past the page cache where the file system can: else the image is answered from memory, and one thread of the loop
    serialises. It is detached when the last one closes it, be it by a kill. Raises OSError.
    """
    config, status = bytearray(_LOOP_CONFIG_BYTES), bytearray(_LOOP_INFO_BYTES)
    struct.pack_into("=I", config, 0, image)
    struct.pack_into("=I", config, _LOOP_INFO_AT + _LO_FLAGS_AT, _LO_AUTOCLEAR | _LO_DIRECT_IO)
    try:
        fcntl.ioctl(handle, _LOOP_CONFIGURE, bytes(config))
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTTY):
            raise
        # Linux before 5.8 knows only the steps.
        fcntl.ioctl(handle, _LOOP_SET_FD, image)
        struct.pack_into("=I", status, _LO_FLAGS_AT, _LO_AUTOCLEAR)
        try:
            fcntl.ioctl(handle, _LOOP_SET_STATUS64, bytes(status))
        except OSError:
            fcntl.ioctl(handle, _LOOP_CLR_FD)
            raise
        with suppress(OSError):
            fcntl.ioctl(handle, _LOOP_SET_DIRECT_IO, 1)


def _require_backing(device: str, handle: int, image: int) -> None:
    """Raises LoadError unless the kernel says that the device stands on the open file, before anything goes to it.
    OSError where it does not say.
    """
    answer = bytearray(_LOOP_INFO_BYTES)
    fcntl.ioctl(handle, _LOOP_GET_STATUS64, answer)
    status = os.fstat(image)
    if struct.unpack_from("=QQ", answer) != (status.st_dev, status.st_ino):
        raise LoadError(f"{device} stands on another file than the image: nothing was written to it", _OWN_DIRECTORY)


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
def file_system(kind: str, device: str, directory: str, note: Note = _nowhere) -> Iterator[str]:
    """While entered, a new file system on `device` is mounted, at the path that it gives; `note` hears what is left of
    that at the end.

    It is a directory in `directory`, or in /run where others may rename. Raises LoadError, TargetError.
    """
    with _mount_place(directory, note) as place:
        _run(*MAKERS[kind], device)
        _mount_alone()
        below = os.lstat(place)
        _run("mount", "-t", kind, *_MOUNT_OPTIONS.get(kind, ()), device, place)
        try:
            if os.path.samestat(below, os.lstat(place)):
                raise LoadError(f"{place} is not where {device} was mounted", _OWN_DIRECTORY)
            yield place
        finally:
            try:
                _run("umount", place)
            except LoadError as error:
                note(error)


@contextmanager
def _mount_place(directory: str, note: Note) -> Iterator[str]:
    """An empty directory of ours, while entered, on a path that nobody but root can change. Raises TargetError."""
    place = _mount_path(directory)
    try:
        try:
            make_place(place)
        except FileExistsError:
            _refuse_other_than_left(place)
    except OSError as error:
        raise refusal("cannot create", place, error) from error
    try:
        yield place
    finally:
        try:
            os.rmdir(place)
        except OSError as error:
            note(refusal("cannot remove", place, error))


def make_place(place: str) -> None:
    """Makes the directory, which says of itself that iocast made it. Raises OSError."""
    os.mkdir(place, 0o700)
    descriptor = os.open(place, _PLACE)
    try:
        prove_folder(descriptor)
    finally:
        os.close(descriptor)


def _is_made_place(place: str) -> bool:
    """Where the file system has no attributes nothing says so."""
    descriptor = os.open(place, _PLACE)
    try:
        return is_folder_proven(descriptor)
    finally:
        os.close(descriptor)


def check_mount_place(directory: str) -> None:
    """Refuses, before any work is done, what has the place of a mount. Raises TargetError."""
    place = _mount_path(directory)
    try:
        with suppress(FileNotFoundError):
            _refuse_other_than_left(place)
    except OSError as error:
        raise refusal("cannot create", place, error) from error


def _mount_path(directory: str) -> str:
    """Where file systems are mounted: nobody but root can make it lead elsewhere. Raises TargetError."""
    resolved = str(Path(directory).resolve())
    if not others_may_rename(resolved):
        return os.path.join(resolved, MOUNT_NAME)
    if not others_may_rename(_RUN):
        return os.path.join(_RUN, f"{WORK_NAME}.{os.getpid()}.mount")
    raise TargetError(f"others may rename what is in {resolved}, and in {_RUN}", _OWN_DIRECTORY)


def _refuse_other_than_left(place: str) -> None:
    """What has the name must be as it was made, or as a killed one left it. Raises TargetError, OSError."""
    status = os.lstat(place)
    if stat.S_ISLNK(status.st_mode):
        why = "is a symbolic link, and iocast does not mount through links"
    elif not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        why = "was not created by iocast"
    elif os.path.ismount(place) or os.listdir(place):
        why = "is not empty, or in use"
    elif not _is_made_place(place):
        why = "was not created by iocast"
    else:
        return
    raise TargetError(f"{place} {why}", "move it away, or give another directory")


def blank(device: str) -> None:
    """Overwrites the beginning of an image's loop device, where file systems leave their marks. Raises LoadError."""
    _run("wipefs", "--all", "--quiet", device)


def _run(*words: str) -> str:
    """A program of the system, to its end, which no setting of the caller leads elsewhere. Raises LoadError with what
    it said.
    """
    environment = {"PATH": os.environ.get("PATH", os.defpath), **_LEADS_NOWHERE}
    try:
        with starting():
            done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    except OSError as error:
        raise LoadError(f"cannot run {words[0]}: {error.strerror}", "install it, or omit that file system") from error
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise LoadError(f"{' '.join(words)} failed: {said[-1] if said else done.returncode}")
    return done.stdout.strip()
