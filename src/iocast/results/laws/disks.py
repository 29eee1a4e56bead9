"""Laws of disks, controllers, RAID, short strokes and zones, and what documents print for their own inputs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from iocast.forecast.laws.disk_zones import Zone, outer_share, zones
from iocast.forecast.laws.disks import (
    PARITY_DISKS,
    WRITE_PENALTY,
    DiskService,
    RaidLevel,
    backend_iops,
    controller_service,
    disk_service,
    full_stripe_writes,
    short_stroke_seek_s,
)
from iocast.model.results.laws.disks import (
    ControllerLaw,
    ControllerTime,
    DiskLaw,
    DisksLaw,
    RaidCost,
    RaidLaw,
    Rotation,
    ServiceTime,
    StrokeLaw,
    StrokePart,
    ZonesLaw,
    ZoneTest,
)

NS = 1e9

USUAL_BAND_S = (0.002, 0.008)  # of seeks (Hailey)
ROTATION_PRINTED = {7200.0: "4.2 (at 7000); 6 – 13", 10000.0: "3; 5 – 11", 15000.0: "2; 4 – 10"}
DISK_PRINTED = {4: "140", 8: "139", 16: "135", 32: "128", 64: "116"}
KOLK_RPM = 15000
CONTROLLER_PRINTED = {4: "3076; 7.56%", 8: "2857", 16: "2500", 32: "2000", 64: "1428; 54.68%"}
# Settling, whole stroke, rpm: fitted to his tables. Then the transfer rates that they take.
LITTLE_SATA, LITTLE_SAS = (0.0010075, 0.01358245, 7200.0), (0.000674132, 0.006000893, 10000.0)
LITTLE_RATES = {LITTLE_SATA: 115e6, LITTLE_SAS: 150e6}
LITTLE_PRINTED = {LITTLE_SATA: {0.001: "5.5", 0.1: "7.5", 1.0: "12.5"}, LITTLE_SAS: {0.001: "4", 0.1: "4.5", 1.0: "7"}}
ZONES_PRINTED = {11.5: "5.75", 17.5: "8.75, 50%", 32.5: "16.25, 180%"}  # of 2000 reads


def _printed(said: dict[int, str], size_bytes: int) -> str | None:
    """What a document prints of a size that it writes as 8 for 8 kB and for 8 KiB."""
    return next((said.get(size_bytes // unit) for unit in (1000, 1024) if size_bytes % unit == 0), None)


def disk(
    rpms: Sequence[float],
    served: Sequence[float],
    seek_s: float,
    band_s: tuple[float, float],
    rate_bytes_per_s: float,
    sizes: Sequence[int],
    controller_s: float,
) -> DiskLaw:
    """What a random I/O of a spinning disk takes: rotation of `rpms`, and service times of those that are `served`."""
    kolk = (seek_s, rate_bytes_per_s, controller_s) == (0.005, 40e6, 0.0)
    return DiskLaw(
        seek_from_ns=band_s[0] * NS,
        seek_to_ns=band_s[1] * NS,
        as_document=kolk,
        rotation=tuple(_rotation(rpm, band_s) for rpm in rpms),
        service=tuple(
            _service(disk_service(seek_s, rpm, size, rate_bytes_per_s, controller_s), rpm, size, kolk=kolk)
            for rpm in served
            for size in sizes
        ),
    )


def _rotation(rpm: float, band_s: tuple[float, float]) -> Rotation:
    return Rotation(
        rpm=rpm,
        half_rotation_ns=30 / rpm * NS,
        fastest_ns=(band_s[0] + 30 / rpm) * NS,
        slowest_ns=(band_s[1] + 30 / rpm) * NS,
        printed=ROTATION_PRINTED.get(rpm) if band_s == USUAL_BAND_S else None,
    )


def _service(did: DiskService, rpm: float, size: int, *, kolk: bool) -> ServiceTime:
    return ServiceTime(
        rpm=rpm,
        size_bytes=size,
        seek_ns=did.seek_s * NS,
        half_rotation_ns=did.half_rotation_s * NS,
        transfer_ns=did.transfer_s * NS,
        controller_ns=did.controller_s * NS or None,
        service_ns=did.service_s * NS,
        iops=did.iops,
        seek_share=did.seek_s / did.service_s,
        printed=_printed(DISK_PRINTED, size) if kolk and rpm == KOLK_RPM else None,
    )


def disks_together(count: int, iops: float) -> DisksLaw:
    """The IOPS of several disks, by the rule of thumb: disks x IOPS of one."""
    return DisksLaw(disks=count, each_iops=iops, iops=count * iops)


def controller(overhead_s: float, bus_bytes_per_s: float, sizes: Sequence[int]) -> ControllerLaw:
    """What a controller does that handles one I/O after another."""
    kolk = (overhead_s, bus_bytes_per_s) == (0.0003, 160e6)
    rows = []
    for size in sizes:
        did = controller_service(size, overhead_s, bus_bytes_per_s)
        rows.append(
            ControllerTime(
                size_bytes=size,
                transfer_ns=did.transfer_s * NS,
                service_ns=(did.overhead_s + did.transfer_s) * NS,
                iops=did.iops,
                bus_share=did.bus_utilisation,
                printed=_printed(CONTROLLER_PRINTED, size) if kolk else None,
            )
        )
    return ControllerLaw(
        overhead_ns=overhead_s * NS, bus_bytes_per_s=bus_bytes_per_s, as_document=kolk, sizes=tuple(rows)
    )


def raid(read_iops: float, write_iops: float, data_disks: int, levels: Iterable[RaidLevel]) -> RaidLaw:
    """What the disks of a RAID set do for a load."""
    rows = (
        RaidCost(
            level=level,
            ios_per_write=WRITE_PENALTY[level],
            backend_iops=backend_iops(read_iops, write_iops, level),
            backend_ratio=backend_iops(read_iops, write_iops, level) / (read_iops + write_iops),
            stripe_ratio=full_stripe_writes(level, data_disks),
            failures_survived=PARITY_DISKS[level] or int(level != "raid0"),
        )
        for level in levels
    )
    return RaidLaw(read_iops=read_iops, write_iops=write_iops, data_disks=data_disks, levels=tuple(rows))


def stroke(
    settle_s: float, full_s: float, rpm: float, rate_bytes_per_s: float, size_bytes: int, fractions: Sequence[float]
) -> StrokeLaw:
    """What a working set on a part of a disk saves."""
    said = LITTLE_PRINTED.get((settle_s, full_s, rpm), {})
    rows = []
    for fraction in fractions:
        seek_s = short_stroke_seek_s(settle_s, full_s, fraction)
        did = disk_service(seek_s, rpm, size_bytes, rate_bytes_per_s)
        rows.append(
            StrokePart(
                part_share=fraction,
                seek_ns=seek_s * NS,
                service_ns=did.service_s * NS,
                iops=did.iops,
                printed=said.get(fraction),
            )
        )
    whole = disk_service(short_stroke_seek_s(settle_s, full_s, 1.0), rpm, size_bytes, rate_bytes_per_s)
    return StrokeLaw(
        rpm=rpm,
        settle_ns=settle_s * NS,
        full_ns=full_s * NS,
        whole_ns=whole.service_s * NS,
        as_document=bool(said),
        parts=tuple(rows),
    )


def zone_times(
    reads: int, processes: int, elapsed_s: Sequence[float], names: Sequence[str], inner_ratio: float
) -> ZonesLaw:
    """What tests in different zones of a disk say of its arm, and what the outer third holds."""
    return ZonesLaw(
        reads=reads,
        processes=processes,
        inner_ratio=inner_ratio,
        outer_third_share=outer_share(inner_ratio),
        tests=tuple(_zone(*each) for each in zip(zones(reads, processes, elapsed_s), names, strict=False)),
    )


def _zone(zone: Zone, name: str) -> ZoneTest:
    return ZoneTest(
        test=name,
        elapsed_ns=zone.elapsed_s * NS,
        each_ns=zone.per_read_s * NS,
        response_ns=zone.response_s * NS,
        iops=zone.iops,
        slower_share=zone.slower,
        printed=ZONES_PRINTED.get(zone.elapsed_s) if zone.reads == 2000 else None,
    )
