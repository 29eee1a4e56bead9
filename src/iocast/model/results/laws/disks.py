"""Laws of disks, controllers and RAID sets."""

from __future__ import annotations

from typing import Annotated, Literal

from iocast.model.results.laws.law import Iops, Law, LawRow, Printed, Rpm, ms, num, pct
from iocast.model.results.shown import Number, shown

Raid = Literal["raid0", "raid1", "raid10", "raid5", "raid6"]


class Rotation(LawRow, frozen=True, kw_only=True):
    """Half a rotation, and the whole I/O without its transfer."""

    rpm: Rpm
    half_rotation_ns: Annotated[Number, ms("half a\nrotation")]
    fastest_ns: Annotated[Number, ms("from")]
    slowest_ns: Annotated[Number, ms("to")]
    printed: Printed = None


class ServiceTime(LawRow, frozen=True, kw_only=True):
    """One random I/O. `controller_ns`: null where the controller adds nothing."""

    rpm: Rpm
    size_bytes: Annotated[int, shown("size", "bytes")]
    seek_ns: Annotated[Number, ms("seek")]
    half_rotation_ns: Annotated[Number, ms("rotation")]
    transfer_ns: Annotated[Number, ms("transfer")]
    controller_ns: Annotated[Number | None, ms("controller")] = None
    service_ns: Annotated[Number, ms("service")]
    iops: Iops
    seek_share: Annotated[Number, pct("seek share")]
    printed: Printed = None


class DiskLaw(Law, frozen=True, kw_only=True, tag="disk"):
    """What a random I/O of a spinning disk takes. `as_document`: seek, transfer and controller are Kolk's."""

    seek_from_ns: Number
    seek_to_ns: Number
    as_document: bool
    rotation: tuple[Rotation, ...]
    service: tuple[ServiceTime, ...]


class DisksLaw(Law, frozen=True, kw_only=True, tag="disks"):
    """The IOPS of several disks."""

    disks: Annotated[int, shown("disks", "count")]
    each_iops: Annotated[Number, num("IOPS each")]
    iops: Iops


class ControllerTime(LawRow, frozen=True, kw_only=True):
    """What a controller does for I/Os of a size."""

    size_bytes: Annotated[int, shown("size", "bytes")]
    transfer_ns: Annotated[Number, ms("transfer")]
    service_ns: Annotated[Number, ms("service")]
    iops: Iops
    bus_share: Annotated[Number, pct("bus busy")]
    printed: Printed = None


class ControllerLaw(Law, frozen=True, kw_only=True, tag="controller"):
    """A controller that handles one I/O after another. `as_document`: overhead and bus are Kolk's."""

    overhead_ns: Number
    bus_bytes_per_s: Number
    as_document: bool
    sizes: tuple[ControllerTime, ...]


class RaidCost(LawRow, frozen=True, kw_only=True):
    """What a load costs the disks of a level."""

    level: Annotated[Raid, shown("level")]
    ios_per_write: Annotated[int, num("I/Os a\nwrite")]
    backend_iops: Annotated[Number, num("back-end\nIOPS")]
    backend_ratio: Annotated[Number, num("x\nfront-end")]
    stripe_ratio: Annotated[Number, num("written of a\nfull stripe")]
    failures_survived: Annotated[int, num("failures\nsurvived")]


class RaidLaw(Law, frozen=True, kw_only=True, tag="raid"):
    """What small random I/O costs the disks of a RAID set."""

    read_iops: Number
    write_iops: Number
    data_disks: int
    levels: tuple[RaidCost, ...]


class StrokePart(LawRow, frozen=True, kw_only=True):
    """One random I/O on a part of a disk."""

    part_share: Annotated[Number, pct("part of\nthe disk")]
    seek_ns: Annotated[Number, ms("seek")]
    service_ns: Annotated[Number, ms("service")]
    iops: Iops
    printed: Printed = None


class StrokeLaw(Law, frozen=True, kw_only=True, tag="stroke"):
    """What a working set on a part of a disk saves. `full_ns`: what a seek over the whole disk takes more than
    settling; `whole_ns`: a random I/O on all of the disk; `as_document`: the disk is one of Little's."""

    rpm: Number
    settle_ns: Number
    full_ns: Number
    whole_ns: Number
    as_document: bool
    parts: tuple[StrokePart, ...]


class ZoneTest(LawRow, frozen=True, kw_only=True):
    """A test in a zone of a disk. `each_ns`: elapsed time by all reads, however many were outstanding."""

    test: Annotated[str, shown("test")]
    elapsed_ns: Annotated[Number, ms("elapsed")]
    each_ns: Annotated[Number, ms("elapsed /\nreads")]
    response_ns: Annotated[Number, ms("a read\ntakes")]
    iops: Annotated[Number, num("IOPS", 2)]
    slower_share: Annotated[Number, pct("slower than\nthe first")]
    printed: Printed = None


class ZonesLaw(Law, frozen=True, kw_only=True, tag="zones"):
    """Tests in zones of a disk. `inner_ratio`: the speed of the inside over that of the outside."""

    reads: int
    processes: int
    inner_ratio: Number
    outer_third_share: Number
    tests: tuple[ZoneTest, ...]
