"""From a path to a Target: what it is, which mount holds it, and the devices below, down to the disks."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Literal

from iocast.errors import TargetError
from iocast.model.target import Identity, Target
from iocast.observe.target.claims import claims, mounted_on
from iocast.observe.target.direct import probe_direct
from iocast.observe.target.identity import identify, identity_of
from iocast.observe.target.layers import Stack
from iocast.observe.target.mounts import find_mount

_NO_STORAGE = (
    "proc",
    "sysfs",
    "cgroup",
    "cgroup2",
    "devpts",
    "debugfs",
    "tracefs",
    "securityfs",
    "bpf",
    "configfs",
)

Kind = Literal["file", "directory", "block"]


def describe(path: str, root: Path = Path("/")) -> Target:
    """The Target of an existing file, directory or block device. Nothing that exists is written.

    `root` is where /proc, /sys and `path` itself are looked up; tests put a tree of their own there.
    Raises TargetError when the path is missing, not permitted, or no storage.
    """
    absolute = _absolute(path)
    place = str(root / absolute.lstrip("/"))
    status = _status(absolute, place)
    kind = _kind(absolute, status.st_mode)
    if kind == "block":
        return _describe_device(absolute, place, status, root)
    if kind == "file":
        _require_readable(absolute, place)
    return _describe_in_mount(absolute, place, kind, status, root)


def _absolute(path: str) -> str:
    if not path or "\0" in path:
        raise TargetError("the path is empty or contains a NUL byte", "give a directory, a file or a block device")
    # Taking ".." away by name would go astray behind a symbolic link.
    return os.path.realpath(path) if ".." in Path(path).parts else os.path.abspath(path)


def _status(absolute: str, place: str) -> os.stat_result:
    try:
        return os.stat(place)
    except FileNotFoundError:
        raise _missing(absolute, place) from None
    except PermissionError:
        raise _not_permitted(absolute) from None
    except OSError as error:
        raise TargetError(f"cannot stat {absolute}: {error.strerror}", _OTHER_HINT) from error


_OTHER_HINT = "`stat` should fail in the same way: fix the path, the mount or its server first"


def _missing(absolute: str, place: str) -> TargetError:
    if os.path.islink(place):
        return TargetError(
            f"{absolute} is a symbolic link to {os.readlink(place)}, which does not exist",
            "point it at an existing path, or give that path directly",
        )
    parent = os.path.dirname(absolute)
    if absolute.startswith("/dev/"):
        return TargetError(f"device {absolute} does not exist", "`lsblk` lists the block devices of this machine")
    if os.path.isdir(os.path.dirname(place)):
        return TargetError(f"{absolute} does not exist", f"create it first: mkdir {absolute}")
    return TargetError(
        f"{absolute} does not exist, nor does {parent}", "check the spelling and that the file system is mounted"
    )


def _not_permitted(absolute: str) -> TargetError:
    if os.geteuid() == 0:
        return TargetError(
            f"{absolute} cannot be opened, not even by root",
            "a container or security module denies access; test a directory on that device instead",
        )
    return TargetError(
        f"no permission to read {absolute}",
        "run iocast as a user with access, such as the owner; block devices usually belong to root and group disk",
    )


def _kind(absolute: str, mode: int) -> Kind:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "directory"
    if stat.S_ISBLK(mode):
        return "block"
    if stat.S_ISFIFO(mode):
        what, hint = (
            "a FIFO",
            "a FIFO is not storage: it passes bytes between processes and stores none",
        )
    elif stat.S_ISSOCK(mode):
        what, hint = "a socket", "a socket is not storage: give the directory where the server keeps its data"
    else:
        what = "a character device"
        hint = "a character device stores no blocks; disks are block devices: see `lsblk`"
    raise TargetError(f"{absolute} is {what}, not a file, a directory or a block device", hint)


def _require_readable(absolute: str, place: str) -> None:
    try:
        os.close(os.open(place, os.O_RDONLY))
    except PermissionError:
        raise _not_permitted(absolute) from None
    except OSError as error:
        hint = "no medium" if error.errno == errno.ENOMEDIUM else _OTHER_HINT
        raise TargetError(f"cannot open {absolute}: {error.strerror}", hint) from error


def _describe_in_mount(absolute: str, place: str, kind: Kind, status: os.stat_result, root: Path) -> Target:
    mount = find_mount(absolute, root)
    if mount is not None and mount.filesystem in _NO_STORAGE:
        raise TargetError(
            f"{absolute} is on {mount.filesystem}, a virtual file system of the kernel",
            "give a directory on a disk file system",
        )
    stack = Stack(root)
    if mount is None:
        stack.notes.append("/proc/self/mountinfo has no mount for this path: the devices below are unknown")
    else:
        stack.add_mount(mount)
    space = os.statvfs(place)
    # What is kept back for root is not free, not even for root: the database runs as somebody else.
    free_blocks = space.f_bavail
    direct, why_not = probe_direct(place, kind)
    return Target(
        path=absolute,
        kind=kind,
        size_bytes=status.st_size if kind == "file" else None,
        mount_point=mount.mount_point if mount else None,
        filesystem=mount.filesystem if mount else None,
        mount_source=mount.source if mount else None,
        mount_options=mount.options if mount else None,
        free_bytes=free_blocks * space.f_frsize,
        total_bytes=space.f_blocks * space.f_frsize,
        direct=direct,
        direct_why_not=why_not,
        layers=stack.layers(),
        notes=tuple(stack.notes),
    )


def _describe_device(absolute: str, place: str, status: os.stat_result, root: Path) -> Target:
    major, minor = os.major(status.st_rdev), os.minor(status.st_rdev)
    stack = Stack(root)
    stack.add_device(major, minor)
    layers = stack.layers()
    if layers and layers[0].size_bytes == 0:
        raise TargetError(f"{absolute} is empty: no backing file or disk is attached", "attach one first")
    _require_readable(absolute, place)
    mount = mounted_on(major, minor, root)
    direct, why_not = probe_direct(place, "block")
    identity = _identity(place, major, minor, root)
    return Target(
        path=absolute,
        kind="block",
        size_bytes=layers[0].size_bytes if layers else None,
        mount_point=mount.mount_point if mount else None,
        filesystem=mount.filesystem if mount else None,
        mount_source=mount.source if mount else None,
        mount_options=mount.options if mount else None,
        direct=direct,
        direct_why_not=why_not,
        layers=layers,
        notes=(*stack.notes, *claims(major, minor, root)),
        identity=identity,
    )


def _identity(place: str, major: int, minor: int, root: Path) -> Identity:
    try:
        descriptor = os.open(place, os.O_RDONLY)
    except OSError:
        return identity_of(major, minor, root)
    try:
        return identify(descriptor, root)
    finally:
        os.close(descriptor)
