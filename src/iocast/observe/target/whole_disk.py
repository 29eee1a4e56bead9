"""From what a person calls a device to the whole disk whose requests can be watched."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from iocast.errors import TargetError
from iocast.model.block_times import DeviceNumber
from iocast.observe.target.sysfs import device_directory, kernel_name, named_directory, read_text

_NUMBERS = re.compile(r"(\d+)[:,](\d+)")


def find_device(name: str, root: Path = Path("/")) -> tuple[DeviceNumber, str]:
    """The disk behind "vda", "/dev/vda1", "8:0" or "8,0", with its kernel name.

    Raises TargetError when there is none, or when it handles bios, of which these tracepoints say nothing.
    """
    directory = _directory(name, root)
    if directory is None:
        raise TargetError(f"block device {name} does not exist", "`lsblk` lists the block devices of this machine")
    if (directory / "partition").exists():
        directory = directory.parent  # a request goes to the disk, wherever on it
    if not (directory / "mq").is_dir():
        below = sorted(each.name for each in (directory / "slaves").glob("*"))
        hint = (
            f"trace the devices below it: {' '.join(below)}"
            if below
            else "it has no devices below that could be traced"
        )
        raise TargetError(f"{kernel_name(directory)} is bio-based: it has no request queue", hint)
    major, _, minor = (read_text(directory / "dev") or "0:0").partition(":")
    return DeviceNumber(int(major), int(minor)), kernel_name(directory)


def name_of(device: DeviceNumber, root: Path = Path("/")) -> str:
    """The kernel's name of a device; its number where sysfs does not show it."""
    directory = device_directory(device.major, device.minor, root)
    return kernel_name(directory) if directory else f"{device.major}:{device.minor}"


def _directory(name: str, root: Path) -> Path | None:
    if numbers := _NUMBERS.fullmatch(name):
        return device_directory(int(numbers[1]), int(numbers[2]), root)
    if "/" not in name:
        return named_directory(name, root)
    try:
        status = os.stat(root / name.lstrip("/"))
    except OSError:
        return None
    number = status.st_rdev if stat.S_ISBLK(status.st_mode) else 0
    return device_directory(os.major(number), os.minor(number), root) if number else None
