"""Which other processes have a block device open or mapped, by any node, itself or on its disk or partitions."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from iocast.observe.target.process_files import file_uses
from iocast.observe.target.sysfs import device_directory, kernel_name, read_text


def related(major: int, minor: int, root: Path = Path("/")) -> dict[int, str]:
    """Device numbers that reach the same blocks, with their kernel names: the device, its partitions, its disk."""
    directory = device_directory(major, minor, root)
    if directory is None:
        return {os.makedev(major, minor): f"{major}:{minor}"}
    whole = [directory.parent] if (directory / "partition").exists() else []
    parts = sorted(entry.parent for entry in directory.glob("*/partition"))
    found: dict[int, str] = {}
    for each in [directory, *whole, *parts]:
        number = (read_text(each / "dev") or "").partition(":")
        if number[2]:
            found[os.makedev(int(number[0]), int(number[2]))] = kernel_name(each)
    return found


def device_users(major: int, minor: int) -> tuple[list[str], int]:
    """One sentence for each other process that uses any of them, as far as this user may see; and how many processes
    could not be looked at.
    """
    numbers = related(major, minor)
    uses, unseen = file_uses(lambda status: stat.S_ISBLK(status.st_mode) and status.st_rdev in numbers)
    opened = {(use.pid, use.status.st_rdev) for use in uses if use.how == "open"}
    found = []
    for use in uses:
        name = numbers[use.status.st_rdev]
        if use.how == "open":
            found.append(f"{use.who} has {name} open")
        elif (use.pid, use.status.st_rdev) not in opened:
            found.append(f"{use.who} has {name} mapped into its memory")
    return list(dict.fromkeys(found)), unseen
