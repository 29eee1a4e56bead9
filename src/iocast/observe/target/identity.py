"""Which block device it is, whatever its path: world-wide name, serial number, UUID, file behind a loop, place."""

from __future__ import annotations

import fcntl
import os
import re
import struct
from collections.abc import Iterator
from pathlib import Path

from iocast.model.target import Identity
from iocast.observe.target.layers import hardware_identity
from iocast.observe.target.patience import within
from iocast.observe.target.sysfs import device_directory, read_int, read_text

_SECTOR_BYTES = 512
_LOOP_GET_STATUS64 = 0x4C05
_LOOP_INFO = struct.Struct("=QQQQQ")  # device, inode, device number of the file itself, offset, size limit
_LOOP_INFO_BYTES = 232
_PATIENCE_S = 2.0


def identify(descriptor: int, root: Path = Path("/")) -> Identity:
    """The identity of an open block device. Raises OSError when the device has gone.

    A disk without any number of its own is named by the place where it is plugged in; a virtual one without
    (zram, a plain device-mapper table) has no name, and nothing of it can be destroyed by name.
    """
    number = os.fstat(descriptor).st_rdev
    return identity_of(os.major(number), os.minor(number), root, descriptor)


def identity_of(major: int, minor: int, root: Path = Path("/"), descriptor: int | None = None) -> Identity:
    """The identity of a block device by number, without what only an open `descriptor` tells (loops)."""
    directory = device_directory(major, minor, root)
    if directory is None:
        return Identity(marks=(), number=f"{major}:{minor}", size_bytes=0)
    part = read_int(directory / "partition")
    disk = directory if part is None else directory.parent
    return Identity(
        marks=tuple(dict.fromkeys(mark for mark in _marks(directory, disk, part, root, descriptor) if mark)),
        number=f"{major}:{minor}",
        size_bytes=(read_int(directory / "size") or 0) * _SECTOR_BYTES,
        start_bytes=0 if part is None else (read_int(directory / "start") or 0) * _SECTOR_BYTES,
        arrival=read_int(disk / "diskseq"),
    )


def _marks(directory: Path, disk: Path, part: int | None, root: Path, descriptor: int | None) -> Iterator[str]:
    end = "" if part is None else f"-part{part}"
    # The marks of its disk come first: a disk copied block by block has the PARTUUIDs of the first one.
    for mark in _disk_marks(disk, descriptor):
        yield mark + end
    if found := re.search(r"^PARTUUID=(\S+)$", read_text(directory / "uevent") or "", re.MULTILINE):
        yield f"partuuid:{found[1]}"
    for folder, kind in (("by-partuuid", "partuuid:"), ("by-id", "id:")):
        yield from (kind + name for name in _links(root / "dev/disk" / folder, directory))
    above = os.path.realpath(root / "sys/devices")
    place = os.path.relpath(disk, above).partition("/block/")[0]
    if not place.startswith(("virtual", "..")):
        yield f"place:{_one_word(place)}{end}"


def _disk_marks(disk: Path, descriptor: int | None) -> Iterator[str]:
    _model, serial, wwn = hardware_identity(disk)
    if uuid := read_text(disk / "dm/uuid"):
        yield f"dm:{_one_word(uuid)}"
    if uuid := read_text(disk / "md/uuid"):
        yield f"md:{_one_word(uuid)}"
    if wwn:
        yield f"wwn:{_one_word(wwn)}"
    if serial:
        yield f"serial:{_one_word(serial)}"
    if descriptor is not None and (disk / "loop/backing_file").exists():
        yield from _behind_loop(descriptor)


def _behind_loop(descriptor: int) -> Iterator[str]:
    """The file behind a loop by its inode, since another one can take its name; a device by its number."""
    status = _loop_status(descriptor)
    if status is None:
        return
    device, inode, own_number, offset, limit = status
    where = f"{os.major(own_number)}:{os.minor(own_number)}" if own_number else None
    span = f"+{offset}" if offset else ""
    span += f"..{limit}" if limit else ""
    yield f"loop:{where or f'{os.major(device)}:{os.minor(device)}:{inode}'}{span}"


def _loop_status(descriptor: int) -> tuple[int, int, int, int, int] | None:
    buffer = bytearray(_LOOP_INFO_BYTES)
    try:
        fcntl.ioctl(descriptor, _LOOP_GET_STATUS64, buffer)
    except OSError:
        return None
    device, inode, own_number, offset, limit = _LOOP_INFO.unpack_from(buffer)
    return device, inode, own_number, offset, limit


def loop_inode(name: str, file: str, root: Path = Path("/")) -> tuple[int, int] | None:
    """Device and inode of the file behind a loop device, by its name where the device cannot be asked. None when there
    is no answer: the file system below may hang.
    """
    return within(_PATIENCE_S, lambda: (_asked(name) if root == Path("/") else None) or _inode(root, file))


def _inode(root: Path, file: str) -> tuple[int, int] | None:
    try:
        status = os.stat(root / file.lstrip("/"))
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _asked(name: str) -> tuple[int, int] | None:
    try:
        descriptor = os.open(f"/dev/{name}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        status = _loop_status(descriptor)
    finally:
        os.close(descriptor)
    return status[:2] if status is not None else None


def _links(folder: Path, directory: Path) -> list[str]:
    """The names in a folder of /dev/disk that lead to the device; of several the shortest first."""
    try:
        entries = list(folder.iterdir())
    except OSError:
        return []
    found = [entry.name for entry in entries if Path(os.path.realpath(entry)).name == directory.name]
    return sorted(found, key=lambda name: (len(name), name))


def _one_word(text: str) -> str:
    """Something that can be typed: serial numbers are padded with spaces."""
    return re.sub(r"\s+", "_", text.strip())
