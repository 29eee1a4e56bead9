"""Target: what is tested, down to the disks, and what iocast may do to it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from iocast.model.database.database_result import DatabaseServer
from iocast.model.simulated_device import SimulatedDevice

# File systems whose storage is behind a network.
NETWORK_FILESYSTEMS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "ceph", "glusterfs", "lustre", "gpfs", "beegfs", "afs", "9p"}
)


class Layer(Struct, frozen=True, kw_only=True):
    """One block device of the target's stack. None means that the kernel does not say."""

    name: str  # kernel name: "sda", "dm-0", "md127", "nvme0n1p2"
    kind: str  # "disk", "partition", "lvm", "crypt", "multipath", "dm", "raid1", "loop", "zram", ...
    major: int
    minor: int
    lower: tuple[str, ...] = ()  # the names of the layers right below this one
    size_bytes: int | None = None
    start_bytes: int | None = None  # of a partition on its disk, of a loop device in its file
    logical_block_bytes: int | None = None
    physical_block_bytes: int | None = None
    rotational: bool | None = None
    scheduler: str | None = None  # the active one
    write_cache: str | None = None  # "write back" or "write through"
    max_io_bytes: int | None = None  # max_sectors_kb x 1024
    max_segments: int | None = None
    queue_depth: int | None = None  # nr_requests
    model: str | None = None
    firmware: str | None = None
    serial: str | None = None
    wwn: str | None = None
    link: str | None = None  # as people say it: "PCIe 16.0 GT/s x4", "SATA 6.0 Gbps"
    link_bytes_per_s: int | None = None  # payload ceiling of that link, when the kernel shows it


class Identity(Struct, frozen=True, kw_only=True):
    """Which block device it is, whatever its path; two are the same device when all of this is."""

    marks: tuple[str, ...]  # the best first: "wwn:naa.5000c500a1b2c3d4", "serial:S3Z1NB0K", "loop:254:0:12:g7:b1.5"
    number: str  # "8:16"
    size_bytes: int
    start_bytes: int = 0  # of a partition, on its disk
    arrival: int | None = None  # the kernel's count of disks that came (diskseq): it changes with every attachment
    why_nameless: str = ""  # of one without marks: "it has neither a serial number nor a UUID"

    @property
    def name(self) -> str:
        """What `--destroy` takes; "" for a device that nothing tells from others."""
        return self.marks[0] if self.marks else ""


class Target(Struct, frozen=True, kw_only=True):
    """What is tested. `layers` goes from the device that the path stands on down to the disks."""

    path: str  # as given, made absolute; "sim:hdd" for a simulated one; of a database its URL without secrets
    kind: Literal["file", "directory", "block", "sim", "database", "unknown"]  # unknown: of a run that was imported
    size_bytes: int | None = None  # of the file or device
    mount_point: str | None = None
    filesystem: str | None = None  # "ext4", "xfs", "nfs4", "tmpfs"
    mount_source: str | None = None
    mount_options: str | None = None
    free_bytes: int | None = None  # what this user may still write
    total_bytes: int | None = None
    direct: bool | None = None  # does O_DIRECT open here
    direct_why_not: str = ""
    layers: tuple[Layer, ...] = ()
    simulated: SimulatedDevice | None = None
    notes: tuple[str, ...] = ()  # what could not be seen, and why
    identity: Identity | None = None  # of a block device
    price: float | None = None  # given by a person, in whatever currency; None: not given
    destroy: str = ""  # the name of that identity, given by a person: what the device holds may be overwritten
    database: DatabaseServer | None = None  # the server, and the data set there
    members: tuple[Target, ...] = ()  # several files or devices as one line of bytes: each of them, in order

    @property
    def device(self) -> Layer | None:
        """The block device right under the file system (or the device itself)."""
        return self.layers[0] if self.layers else None
