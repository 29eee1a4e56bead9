"""Where block devices are in sysfs, and how its little files are read."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def read_text(path: Path) -> str | None:
    """The file's text without white space at its ends; None when it is not there, not readable or empty."""
    try:
        return path.read_bytes().decode("utf-8", "replace").strip("\x00 \t\r\n") or None
    except OSError:
        return None


def read_int(path: Path) -> int | None:
    """The decimal integer in the file; None when there is none."""
    text = read_text(path)
    try:
        return int(text) if text is not None else None
    except ValueError:
        return None


def device_directory(major: int, minor: int, root: Path = Path("/")) -> Path | None:
    """The resolved sysfs directory of a block device by number; None when sysfs does not show it."""
    return _resolved(root / f"sys/dev/block/{major}:{minor}")


def named_directory(name: str, root: Path = Path("/")) -> Path | None:
    """The resolved sysfs directory of a block device by its kernel name; None when sysfs does not show it."""
    return _resolved(root / "sys/class/block" / name.replace("/", "!"))


def source_directory(source: str, root: Path = Path("/")) -> Path | None:
    """The resolved sysfs directory of a device by its path ("/dev/mapper/vg-db"), by link and number.

    A node may stand anywhere; by its name alone only one in /dev is taken for a device.
    """
    if not source.startswith("/"):
        return None
    node = Path(os.path.realpath(root / source.lstrip("/")))
    try:
        status = node.stat()
        number = status.st_rdev if stat.S_ISBLK(status.st_mode) else 0
    except OSError:
        number = 0
    device = device_directory(os.major(number), os.minor(number), root) if number else None
    return device or (named_directory(node.name, root) if source.startswith("/dev/") else None)


def kernel_name(directory: Path) -> str:
    """The name that the kernel uses; sysfs writes "!" for the "/" of names like "cciss/c0d0"."""
    return directory.name.replace("!", "/")


def device_number(directory: Path) -> tuple[int, int]:
    """Major and minor of the device that a directory of sysfs is of."""
    major, _, minor = (directory / "dev").read_text().strip().partition(":")
    return int(major), int(minor)


def linked_devices(folder: Path) -> list[Path]:
    """The resolved targets of all links in `folder` (slaves, holders), by name."""
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return []
    return [target for entry in entries if (target := _resolved(entry)) is not None]


def partitions(directory: Path) -> list[Path]:
    """The partitions of a disk, by name; directories of sysfs."""
    return sorted(entry.parent for entry in directory.glob("*/partition"))


def _resolved(path: Path) -> Path | None:
    return Path(os.path.realpath(path)) if path.is_dir() else None
