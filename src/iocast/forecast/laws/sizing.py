"""How many disks a database needs: for its capacity, its IOPS and its throughput; the largest of them binds."""

from __future__ import annotations

import math
from typing import Literal

from msgspec import Struct

from iocast.errors import SpecError
from iocast.forecast.laws.disks import PARITY_DISKS, RaidLevel, backend_iops

Need = Literal["capacity", "iops", "throughput"]
ROUNDING = 1e-9  # 145.00000000001 disks are 145


class Demand(Struct, frozen=True, kw_only=True):
    """What production asks of its storage at peak."""

    capacity_bytes: float
    iops: float
    write_fraction: float
    bytes_per_s: float = 0.0


class Disk(Struct, frozen=True, kw_only=True):
    """What one disk gives."""

    capacity_bytes: float
    iops: float
    bytes_per_s: float


class DiskCount(Struct, frozen=True):
    """Disks for each need, without spares, and the count that meets all."""

    backend_iops: float
    for_capacity: int
    for_iops: int
    for_throughput: int
    disks: int
    binding: Need


def size_disks(demand: Demand, disk: Disk, level: RaidLevel, most_utilisation: float = 0.6) -> DiskCount:
    """The disks of one parity group, or an even number of mirrored ones.

    `most_utilisation` bounds how busy a disk may be with I/Os: 0.6 keeps the response time of a single disk below 2.5
    service times. Source: models A9. Raises SpecError.
    """
    if min(disk.capacity_bytes, disk.iops, disk.bytes_per_s) <= 0 or not 0 < most_utilisation <= 1:
        raise SpecError("such a disk holds or does nothing", "give capacity, IOPS and throughput above 0")
    if not 0 <= demand.write_fraction <= 1:
        raise SpecError(f"a write share of {demand.write_fraction:g} does not exist", "give 0 to 1: 0.3 is 30 %")
    behind = backend_iops(demand.iops * (1 - demand.write_fraction), demand.iops * demand.write_fraction, level)
    mirrored = level in ("raid1", "raid10")
    needs: dict[Need, int] = {
        "capacity": _up(demand.capacity_bytes / disk.capacity_bytes) * (1 + mirrored) + PARITY_DISKS[level],
        "iops": _up(behind / (most_utilisation * disk.iops)),
        "throughput": _up(demand.bytes_per_s / disk.bytes_per_s),
    }
    binding = max(needs, key=needs.__getitem__)
    disks = max(needs[binding], PARITY_DISKS[level] + 1)
    return DiskCount(
        backend_iops=behind,
        for_capacity=needs["capacity"],
        for_iops=needs["iops"],
        for_throughput=needs["throughput"],
        disks=disks + disks % 2 if mirrored else disks,
        binding=binding,
    )


def _up(disks: float) -> int:
    return math.ceil(disks - ROUNDING)
