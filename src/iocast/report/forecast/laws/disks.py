"""Disks, controllers, RAID, short strokes and zones, and where the documents are wrong about them."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import text
from iocast.model.results.laws.disks import ControllerLaw, DiskLaw, DisksLaw, RaidLaw, StrokeLaw, ZonesLaw
from iocast.report.forecast.laws.law_text import LawText, law_table

KOLK = "Anjo Kolk, SAN Stories; Hennessy and Patterson, Computer Architecture, 3rd edition, page 745"
HAILEY = "Kyle Hailey, rules of thumb"
USUAL_RPM, KOLK_RPM = 7200, 15000


def disk(law: DiskLaw) -> LawText:
    """What a random I/O of a spinning disk takes."""
    first = law.service[0]
    return LawText(
        "disk",
        f"A disk of {first.rpm:,.0f} rpm waits {text.milliseconds(first.half_rotation_ns)} ms for half a rotation; a "
        f"random I/O of {text.size(first.size_bytes)} {text.milliseconds(first.service_ns)} ms: "
        f"{text.five_figures(first.iops)} IOPS.",
        f"{KOLK}; {HAILEY}.",
        (
            law_table(
                "rotation",
                f"Rotation, and the whole with a seek of {law.seek_from_ns / 1e6:g} to {law.seek_to_ns / 1e6:g} ms",
                law.rotation,
                _rotation_notes(law),
            ),
            law_table("service", "Service time", law.service, _service_notes(law)),
        ),
    )


def _rotation_notes(law: DiskLaw) -> Iterator[str]:
    if any(row.rpm == USUAL_RPM and row.printed for row in law.rotation):
        yield (
            "The document labels 4.2 ms with 7000 rpm and prints 6 to 13 ms: 7000 rpm is 4.286 ms; its disks turn at"
            " 7200, which is 4.167 ms, and a seek of 2 to 8 ms makes that 6.2 to 12.2 ms."
        )


def _service_notes(law: DiskLaw) -> Iterator[str]:
    if law.as_document and any(row.rpm == KOLK_RPM for row in law.service):
        yield (
            "Kolk writes 0.5 / 15000 for the rotation, which is no time: it is 0.5 / (15000 / 60 s) = 2 ms, as his sums"
            " use it. He cuts 140.85 to 140 and rounds 138.89 to 139. His K is 1000 bytes: 4kB; 4k is 4096."
        )


def disks_together(law: DisksLaw) -> LawText:
    """The IOPS of several disks."""
    return LawText(
        "disks together",
        f"{text.counted(law.disks, 'disk')} of {law.each_iops:g} IOPS give {law.iops:,.0f} IOPS, if the load is spread "
        "evenly.",
        f"{HAILEY}: 1 x 150 = 150, 30 x 50 = 1500.",
        (
            law_table(
                "disks",
                "Disks x IOPS of one",
                (law,),
                ("Never above what they do at 60% of it with a good response time: iocast model knees.",),
            ),
        ),
    )


def controller(law: ControllerLaw) -> LawText:
    """What a controller does that handles one I/O after another."""
    first, last = law.sizes[0], law.sizes[-1]
    wrong = (
        "Kolk prints 54.68% and 7.56% for the bus: from IOPS rounded to 1400 and 3100 and from MB of 1024 x 1024 beside"
        " K of 1000. From the figures themselves it is 57.14% and 7.69%. He cuts 3076.9 and 1428.6 to 3076 and 1428."
    )
    return LawText(
        "controller",
        f"The controller does {text.five_figures(first.iops)} IOPS of {text.size(first.size_bytes)} and "
        f"{text.five_figures(last.iops)} of {text.size(last.size_bytes)}; the bus is busy "
        f"{first.bus_share:.2%} and {last.bus_share:.2%} of the time.",
        KOLK + ".",
        (
            law_table(
                "controller",
                f"Overhead {law.overhead_ns / 1e6:g} ms, bus {text.brief_throughput(law.bus_bytes_per_s)}",
                law.sizes,
                (wrong,) if law.as_document else (),
            ),
        ),
    )


def raid(law: RaidLaw) -> LawText:
    """What the disks of a RAID set do for a load."""
    worst = max(law.levels, key=lambda row: row.backend_iops)
    return LawText(
        "RAID",
        f"{law.read_iops:,.0f} reads and {law.write_iops:,.0f} writes a second cost the disks of {worst.level} "
        f"{worst.backend_iops:,.0f} IOPS.",
        "models A1; RAID 5 reads and writes data and parity (4), RAID 6 two parities (6).",
        (
            law_table(
                "raid",
                "Back-end I/Os of small random I/O",
                law.levels,
                (
                    "A write-back cache hides the penalty only as long as it can destage.",
                    "Mirrors survive one failure for certain, more where no pair loses both.",
                ),
                headings={"stripe_ratio": f"written of a\nfull stripe\n({law.data_disks} data)"},
            ),
        ),
    )


def stroke(law: StrokeLaw) -> LawText:
    """What a working set on a part of a disk saves."""
    first = law.parts[0]
    wrong = (
        "Gary Little's 1000G with a zipf distribution, 8.5 ms, is 117.6 IOPS: he prints 125. He calls 5.5 to 4 ms the"
        " ratio of the rotations, 1:1.3; it is 1.375, and that of 10000 to 7200 rpm is 1.389."
    )
    return LawText(
        "short stroke",
        f"On {first.part_share:.1%} of the disk a random I/O takes {text.milliseconds(first.service_ns)} ms, on all of "
        f"it {text.milliseconds(law.whole_ns)} ms: a test on a small file flatters the disk "
        f"{text.three_figures(law.whole_ns / first.service_ns)} times.",
        "models A1: seek = a + b x 8/15 x sqrt(part), fitted to Gary Little's SATA and SAS tables.",
        (
            law_table(
                "stroke",
                f"{law.rpm:,.0f} rpm, settling {law.settle_ns / 1e6:g} ms, whole stroke {law.full_ns / 1e6:g} ms more",
                law.parts,
                (wrong,) if law.as_document else (),
            ),
        ),
    )


def zones(law: ZonesLaw) -> LawText:
    """What tests in different zones of a disk say of its arm."""
    first, slowest = law.tests[0].elapsed_ns, max(row.elapsed_ns for row in law.tests)
    one_arm = ": one arm serves them all" if slowest > 1.5 * first else ""
    return LawText(
        "zones",
        f"The slowest test takes {slowest / first:.2f} times the first{one_arm}.",
        "Anjo Kolk, SAN Stories (inside versus outside, one arm for two ends).",
        (
            law_table(
                "zones",
                f"{law.processes} x {law.reads} reads",
                law.tests,
                (
                    "Kolk divides the elapsed time by all reads, 5.75 ms; two were outstanding, so each took 11.5 ms.",
                    f"Where the outside is {1 / law.inner_ratio - 1:.0%} faster than the inside, the outer third of the"
                    f" stroke holds {law.outer_third_share:.1%} of the data. Kolk prints 50%: that needs an outside 6.7"
                    " times as fast.",
                ),
            ),
        ),
    )
