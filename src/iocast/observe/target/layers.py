"""Block devices from sysfs: one Layer each, and the whole stack from a mount or device down to the disks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from iocast.model.target import NETWORK_FILESYSTEMS, Layer
from iocast.observe.target.links import NO_LINK, link_of
from iocast.observe.target.mounts import Mount, find_mount
from iocast.observe.target.sysfs import (
    device_directory,
    kernel_name,
    linked_devices,
    named_directory,
    read_int,
    read_text,
    source_directory,
)

_SECTOR_BYTES = 512  # sysfs counts in these, whatever the device's block is
_DM_KINDS = {"LVM": "lvm", "CRYPT": "crypt", "mpath": "multipath", "DMRAID": "dmraid", "VDO": "vdo"}
_SPECIAL_DISKS = ("loop", "zram", "nbd", "rbd", "drbd", "bcache", "ram", "mtdblock", "md")
_IN_MEMORY = ("tmpfs", "ramfs", "devtmpfs", "hugetlbfs")
_REMOTE = (*NETWORK_FILESYSTEMS, "virtiofs")


def read_layer(directory: Path, lower: tuple[str, ...] = ()) -> Layer:
    """The Layer of one device; `directory` is its resolved sysfs directory. What sysfs hides stays None."""
    is_partition = (directory / "partition").exists()
    disk = directory.parent if is_partition else directory  # a partition shares the queue of its disk
    queue = disk / "queue"
    major, _, minor = (read_text(directory / "dev") or "0:0").partition(":")
    sectors, rotational = read_int(directory / "size"), read_int(queue / "rotational")
    largest_kb = read_int(queue / "max_sectors_kb")
    kind = "partition" if is_partition else device_kind(directory)
    model, serial, wwn = (None, None, None) if is_partition else hardware_identity(directory)
    link, link_bytes_per_s = NO_LINK if kind != "disk" else link_of(directory)
    return Layer(
        name=kernel_name(directory),
        kind=kind,
        major=int(major),
        minor=int(minor),
        lower=lower,
        size_bytes=None if sectors is None else sectors * _SECTOR_BYTES,
        start_bytes=_start_bytes(directory),
        logical_block_bytes=read_int(queue / "logical_block_size"),
        physical_block_bytes=read_int(queue / "physical_block_size"),
        rotational=None if rotational is None else rotational == 1,
        scheduler=active_scheduler(read_text(queue / "scheduler")),
        write_cache=read_text(queue / "write_cache"),
        max_io_bytes=None if largest_kb is None else largest_kb * 1024,
        max_segments=read_int(queue / "max_segments"),
        queue_depth=read_int(queue / "nr_requests"),
        model=model,
        firmware=None if is_partition else firmware_of(directory),
        serial=serial,
        wwn=wwn,
        link=link,
        link_bytes_per_s=link_bytes_per_s,
    )


def _start_bytes(directory: Path) -> int | None:
    """Where a partition starts on its disk, or a loop device in its file; None for others."""
    start = read_int(directory / "start")
    return read_int(directory / "loop/offset") if start is None else start * _SECTOR_BYTES


def active_scheduler(text: str | None) -> str | None:
    """The one in brackets: "none [mq-deadline] kyber" → "mq-deadline"; a lone name stands for itself."""
    match = re.search(r"\[([^\]]+)\]", text or "")
    return match[1] if match else text


def device_kind(directory: Path) -> str:
    """What a device that is no partition is: "lvm", "raid1", "loop", "disk", ..."""
    uuid = read_text(directory / "dm/uuid")
    if uuid is not None or directory.name.startswith("dm-"):
        prefix = (uuid or "").partition("-")[0]
        return "partition" if re.fullmatch(r"part\d+", prefix) else _DM_KINDS.get(prefix, "dm")
    if level := read_text(directory / "md/level"):
        return level
    match = re.match(r"[a-z]+", directory.name)
    return match[0] if match and match[0] in _SPECIAL_DISKS else "disk"


def hardware_identity(directory: Path) -> tuple[str | None, str | None, str | None]:
    """Model, serial number, world-wide name."""
    device = directory / "device"
    vendor, model = read_text(device / "vendor"), read_text(device / "model") or read_text(device / "name")
    # "ATA" is the translation layer and a hexadecimal vendor a PCI number: neither is a maker's name.
    if model is not None and vendor is not None and vendor != "ATA" and not vendor.startswith("0x"):
        model = f"{vendor} {model}"
    serial = read_text(directory / "serial") or read_text(device / "serial") or _scsi_serial(device)
    wwn = read_text(directory / "wwid") or read_text(device / "wwid")
    if (uuid := read_text(directory / "dm/uuid") or "").startswith("mpath-"):
        wwn = uuid.removeprefix("mpath-")
    return model, serial, wwn


def firmware_of(directory: Path) -> str | None:
    """The revision of a drive's firmware, as NVMe or SCSI says it; None where the kernel does not."""
    device = directory / "device"
    return read_text(device / "firmware_rev") or read_text(device / "rev")


def _scsi_serial(device: Path) -> str | None:
    """Vital product data page 0x80: four bytes of head with the length last, then the number in ASCII."""
    try:
        page = (device / "vpd_pg80").read_bytes()
    except OSError:
        return None
    return page[4 : 4 + int.from_bytes(page[2:4], "big")].decode("ascii", "replace").strip("\x00 ") or None


class Stack:
    """Collects the layers below mounts and devices, and notes on what cannot be seen. Circles are cut."""

    def __init__(self, root: Path = Path("/")) -> None:
        self.notes: list[str] = []
        self._root = root
        self._done: dict[str, Layer] = {}  # in the order in which they were finished: the lowest first
        self._open: set[str] = set()
        self._files: set[str] = set()

    def add_mount(self, mount: Mount) -> None:
        """Takes in the devices below a mount."""
        self._visit_all(self._below_mount(mount))

    def add_device(self, major: int, minor: int) -> None:
        """Takes in one block device and what is below it."""
        self._visit_all(self._numbered(major, minor))

    def layers(self) -> tuple[Layer, ...]:
        """From the top down: each layer comes after all that stand on it."""
        depth = dict.fromkeys(reversed(self._done), 0)
        for name in depth:
            for lower in self._done[name].lower:
                depth[lower] = max(depth[lower], depth[name] + 1)
        return tuple(self._done[name] for name in sorted(depth, key=lambda name: depth[name]))

    def _visit_all(self, directories: Iterable[Path]) -> tuple[str, ...]:
        # Finished in reverse, so that layers(), which turns the order round, keeps the devices' own.
        names = [self._visit(directory) for directory in reversed(list(directories))]
        return tuple(name for name in reversed(names) if name is not None)

    def _visit(self, directory: Path) -> str | None:
        name = kernel_name(directory)
        if name in self._done:
            return name
        if name in self._open:
            self.notes.append(f"{name} is stacked on itself: the loop was cut there")
            return None
        self._open.add(name)
        self._done[name] = read_layer(directory, self._visit_all(self._below(directory)))
        self._open.remove(name)
        return name

    def _below(self, directory: Path) -> list[Path]:
        if (directory / "partition").exists():
            return [directory.parent]
        if file := read_text(directory / "loop/backing_file"):
            return self._below_file(kernel_name(directory), file)
        backing = read_text(directory / "backing_dev")
        if backing not in (None, "none"):  # zram with somewhere to write back to
            return [device for device in [source_directory(str(backing), self._root)] if device is not None]
        return linked_devices(directory / "slaves")

    def _below_file(self, loop: str, file: str) -> list[Path]:
        if file.endswith(" (deleted)"):
            self.notes.append(f"the backing file of {loop} was deleted: the devices below are unknown")
            return []
        if not (self._root / file.lstrip("/")).exists():
            self.notes.append(f"the backing file of {loop}, {file}, is not visible: the devices below are unknown")
            return []
        return self._below_path(file)

    def _below_path(self, path: str) -> list[Path]:
        mount = find_mount(path, self._root)
        if mount is None or path in self._files:
            return []
        self._files.add(path)
        return self._below_mount(mount)

    def _below_mount(self, mount: Mount) -> list[Path]:
        if mount.major:
            return self._numbered(mount.major, mount.minor)
        if mount.filesystem == "btrfs":
            return self._btrfs_devices(mount.source)
        if mount.filesystem == "overlay":
            return self._below_overlay(mount)
        # bcachefs names all its members; "server:/dev/x" of NFS is no device of ours.
        names = mount.source.split(":")
        if all(name.startswith("/dev/") for name in names):
            sources = [source_directory(name, self._root) for name in names]
            if paths := [source for source in sources if source is not None]:
                return paths
        self.notes.append(no_device_note(mount))
        return []

    def _numbered(self, major: int, minor: int) -> list[Path]:
        device = device_directory(major, minor, self._root)
        if device is None:
            self.notes.append(f"device {major}:{minor} is missing in sysfs: the devices below are unknown")
            return []
        return [device]

    def _btrfs_devices(self, source: str) -> list[Path]:
        """All members, the mount's source first; btrfs itself has no number of a device."""
        first = source_directory(source, self._root)
        if first is None:
            self.notes.append(f"btrfs: its device {source} is not visible")
            return []
        for folder in sorted(self._root.glob("sys/fs/btrfs/*/devices")):
            if (folder / first.name).exists():
                members = [named_directory(entry.name, self._root) for entry in sorted(folder.iterdir())]
                return [first, *(member for member in members if member is not None and member != first)]
        return [first]

    def _below_overlay(self, mount: Mount) -> list[Path]:
        match = re.search(r"(?:^|,)upperdir=([^,]+)", mount.options)
        if match is None:
            self.notes.append("overlay without an upper directory: read-only and without a block device")
            return []
        if not (self._root / match[1].lstrip("/")).exists():
            self.notes.append(f"overlay without a block device; its upper directory {match[1]} is not visible")
            return []
        self.notes.append(f"overlay: writes go to {match[1]}; the devices shown are those below it")
        return self._below_path(match[1])


def no_device_note(mount: Mount) -> str:
    """Why there is no block device below a mount of an anonymous device number."""
    kind = mount.filesystem
    if kind in _IN_MEMORY:
        return f"{kind} is in memory, without a block device: the figures are those of memory"
    if kind == "zfs":
        pool = mount.source.partition("/")[0]
        return f"zfs hides its devices from the kernel: `zpool status {pool}` lists those of pool {pool}"
    if kind in _REMOTE:
        return f"{kind}: {mount.source} is remote, without a block device on this machine"
    if kind.startswith("fuse"):
        return f"{kind}: a user-space process serves {mount.source}, without a block device known to the kernel"
    return f"{kind} ({mount.source}) has no block device"
