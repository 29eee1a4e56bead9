"""Who uses a block device already: mounts, swap, and devices built on it or on its partitions."""

from __future__ import annotations

import os
from pathlib import Path

from iocast.observe.mounts import Mount, read_mounts, unescape
from iocast.observe.sysfs import device_directory, kernel_name, linked_devices, source_directory


def claims(major: int, minor: int, root: Path = Path("/")) -> tuple[str, ...]:
    """One sentence for each use of the device, its partitions and all that stands on them; () when free.

    It sees what the kernel knows: not a file system that is not mounted, and not another machine's use.
    """
    top = device_directory(major, minor, root)
    if top is None:
        return ()
    mounts, swaps = read_mounts(root), _swap_devices(root)
    said: list[str] = []
    waiting, seen = [top], {top}
    while waiting:
        device = waiting.pop(0)
        said += _claims_on(device, mounts, swaps, root)
        for above in [*_partitions(device), *linked_devices(device / "holders")]:
            if above not in seen:
                seen.add(above)
                waiting.append(above)
    return tuple(dict.fromkeys(said))


def mounted_on(major: int, minor: int, root: Path = Path("/")) -> Mount | None:
    """The first mount of the device itself, None when there is none (btrfs is found by its source)."""
    directory = device_directory(major, minor, root)
    found = [mount for mount in read_mounts(root) if _is_of(mount, directory, (major, minor), root)]
    return found[0] if found else None


def _claims_on(directory: Path, mounts: tuple[Mount, ...], swaps: set[Path], root: Path) -> list[str]:
    name = kernel_name(directory)
    major, _, minor = (directory / "dev").read_text().strip().partition(":")
    number = (int(major), int(minor))
    said = [f"{name} is mounted on {m.mount_point}" for m in mounts if _is_of(m, directory, number, root)]
    if directory in swaps:
        said.append(f"{name} is used as swap")
    if any(root.glob(f"sys/fs/btrfs/*/devices/{directory.name}")):
        said.append(f"{name} belongs to a mounted btrfs")
    holders = [kernel_name(holder) for holder in linked_devices(directory / "holders")]
    return said + [f"{holder} is built on {name}" for holder in holders]


def _is_of(mount: Mount, directory: Path | None, number: tuple[int, int], root: Path) -> bool:
    if mount.major or directory is None:
        return (mount.major, mount.minor) == number
    return mount.source.startswith("/dev/") and source_directory(mount.source, root) == directory


def _partitions(directory: Path) -> list[Path]:
    return sorted(entry.parent for entry in directory.glob("*/partition"))


def _swap_devices(root: Path) -> set[Path]:
    try:
        text = os.fsdecode((root / "proc/swaps").read_bytes())
    except OSError:
        return set()
    sources = [unescape(line.split()[0]) for line in text.splitlines()[1:] if line.strip()]
    return {found for source in sources if (found := source_directory(source, root)) is not None}
