"""What a device stands on, down to disks and files: all of it is overwritten with it. And who else uses that."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from iocast.observe.target.claims import claims_on, read_uses
from iocast.observe.target.device_users import device_users, related
from iocast.observe.target.file_users import aliases, inode_users
from iocast.observe.target.loops import Backing, backing
from iocast.observe.target.sysfs import (
    device_directory,
    device_number,
    kernel_name,
    linked_devices,
    partitions,
    read_text,
    source_directory,
)
from iocast.text import shown

# UUIDs of device-mapper devices whose makers give each its own extents of the devices below.
_APART = re.compile(r"LVM-|DMRAID-|part\d+-")


class Lower(NamedTuple):
    """A device below another one, and what that is: a partition of it, a loop on it, or something that is mapped to it
    (a volume, an array). What is mapped shares it, and all below, with others.
    """

    device: Path
    above: Path
    by: Literal["partition", "loop", "mapping"]
    shared: bool


class Ground(NamedTuple):
    """All that a device stands on. What a file lies on is no part of it: a file system keeps its files apart."""

    top: Path
    lower: tuple[Lower, ...]
    files: tuple[Backing, ...]

    @property
    def own(self) -> frozenset[Path]:
        """The device itself and those below."""
        return frozenset([self.top, *(each.device for each in self.lower)])

    @property
    def exclusive(self) -> list[Path]:
        """The devices below that nobody holds for this one: a loop does not claim the device on which it stands."""
        return [each.device for each in self.lower if each.by == "loop"]


def ground_of(major: int, minor: int, root: Path = Path("/")) -> Ground | None:
    """What a device stands on; None for one that the kernel does not show."""
    top = device_directory(major, minor, root)
    if top is None:
        return None
    lower: list[Lower] = []
    files: list[Backing] = []
    waiting, devices = [(top, False)], {top}
    while waiting:
        device, shared = waiting.pop(0)
        behind = backing(device, root)
        if behind is not None and behind.device is None:
            files.append(behind)
        for each in _steps(device, behind, shared, root):
            if each.device not in devices:
                devices.add(each.device)
                lower.append(each)
                waiting.append((each.device, each.shared))
    return Ground(top, tuple(lower), tuple(files))


def _steps(device: Path, behind: Backing | None, shared: bool, root: Path) -> Iterator[Lower]:
    if (device / "partition").exists():
        yield Lower(device.parent, device, "partition", shared)
    elif behind is not None and behind.device is not None:
        yield Lower(behind.device, device, "loop", shared)
    else:
        written_back = source_directory(read_text(device / "backing_dev") or "", root)  # of zram
        for each in filter(None, [written_back, *linked_devices(device / "slaves")]):
            yield Lower(each, device, "mapping", True)


def ground_claims(ground: Ground, root: Path = Path("/")) -> list[str]:
    """One sentence for each use of the device, and of those below by others, that the kernel knows."""
    uses = read_uses(root)
    said = list(claims_on(ground.top, uses))
    for each in ground.lower:
        others = claims_on(each.device, uses, ground.own | _neighbours(each))
        said += [f"below {kernel_name(each.above)}: {claim}" for claim in others]
    return said


def _neighbours(lower: Lower) -> frozenset[Path]:
    """What stands on the same device and has bytes of its own: other partitions, volumes of the same manager."""
    if lower.by == "partition":
        return frozenset(partitions(lower.device)) - _overlapping(lower)
    beside = [each for each in linked_devices(lower.device / "holders") if each != lower.above]
    return frozenset(each for each in beside if _kept_apart(each) and _kept_apart(lower.above))


def _overlapping(lower: Lower) -> frozenset[Path]:
    """Other partitions of the disk that have bytes in common with this one, as on sticks made from an image."""
    own = _sectors(lower.above)
    others = {each: _sectors(each) for each in partitions(lower.device) if each != lower.above}
    return frozenset(each for each, (first, end) in others.items() if first < own[1] and own[0] < end)


def _sectors(partition: Path) -> tuple[int, int]:
    """Its first sector, and the one behind its last; none where the kernel does not say."""
    first, size = (read_text(partition / name) or "" for name in ("start", "size"))
    return (int(first), int(first) + int(size)) if first.isdecimal() and size.isdecimal() else (0, 0)


def _kept_apart(device: Path) -> bool:
    return (device / "md").is_dir() or bool(_APART.match(read_text(device / "dm/uuid") or ""))


def ground_openers(ground: Ground) -> list[str]:
    """One sentence for each other process that has the device or one below open or mapped, as far as this user may see.

    Of shared ones only who may write counts: those who look after arrays and paths read their members.
    """
    names = related(*device_number(ground.top))
    shared: set[int] = set()
    for each in ground.lower:
        parts = _overlapping(each) if each.by == "partition" else partitions(each.device)
        for device in (each.device, *parts):
            number = os.makedev(*device_number(device))
            names[number] = f"{kernel_name(device)} (below {kernel_name(each.above)})"
            shared |= {number} if each.shared else set()
    return device_users(names, shared)[0]


def ground_file_users(ground: Ground, root: Path = Path("/")) -> list[str]:
    """One sentence for each use by others of the files that it stands on, by whatever name."""
    said: list[str] = []
    for each in ground.files:
        what = f"of the file behind {kernel_name(each.loop)}, {shown(each.path) or 'whose name is too long'}"
        if each.inode is None:
            said.append(f"{what}: its users cannot be looked for, because it cannot be reached")
            continue
        names = aliases(str(root / each.path.lstrip("/")), root)
        inodes = {each.inode, *(names if each.inode in names else ())}
        users = inode_users(dict.fromkeys(inodes, each.path), root, ground.own)
        said += [f"{what}: {sentence}" for sentences in users.values() for sentence in sentences]
    return said
