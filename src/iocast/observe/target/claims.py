"""Who uses a block device already: mounts, swap, and devices built on it or on its partitions."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from iocast.observe.target.identity import loop_inode
from iocast.observe.target.mounts import Mount, read_mounts, remote_places, unescape
from iocast.observe.target.sysfs import (
    device_directory,
    device_number,
    kernel_name,
    linked_devices,
    named_directory,
    read_text,
    source_directory,
)

# Storage that the kernel serves to other machines: of SCSI (LIO) and of NVMe.
_EXPORTS = {
    "sys/kernel/config/target/core/*/*/udev_path": "exported as SCSI storage",
    "sys/kernel/config/nvmet/subsystems/*/namespaces/*/device_path": "exported as NVMe storage",
}


def claims(major: int, minor: int, root: Path = Path("/")) -> tuple[str, ...]:
    """One sentence for each use of the device, its partitions and all that stands on them; () when free.

    It sees what the kernel knows: not a file system that is not mounted, and not another machine's use.
    """
    top = device_directory(major, minor, root)
    if top is None:
        return ()
    mounts, swaps, loops = read_mounts(root), _swap_devices(root), _loops(root)
    served = {source_directory(path, root): what for path, what in exports(root)}
    said: list[str] = []
    waiting, seen = [top], {top}
    while waiting:
        device = waiting.pop(0)
        said += _claims_on(device, mounts, swaps, root)
        said += [f"{kernel_name(device)} is {served[device]}"] if device in served else []
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
    others = [
        other for other, its in loop_files(root, file).items() if other != loop and _behind(other, its, root) == this
    ]
    said = [f"{kernel_name(other)} uses the same file, {file}" for other in others]
    below = source_directory(file, root)
    if below is not None and below != loop:
        major, minor = device_number(below)
        own = f"{kernel_name(loop)} is built on "
        said += [claim for claim in claims(major, minor, root) if not claim.startswith(own)]
        said += loop_claims(major, minor, root)
    return tuple(said)


def loop_files(root: Path, besides: str = "/") -> dict[Path, str]:
    """The file that each loop device stands on, as the kernel names it.

    Left out are those on the file system of another machine or process, where a look may never come back, but for the
    one on which `besides` lies.
    """
    found: dict[Path, str] = {}
    remote = remote_places(besides, root)
    for entry in sorted(root.glob("sys/class/block/loop*")):
        directory = named_directory(entry.name, root)
        file = read_text(entry / "loop/backing_file")
        if directory is not None and file is not None and not file.startswith(remote):
            found[directory] = file
    return found


def _behind(loop: Path, file: str, root: Path) -> tuple[int, int] | str:
    """Which file it is, by device and inode: hard links and bind mounts give one file several names. The name, where
    the file cannot be reached by it.
    """
    return loop_inode(kernel_name(loop), file, root) or file


def exports(root: Path) -> Iterator[tuple[str, str]]:
    """The path of each device or file that the kernel serves to other machines, and as what."""
    for pattern, what in _EXPORTS.items():
        for entry in sorted(root.glob(pattern)):
            if (path := read_text(entry)) is not None:
                yield path, what


def _loops(root: Path) -> dict[Path, list[Path]]:
    """The loop devices by the block device that each stands on; the kernel does not name them as holders."""
    found: dict[Path, list[Path]] = {}
    for loop, file in loop_files(root).items():
        if (below := source_directory(file, root)) is not None:
            found.setdefault(below, []).append(loop)
    return found


def _claims_on(directory: Path, mounts: tuple[Mount, ...], swaps: set[Path], root: Path) -> list[str]:
    name = kernel_name(directory)
    number = device_number(directory)
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
