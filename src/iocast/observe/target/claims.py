"""Who uses a block device already: mounts, swap, and devices built on it or on its partitions."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from iocast.observe.target.loops import all_loops
from iocast.observe.target.mounts import Mount, MountNamespace, other_namespaces, read_mounts, unescape
from iocast.observe.target.sysfs import (
    device_directory,
    device_number,
    kernel_name,
    linked_devices,
    partitions,
    read_text,
    source_directory,
)

# Storage that the kernel serves to other machines: of SCSI (LIO) and of NVMe.
_EXPORTS = {
    "sys/kernel/config/target/core/*/*/udev_path": "exported as SCSI storage",
    "sys/kernel/config/nvmet/subsystems/*/namespaces/*/device_path": "exported as NVMe storage",
}


class Uses(NamedTuple):
    """How the devices of a machine are used, read once."""

    root: Path
    mounts: tuple[Mount, ...]
    elsewhere: tuple[MountNamespace, ...]
    swaps: set[Path]
    served: dict[Path | None, str]
    loops: dict[Path, list[Path]]  # by the block device that each stands on; the kernel does not name them as holders


def read_uses(root: Path = Path("/")) -> Uses:
    """How all devices are used now."""
    loops: dict[Path, list[Path]] = {}
    for each in all_loops(root):
        if each.device is not None:
            loops.setdefault(each.device, []).append(each.loop)
    served = {source_directory(path, root): what for path, what in exports(root)}
    elsewhere = tuple(other_namespaces(root).values())
    return Uses(root, read_mounts(root), elsewhere, _swap_devices(root), served, loops)


def claims(major: int, minor: int, root: Path = Path("/")) -> tuple[str, ...]:
    """One sentence for each use of the device, its partitions and all that stands on them; () when free.

    It sees what the kernel knows: not a file system that is not mounted, and not another machine's use.
    """
    top = device_directory(major, minor, root)
    return () if top is None else claims_on(top, read_uses(root))


def claims_on(top: Path, uses: Uses, besides: Collection[Path] = ()) -> tuple[str, ...]:
    """The same; that the devices `besides` stand on it is no use, nor is what stands on these."""
    said: list[str] = []
    waiting, devices = [top], {top, *besides}
    while waiting:
        device = waiting.pop(0)
        name = kernel_name(device)
        built = [*linked_devices(device / "holders"), *uses.loops.get(device, ())]
        said += _uses_of(device, uses)
        said += [f"{kernel_name(above)} is built on {name}" for above in built if above not in besides]
        for above in [*partitions(device), *built]:
            if above not in devices:
                devices.add(above)
                waiting.append(above)
    return tuple(dict.fromkeys(said))


def mounted_on(major: int, minor: int, root: Path = Path("/")) -> Mount | None:
    """The first mount of the device itself, None when there is none (btrfs is found by its source)."""
    directory = device_directory(major, minor, root)
    mounts = [mount for mount in read_mounts(root) if _is_of(mount, directory, (major, minor), root)]
    return mounts[0] if mounts else None


def exports(root: Path) -> Iterator[tuple[str, str]]:
    """The path of each device or file that the kernel serves to other machines, and as what."""
    for pattern, what in _EXPORTS.items():
        for entry in sorted(root.glob(pattern)):
            if (path := read_text(entry)) is not None:
                yield path, what


def _uses_of(directory: Path, uses: Uses) -> Iterator[str]:
    name = kernel_name(directory)
    yield from _mounts_of(directory, uses)
    if directory in uses.swaps:
        yield f"{name} is used as swap"
    if any(uses.root.glob(f"sys/fs/btrfs/*/devices/{directory.name}")):
        yield f"{name} is part of a mounted btrfs"
    if directory in uses.served:
        yield f"{name} is {uses.served[directory]}"


def _mounts_of(directory: Path, uses: Uses) -> list[str]:
    """Where it is mounted; in another mount namespace the first such place, unless it is mounted in this one."""
    name, number = kernel_name(directory), device_number(directory)
    here = [mount for mount in uses.mounts if _is_of(mount, directory, number, uses.root)]
    if here:
        return [f"{name} is mounted on {mount.mount_point}" for mount in here]
    for there in uses.elsewhere:
        for mount in there.mounts:
            if _is_of(mount, directory, number, uses.root):
                who = f"process {there.pid} ({there.name})"
                return [f"{name} is mounted on {mount.mount_point} in the mount namespace of {who}"]
    return []


def _is_of(mount: Mount, directory: Path | None, number: tuple[int, int], root: Path) -> bool:
    if mount.major or directory is None:
        return (mount.major, mount.minor) == number
    return mount.source.startswith("/dev/") and source_directory(mount.source, root) == directory


def _swap_devices(root: Path) -> set[Path]:
    try:
        text = os.fsdecode((root / "proc/swaps").read_bytes())
    except OSError:
        return set()
    sources = [unescape(line.split()[0]) for line in text.splitlines()[1:] if line.strip()]
    return {device for source in sources if (device := source_directory(source, root)) is not None}
