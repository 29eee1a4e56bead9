"""Tables of disks, controllers, RAID, short strokes and zones, as the documents print them and as they should."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from iocast import text
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
from iocast.model.report import Cell, Report
from iocast.report.forecast.model_tables import NS, PRINTED, col, law_report, ms, num, pct, printed, table

KOLK = "Anjo Kolk, SAN Stories; Hennessy and Patterson, Computer Architecture, 3rd edition, page 745"
HAILEY = "Kyle Hailey, rules of thumb"

# What the documents print for the inputs of their own tables.
USUAL_BAND_S = (0.002, 0.008)  # of seeks (Hailey)
ROTATION_PRINTED = {7200.0: "4.2 (at 7000)", 10000.0: "3", 15000.0: "2"}
BAND_PRINTED = {7200.0: "6 – 13", 10000.0: "5 – 11", 15000.0: "4 – 10"}
DISK_PRINTED = {4: "140", 8: "139", 16: "135", 32: "128", 64: "116"}
CONTROLLER_PRINTED = {4: "3076", 8: "2857", 16: "2500", 32: "2000", 64: "1428"}
BUS_PRINTED = {4: "7.56%", 64: "54.68%"}
# Settling, whole stroke, rpm: fitted to his tables. Then the transfer rates that they take.
LITTLE_SATA, LITTLE_SAS = (0.0010075, 0.01358245, 7200.0), (0.000674132, 0.006000893, 10000.0)
LITTLE_RATES = {LITTLE_SATA: 115e6, LITTLE_SAS: 150e6}
LITTLE_PRINTED = {
    LITTLE_SATA: {0.001: "5.5", 0.1: "7.5", 1.0: "12.5"},
    LITTLE_SAS: {0.001: "4", 0.1: "4.5", 1.0: "7"},
}


def _kilo(size_bytes: float) -> int | None:
    """The size as the documents write it: 8 for 8 kB and for 8 KiB."""
    return next((round(size_bytes / unit) for unit in (1000, 1024) if size_bytes % unit == 0), None)


def disk(
    rpms: Sequence[float],
    served: Sequence[float],
    seek_s: float,
    band_s: tuple[float, float],
    rate_bytes_per_s: float,
    sizes: Sequence[int],
    controller_s: float,
) -> Report:
    """What a random I/O of a spinning disk takes: rotation of `rpms`, and service times of those that are `served`."""
    rotation = _rotation(rpms, band_s)
    usual_band = band_s == USUAL_BAND_S
    kolk = (seek_s, rate_bytes_per_s, controller_s) == (0.005, 40e6, 0.0)
    rows = [
        _service(
            disk_service(seek_s, rpm, size, rate_bytes_per_s, controller_s), rpm, size, known=kolk and rpm == 15000
        )
        for rpm in served
        for size in sizes
    ]
    low, high = band_s
    first = served[0]
    best = disk_service(seek_s, first, sizes[0], rate_bytes_per_s, controller_s)
    verdict = (
        f"A disk of {first:,.0f} rpm waits {text.milliseconds(30 / first * NS)} ms for half a rotation; a random I/O "
        f"of {text.size(sizes[0])} {text.milliseconds(best.service_s * NS)} ms: {text.five_figures(best.iops)} IOPS."
    )
    return law_report(
        "disk",
        verdict,
        (
            table(
                f"Rotation, and the whole with a seek of {low * 1e3:g} to {high * 1e3:g} ms",
                "rotation",
                (
                    num("rpm", "rpm"),
                    ms("half_rotation", "half a\nrotation"),
                    ms("fastest", "from"),
                    ms("slowest", "to"),
                    printed(),
                ),
                rotation,
                _band_notes(rpms, usual_band),
            ),
            table(
                "Service time",
                "service",
                (
                    num("rpm", "rpm"),
                    col("size", "size", "bytes"),
                    ms("seek", "seek"),
                    ms("half_rotation", "rotation"),
                    ms("transfer", "transfer"),
                    ms("controller", "controller"),
                    ms("service", "service"),
                    num("iops", "IOPS"),
                    pct("seek_share", "seek share"),
                    printed(),
                ),
                rows,
                _service_notes(kolk and 15000 in served),
            ),
        ),
        f"{KOLK}; {HAILEY}.",
    )


def _service(did: DiskService, rpm: float, size: int, *, known: bool) -> dict[str, Cell]:
    """One I/O; `known`: the document prints it."""
    return {
        "rpm": rpm,
        "size": size,
        "seek": did.seek_s * NS,
        "half_rotation": did.half_rotation_s * NS,
        "transfer": did.transfer_s * NS,
        "controller": did.controller_s * NS or None,
        "service": did.service_s * NS,
        "iops": did.iops,
        "seek_share": did.seek_s / did.service_s,
        PRINTED: DISK_PRINTED.get(_kilo(size) or 0, "") if known else "",
    }


def _rotation(rpms: Sequence[float], band_s: tuple[float, float]) -> list[dict[str, Cell]]:
    """Half a rotation, and the whole I/O without its transfer, of each speed."""
    usual = band_s == USUAL_BAND_S
    return [
        {
            "rpm": rpm,
            "half_rotation": 30 / rpm * NS,
            "fastest": (band_s[0] + 30 / rpm) * NS,
            "slowest": (band_s[1] + 30 / rpm) * NS,
            PRINTED: f"{ROTATION_PRINTED[rpm]}; {BAND_PRINTED[rpm]}" if usual and rpm in ROTATION_PRINTED else "",
        }
        for rpm in rpms
    ]


def _band_notes(rpms: Sequence[float], usual: bool) -> Iterator[str]:
    if usual and 7200 in rpms:
        yield (
            "The document labels 4.2 ms with 7000 rpm and prints 6 to 13 ms: 7000 rpm is 4.286 ms; its disks turn at"
            " 7200, which is 4.167 ms, and a seek of 2 to 8 ms makes that 6.2 to 12.2 ms."
        )


def _service_notes(kolk: bool) -> Iterator[str]:
    if kolk:
        yield (
            "Kolk writes 0.5 / 15000 for the rotation, which is no time: it is 0.5 / (15000 / 60 s) = 2 ms, as his sums"
            " use it. He cuts 140.85 to 140 and rounds 138.89 to 139. His K is 1000 bytes: 4kB; 4k is 4096."
        )


def disks_together(count: int, iops: float) -> Report:
    """The IOPS of several disks, by the rule of thumb: disks x IOPS of one."""
    total = count * iops
    return law_report(
        "disks together",
        f"{text.counted(count, 'disk')} of {iops:g} IOPS give {total:,.0f} IOPS, if the load is spread evenly.",
        (
            table(
                "Disks x IOPS of one",
                "disks",
                (col("disks", "disks", "count"), num("each", "IOPS each"), num("iops", "IOPS")),
                [{"disks": count, "each": iops, "iops": total}],
                ("Never above what they do at 60% of it with a good response time: iocast model knees.",),
            ),
        ),
        f"{HAILEY}: 1 x 150 = 150, 30 x 50 = 1500.",
    )


def controller(overhead_s: float, bus_bytes_per_s: float, sizes: Sequence[int]) -> Report:
    """What a controller does that handles one I/O after another."""
    kolk = (overhead_s, bus_bytes_per_s) == (0.0003, 160e6)
    rows: list[dict[str, Cell]] = []
    for size in sizes:
        did, kilo = controller_service(size, overhead_s, bus_bytes_per_s), _kilo(size) or 0
        said = [CONTROLLER_PRINTED.get(kilo, ""), BUS_PRINTED.get(kilo, "")] if kolk else []
        rows.append(
            {
                "size": size,
                "transfer": did.transfer_s * NS,
                "service": (did.overhead_s + did.transfer_s) * NS,
                "iops": did.iops,
                "bus": did.bus_utilisation,
                PRINTED: "; ".join(filter(None, said)),
            }
        )
    wrong = (
        "Kolk prints 54.68% and 7.56% for the bus: from IOPS rounded to 1400 and 3100 and from MB of 1024 x 1024 beside"
        " K of 1000. From the figures themselves it is 57.14% and 7.69%. He cuts 3076.9 and 1428.6 to 3076 and 1428."
    )
    first, last = rows[0], rows[-1]
    return law_report(
        "controller",
        f"The controller does {text.five_figures(_float(first['iops']))} IOPS of {text.size(sizes[0])} and "
        f"{text.five_figures(_float(last['iops']))} of {text.size(sizes[-1])}; the bus is busy "
        f"{_float(first['bus']):.2%} and {_float(last['bus']):.2%} of the time.",
        (
            table(
                f"Overhead {overhead_s * 1e3:g} ms, bus {text.brief_throughput(bus_bytes_per_s)}",
                "controller",
                (
                    col("size", "size", "bytes"),
                    ms("transfer", "transfer"),
                    ms("service", "service"),
                    num("iops", "IOPS"),
                    pct("bus", "bus busy"),
                    printed(),
                ),
                rows,
                (wrong,) if kolk else (),
            ),
        ),
        KOLK + ".",
    )


def raid(read_iops: float, write_iops: float, data_disks: int, levels: Iterable[RaidLevel]) -> Report:
    """What the disks of a RAID set do for a load."""
    rows: list[dict[str, Cell]] = [
        {
            "level": level,
            "penalty": WRITE_PENALTY[level],
            "backend": backend_iops(read_iops, write_iops, level),
            "times": backend_iops(read_iops, write_iops, level) / (read_iops + write_iops),
            "stripe": full_stripe_writes(level, data_disks),
            "outlives": PARITY_DISKS[level] or int(level != "raid0"),
        }
        for level in levels
    ]
    worst = max(rows, key=lambda row: _float(row["backend"]))
    return law_report(
        "RAID",
        f"{read_iops:,.0f} reads and {write_iops:,.0f} writes a second cost the disks of {worst['level']} "
        f"{_float(worst['backend']):,.0f} IOPS.",
        (
            table(
                "Back-end I/Os of small random I/O",
                "raid",
                (
                    col("level", "level"),
                    num("penalty", "I/Os a\nwrite"),
                    num("backend", "back-end\nIOPS"),
                    num("times", "x\nfront-end"),
                    num("stripe", f"written of a\nfull stripe\n({data_disks} data)"),
                    num("outlives", "failures\nsurvived"),
                ),
                rows,
                (
                    "A write-back cache hides the penalty only as long as it can destage.",
                    "Mirrors survive one failure for certain, more where no pair loses both.",
                ),
            ),
        ),
        "models A1; RAID 5 reads and writes data and parity (4), RAID 6 two parities (6).",
    )


def stroke(
    settle_s: float, full_s: float, rpm: float, rate_bytes_per_s: float, size_bytes: int, fractions: Sequence[float]
) -> Report:
    """What a working set on a part of a disk saves."""
    said = LITTLE_PRINTED.get((settle_s, full_s, rpm), {})
    rows: list[dict[str, Cell]] = []
    for fraction in fractions:
        seek_s = short_stroke_seek_s(settle_s, full_s, fraction)
        did = disk_service(seek_s, rpm, size_bytes, rate_bytes_per_s)
        rows.append(
            {
                "stroke": fraction,
                "seek": seek_s * NS,
                "service": did.service_s * NS,
                "iops": did.iops,
                PRINTED: said.get(fraction, ""),
            }
        )
    whole = disk_service(short_stroke_seek_s(settle_s, full_s, 1.0), rpm, size_bytes, rate_bytes_per_s)
    least = _float(rows[0]["service"])
    notes = [
        "Gary Little's 1000G with a zipf distribution, 8.5 ms, is 117.6 IOPS: he prints 125. He calls 5.5 to 4 ms the"
        " ratio of the rotations, 1:1.3; it is 1.375, and that of 10000 to 7200 rpm is 1.389."
    ]
    return law_report(
        "short stroke",
        f"On {fractions[0]:.1%} of the disk a random I/O takes {text.milliseconds(least)} ms, on all of it "
        f"{text.milliseconds(whole.service_s * NS)} ms: a test on a small file flatters the disk "
        f"{text.three_figures(whole.service_s * NS / least)} times.",
        (
            table(
                f"{rpm:,.0f} rpm, settling {settle_s * 1e3:g} ms, whole stroke {full_s * 1e3:g} ms more",
                "stroke",
                (
                    pct("stroke", "part of\nthe disk"),
                    ms("seek", "seek"),
                    ms("service", "service"),
                    num("iops", "IOPS"),
                    printed(),
                ),
                rows,
                notes if said else (),
            ),
        ),
        "models A1: seek = a + b x 8/15 x sqrt(part), fitted to Gary Little's SATA and SAS tables.",
    )


def zone_times(
    reads: int, processes: int, elapsed_s: Sequence[float], names: Sequence[str], inner_ratio: float
) -> Report:
    """What tests in different zones of a disk say of its arm, and what the outer third holds."""
    rows = [_zone(each, name) for each, name in zip(zones(reads, processes, elapsed_s), names, strict=False)]
    held = outer_share(inner_ratio)
    return law_report(
        "zones",
        f"The slowest test takes {max(elapsed_s) / elapsed_s[0]:.2f} times the first: one arm serves them all."
        if max(elapsed_s) > 1.5 * elapsed_s[0]
        else f"The slowest test takes {max(elapsed_s) / elapsed_s[0]:.2f} times the first.",
        (
            table(
                f"{processes} x {reads} reads",
                "zones",
                (
                    col("test", "test"),
                    ms("elapsed", "elapsed"),
                    ms("each", "elapsed /\nreads"),
                    ms("waits", "a read\ntakes"),
                    num("iops", "IOPS", 2),
                    pct("slower", "slower than\nthe first"),
                    printed(),
                ),
                rows,
                (
                    "Kolk divides the elapsed time by all reads, 5.75 ms; two were outstanding, so each took 11.5 ms.",
                    f"Where the outside is {1 / inner_ratio - 1:.0%} faster than the inside, the outer third of the"
                    f" stroke holds {held:.1%} of the data. Kolk prints 50%: that needs an outside 6.7 times as fast.",
                ),
            ),
        ),
        "Anjo Kolk, SAN Stories (inside versus outside, one arm for two ends).",
    )


ZONES_PRINTED = {11.5: "5.75", 17.5: "8.75, 50%", 32.5: "16.25, 180%"}


def _zone(zone: Zone, name: str) -> dict[str, Cell]:
    return {
        "test": name,
        "elapsed": zone.elapsed_s * NS,
        "each": zone.per_read_s * NS,
        "waits": zone.response_s * NS,
        "iops": zone.iops,
        "slower": zone.slower,
        PRINTED: ZONES_PRINTED.get(zone.elapsed_s, "") if zone.reads == 2000 else "",
    }


def _float(cell: Cell) -> float:
    assert isinstance(cell, int | float)
    return float(cell)
