"""What one I/O costs a disk, a controller and a RAID set, from their data sheets."""

from __future__ import annotations

import math
from typing import Literal

from msgspec import Struct

from iocast.errors import SpecError

RaidLevel = Literal["raid0", "raid1", "raid10", "raid5", "raid6"]

# Disk I/Os that one small random write costs: data, its mirror or its parity, and what is read to renew parity.
WRITE_PENALTY: dict[RaidLevel, int] = {"raid0": 1, "raid1": 2, "raid10": 2, "raid5": 4, "raid6": 6}
PARITY_DISKS: dict[RaidLevel, int] = {"raid0": 0, "raid1": 0, "raid10": 0, "raid5": 1, "raid6": 2}
# The mean of the square root of the distance between two random places, as a share of the square root of the span.
MEAN_ROOT_DISTANCE = 8 / 15


class DiskService(Struct, frozen=True):
    """The parts of a random I/O to a spinning disk, in seconds."""

    seek_s: float
    half_rotation_s: float
    transfer_s: float
    controller_s: float

    @property
    def service_s(self) -> float:
        """The whole I/O."""
        return self.seek_s + self.half_rotation_s + self.transfer_s + self.controller_s

    @property
    def iops(self) -> float:
        """I/Os a second with one at a time."""
        return 1 / self.service_s


def disk_service(
    seek_s: float, rpm: float, size_bytes: float, rate_bytes_per_s: float, controller_s: float = 0.0
) -> DiskService:
    """A random I/O: average seek, half a rotation, transfer, controller.

    Source: Kolk's slides; Hennessy and Patterson, third edition, page 745. Raises SpecError.
    """
    _require_above_zero(rpm=rpm, rate=rate_bytes_per_s)
    return DiskService(seek_s, 30 / rpm, size_bytes / rate_bytes_per_s, controller_s)


def short_stroke_seek_s(settle_s: float, full_s: float, stroke_fraction: float) -> float:
    """The mean seek of random I/O in a part of the disk: settle + full x 8/15 x sqrt(fraction).

    A seek over a share d of the stroke takes settle + full x sqrt(d). Source: models A1; its coefficients reproduce
    Gary Little's 5.5, 7.5 and 12.5 ms of a SATA disk. Raises SpecError for a fraction that is not within 0 to 1.
    """
    if not 0 <= stroke_fraction <= 1:
        raise SpecError(f"a stroke fraction of {stroke_fraction:g} does not exist", "give 0 to 1: 0.1 is a tenth")
    return settle_s + full_s * MEAN_ROOT_DISTANCE * math.sqrt(stroke_fraction)


class ControllerService(Struct, frozen=True):
    """What a controller and its bus do for one I/O."""

    overhead_s: float
    transfer_s: float

    @property
    def iops(self) -> float:
        """I/Os a second, one after another."""
        return 1 / (self.overhead_s + self.transfer_s)

    @property
    def bus_utilisation(self) -> float:
        """The share of the time in which the bus moves data, 0 to 1."""
        return self.transfer_s / (self.overhead_s + self.transfer_s)


def controller_service(size_bytes: float, overhead_s: float, bus_bytes_per_s: float) -> ControllerService:
    """A controller that handles one I/O after another.

    Source: Kolk's controller slide. It prints 54.68 % and 7.56 % where 57.14 % and 7.69 % are right. Raises SpecError.
    """
    _require_above_zero(bus=bus_bytes_per_s)
    return ControllerService(overhead_s, size_bytes / bus_bytes_per_s)


def raid_level(name: str) -> RaidLevel:
    """A level by its name: raid10, RAID-10 or 10. Raises SpecError."""
    wanted = "raid" + name.lower().replace("-", "").replace(" ", "").removeprefix("raid")
    for level in WRITE_PENALTY:
        if wanted == level:
            return level
    raise SpecError(f"RAID level {name!r} is unknown", "give 0, 1, 10, 5 or 6")


def backend_iops(read_iops: float, write_iops: float, level: RaidLevel) -> float:
    """I/Os a second that the disks of a RAID set do for small random I/O. A cache hides the penalty only as long as
    it can destage."""
    return read_iops + WRITE_PENALTY[level] * write_iops


def full_stripe_writes(level: RaidLevel, data_disks: int) -> float:
    """Blocks written to disks for each block of a full-stripe write: (data + parity) / data. Mirrors: 2."""
    if data_disks < 1:
        raise SpecError(f"{data_disks} data disks hold nothing", "give 1 or more")
    if level in ("raid1", "raid10"):
        return 2.0
    return (data_disks + PARITY_DISKS[level]) / data_disks


def _require_above_zero(**values: float) -> None:
    for name, value in values.items():
        if not value > 0:
            raise SpecError(f"a {name} of {value:g} makes no I/O", "give a value above 0")
