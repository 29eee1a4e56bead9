"""Which block device it is, whatever its path: world-wide name, serial number, UUID, file behind a loop, place."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from iocast.model.target import Identity
from iocast.observe.target.layers import hardware_identity
from iocast.observe.target.loops import backing, file_mark, loop_status, opened_device
from iocast.observe.target.sysfs import device_directory, kernel_name, read_int, read_text
from iocast.text import shown

_SECTOR_BYTES = 512
# Links in /dev/disk/by-id that say how somebody called a device, or what is on it, and so lead to another one later.
_NAMES_ONLY = ("dm-name-", "md-name-", "lvm-pv-uuid-")
_PLAIN = "CRYPT-PLAIN-"  # the UUID of an encrypted volume without a header: its name in other words


def identify(descriptor: int, root: Path = Path("/")) -> Identity:
    """The identity of an open block device. Raises OSError when the device has gone.

    A disk without any number of its own is named by the place where it is plugged in; a virtual one without
    (zram, a plain device-mapper table) has no name, and nothing of it can be destroyed by name. Nor has a loop device
    whose file cannot be told from a later one of the same inode.
    """
    number = os.fstat(descriptor).st_rdev
    return identity_of(os.major(number), os.minor(number), root, descriptor)


def identity_of(major: int, minor: int, root: Path = Path("/"), descriptor: int | None = None) -> Identity:
    """The identity of a block device by number; of a loop by an open `descriptor`, or by its node."""
    directory = device_directory(major, minor, root)
    if directory is None:
        return Identity(marks=(), number=f"{major}:{minor}", size_bytes=0, why_nameless="the kernel does not show it")
    part = read_int(directory / "partition")
    disk = directory if part is None else directory.parent
    loop_mark, why_nameless = _loop_mark(disk, descriptor, root)
    size_bytes = (read_int(directory / "size") or 0) * _SECTOR_BYTES
    start_bytes = 0 if part is None else (read_int(directory / "start") or 0) * _SECTOR_BYTES
    span = "" if part is None else f"@{start_bytes}+{size_bytes}"
    marks = () if why_nameless else tuple(dict.fromkeys(_marks(directory, disk, part, root, loop_mark)))
    return Identity(
        # A disk that is partitioned anew has the same numbers, and often the same PARTUUIDs, at other places.
        marks=tuple(mark + span for mark in marks),
        number=f"{major}:{minor}",
        size_bytes=size_bytes,
        start_bytes=start_bytes,
        arrival=read_int(disk / "diskseq"),
        why_nameless="" if marks else why_nameless or "it has neither a serial number nor a UUID",
    )


def _marks(directory: Path, disk: Path, part: int | None, root: Path, loop_mark: str) -> Iterator[str]:
    end = "" if part is None else f"-part{part}"
    # The marks of its disk come first: a disk copied block by block has the PARTUUIDs of the first one.
    for mark in (*_disk_marks(disk), loop_mark):
        if mark:
            yield mark + end
    if match := re.search(r"^PARTUUID=(\S+)$", read_text(directory / "uevent") or "", re.MULTILINE):
        yield f"partuuid:{match[1]}"
    for folder, kind in (("by-partuuid", "partuuid:"), ("by-id", "id:")):
        yield from (kind + name for name in _links(root / "dev/disk" / folder, directory))
    above = os.path.realpath(root / "sys/devices")
    place = os.path.relpath(disk, above).partition("/block/")[0]
    if not place.startswith(("virtual", "..")):
        yield f"place:{_one_word(place)}{end}"


def _disk_marks(disk: Path) -> Iterator[str]:
    _model, serial, wwn = hardware_identity(disk)
    if (uuid := read_text(disk / "dm/uuid")) and not uuid.startswith(_PLAIN):
        yield f"dm:{_one_word(uuid)}"
    if uuid := read_text(disk / "md/uuid"):
        yield f"md:{_one_word(uuid)}"
    if wwn:
        yield f"wwn:{_one_word(wwn)}"
    if serial:
        yield f"serial:{_one_word(serial)}"


def _loop_mark(disk: Path, descriptor: int | None, root: Path) -> tuple[str, str]:
    """The mark of a loop device, or "" and why it has none; ("", "") for other devices."""
    behind = backing(disk, root)
    if behind is None:
        return "", ""
    if descriptor is not None:
        return _mark_of_open_loop(descriptor, behind.path, root)
    try:
        with opened_device(disk) as node:
            return _mark_of_open_loop(node, behind.path, root)
    except OSError as error:
        return (
            "",
            f"/dev/{kernel_name(disk)} cannot be opened ({error.strerror or error}): run as a user who may read it",
        )


def _mark_of_open_loop(descriptor: int, path: str, root: Path) -> tuple[str, str]:
    """The mark of an open loop device, by the birth of the file behind it, since another one can take its name and its
    inode; by the name of the device behind it. Or "" and why there is none.
    """
    status = loop_status(descriptor)
    if status is None:
        return "", "the kernel does not say which file is behind it"
    limit = f"..{status.limit}" if status.limit else ""
    if not status.number:
        mark, why_not = file_mark(path, status.inode)
        span = f"+{status.offset}{limit}" if status.offset or limit else ""
        return (f"loop:{mark}{span}", "") if mark else ("", f"the file behind it, {shown(path)}, {why_not}")
    below = device_directory(os.major(status.number), os.minor(status.number), root)
    if below is None:
        return "", "the device behind it is not visible"
    identity = identity_of(os.major(status.number), os.minor(status.number), root)
    if not identity.marks:
        return "", f"{kernel_name(below)}, on which it stands, has no identity: {identity.why_nameless}"
    # The offset always: that of the device below, which may end the name, must not be taken for its own.
    return f"loop:{identity.name}+{status.offset}{limit}", ""


def _links(folder: Path, directory: Path) -> list[str]:
    """The names in a folder of /dev/disk that lead to the device; of several the shortest first."""
    try:
        entries = list(folder.iterdir())
    except OSError:
        return []
    names = [
        entry.name
        for entry in entries
        if Path(os.path.realpath(entry)).name == directory.name and not entry.name.startswith(_NAMES_ONLY)
    ]
    return sorted(names, key=lambda name: (len(name), name))


def _one_word(text: str) -> str:
    """Something that can be typed: serial numbers are padded with spaces."""
    return re.sub(r"\s+", "_", text.strip())
