"""Who uses a block device already: mounts, swap, and devices built on it or on its partitions."""

from __future__ import annotations

import os
from pathlib import Path

from iocast.observe.target.identity import loop_inode
from iocast.observe.target.mounts import Mount, read_mounts, unescape
from iocast.observe.target.sysfs import (
    device_directory,
    kernel_name,
    linked_devices,
    named_directory,
    read_text,
    source_directory,
)


def claims(major: int, minor: int, root: Path = Path("/")) -> tuple[str, ...]:
    """One sentence for each use of the device, its partitions and all that stands on them; () when free.

    It sees what the kernel knows: not a file system that is not mounted, and not another machine's use.
    """
    top = device_directory(major, minor, root)
    if top is None:
        return ()
    mounts, swaps, loops = read_mounts(root), _swap_devices(root), _loops(root)
    said: list[str] = []
    waiting, seen = [top], {top}
    while waiting:
        device = waiting.pop(0)
        said += _claims_on(device, mounts, swaps, root)
        said += [f"{kernel_name(loop)} is built on {kernel_name(device)}" for loop in loops.get(device, ())]
        for above in [*_partitions(device), *linked_devices(device / "holders"), *loops.get(device, ())]:
            if above not in seen:
                seen.add(above)
                waiting.append(above)
    return tuple(dict.fromkeys(said))


def mounted_on(major: int, minor: int, root: Path = Path("/")) -> Mount | None:
    """The first mount of the device itself, None when there is none (btrfs is found by its source)."""
    directory = device_directory(major, minor, root)
    found = [mount for mount in read_mounts(root) if _is_of(mount, directory, (major, minor), root)]
    return found[0] if found else None


def loop_claims(major: int, minor: int, root: Path = Path("/")) -> tuple[str, ...]:
    """Who uses what a loop device stands on: the device behind it, or, by another loop, the same file.

    () for all other devices: what stands beside them on the same disk is not overwritten with them.
    """
    loop = device_directory(major, minor, root)
    file = read_text(loop / "loop/backing_file") if loop is not None else None
    if loop is None or file is None:
        return ()
    this = _behind(loop, file, root)
    others = [other for other, its in _loop_files(root).items() if other != loop and _behind(other, its, root) == this]
    said = [f"{kernel_name(other)} uses the same file, {file}" for other in others]
    below = source_directory(file, root)
    if below is not None and below != loop:
        major, minor = _number(below)
        own = f"{kernel_name(loop)} is built on "
        said += [claim for claim in claims(major, minor, root) if not claim.startswith(own)]
        said += loop_claims(major, minor, root)
    return tuple(said)


def _loop_files(root: Path) -> dict[Path, str]:
    """The file that each loop device stands on, as the kernel names it."""
    found: dict[Path, str] = {}
    for entry in sorted(root.glob("sys/class/block/loop*")):
        directory = named_directory(entry.name, root)
        file = read_text(entry / "loop/backing_file")
        if directory is not None and file is not None:
            found[directory] = file
    return found


def _behind(loop: Path, file: str, root: Path) -> tuple[int, int] | str:
    """Which file it is, by device and inode: hard links and bind mounts give one file several names. The name, where
    the file cannot be reached by it.
    """
    inode = loop_inode(kernel_name(loop)) if root == Path("/") else None
    if inode is not None:
        return inode
    try:
        status = os.stat(root / file.lstrip("/"))
    except OSError:
        return file
    return status.st_dev, status.st_ino


def _loops(root: Path) -> dict[Path, list[Path]]:
    """The loop devices by the block device that each stands on; the kernel does not name them as holders."""
    found: dict[Path, list[Path]] = {}
    for loop, file in _loop_files(root).items():
        if (below := source_directory(file, root)) is not None:
            found.setdefault(below, []).append(loop)
    return found


def _number(directory: Path) -> tuple[int, int]:
    major, _, minor = (directory / "dev").read_text().strip().partition(":")
    return int(major), int(minor)


def _claims_on(directory: Path, mounts: tuple[Mount, ...], swaps: set[Path], root: Path) -> list[str]:
    name = kernel_name(directory)
    number = _number(directory)
    said = [f"{name} is mounted on {m.mount_point}" for m in mounts if _is_of(m, directory, number, root)]
    if directory in swaps:
        said.append(f"{name} is used as swap")
    if any(root.glob(f"sys/fs/btrfs/*/devices/{directory.name}")):
        said.append(f"{name} is part of a mounted btrfs")
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
