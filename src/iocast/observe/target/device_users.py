"""Which other processes have block devices open or mapped, by any node, themselves or on their disks or partitions."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Mapping
from pathlib import Path

from iocast.observe.target.process_files import file_uses, writes
from iocast.observe.target.sysfs import device_directory, device_number, kernel_name, partitions

_KEEPERS = ("mdmon",)  # writes the metadata of arrays, beside what is on them


def related(major: int, minor: int, root: Path = Path("/")) -> dict[int, str]:
    """Device numbers that reach the same blocks, with their kernel names: the device, its partitions, its disk."""
    directory = device_directory(major, minor, root)
    if directory is None:
        return {os.makedev(major, minor): f"{major}:{minor}"}
    whole = [directory.parent] if (directory / "partition").exists() else []
    return {os.makedev(*device_number(each)): kernel_name(each) for each in [directory, *whole, *partitions(directory)]}


def device_users(numbers: Mapping[int, str], shared: Collection[int] = ()) -> tuple[list[str], int]:
    """One sentence for each other process that uses one of these devices, as far as this user may see; and how many
    processes could not be looked at. Of those `shared` only who may write is a user.
    """
    uses, unseen = file_uses(lambda status: stat.S_ISBLK(status.st_mode) and status.st_rdev in numbers)
    opened = {(use.pid, use.status.st_rdev) for use in uses if use.how == "open"}
    sentences = []
    for use in uses:
        number = use.status.st_rdev
        if number in shared and (use.name in _KEEPERS or not writes(use)):
            continue
        if use.how == "open":
            sentences.append(f"{use.who} has {numbers[number]} open")
        elif (use.pid, number) not in opened:
            sentences.append(f"{use.who} has {numbers[number]} mapped into its memory")
    return list(dict.fromkeys(sentences)), unseen
