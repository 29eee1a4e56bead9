"""Measured MB/s beside links, measured IOPS beside disks, and rules of thumb."""

from __future__ import annotations

from collections.abc import Iterator

from iocast.model.report import Table
from iocast.model.results.laws.links import LinkLaw, LinkUse, RulesLaw
from iocast.report.forecast.laws.law_text import LawText, law_table

BEYOND = "more than the link carries: a cache, another path, or a wrong clock"


def link(law: LinkLaw) -> LawText:
    """What share of a link measured MB/s are; of several, the figures of the documents."""
    source = "CERN (CALIBRATE_IO); Hailey; Closson; line codes and packet headers."
    if not law.disks:
        return LawText("link", _verdict(law.links[0]), source, (_links("", law),))
    disks = law_table(
        "disks",
        "IOPS",
        law.disks,
        (
            "4778 IOPS at 47 ms are 225 outstanding reads by Little's law: a figure at saturation. At 4378 IOPS the 5"
            " ms are less than a 7,200 rpm disk takes (6.2 ms and more): a cache answered, and that 60 x 70 comes near"
            " it is chance.",
        ),
    )
    return LawText(
        "link",
        "CALIBRATE_IO's 1251 MB/s are 78% of four FC 4G by the rule, its 400 MB/s 40% of what the NAS was seen to do,"
        " not 50%.",
        source,
        (_links("MB/s", law), disks),
    )


def _verdict(moved: LinkUse) -> str:
    most, share = moved.payload_bytes_per_s, moved.payload_share
    assert most is not None
    assert share is not None
    over = moved.link if moved.ports == 1 else _over(moved)
    end = ": not over this link." if share > 1 else ": the link is the limit." if share > 0.9 else "."
    return (
        f"{_mb_per_s(moved.measured_bytes_per_s)} is {share:.1%} of the {_mb_per_s(most)} that {over} carries at most"
        f"{end}"
    )


def _mb_per_s(bytes_per_s: float) -> str:
    return f"{bytes_per_s / 1e6:,.0f} MB/s"


def _over(moved: LinkUse) -> str:
    return f"{moved.ports} x {moved.link}" if moved.link else "as measured by other tools"


def _links(title: str, law: LinkLaw) -> Table:
    words = {"link": _over, "": lambda row: BEYOND if (row.payload_share or 0) > 1 else ""}
    return law_table("links", title, law.links, _notes(documents=bool(law.disks)), words=words)


def _notes(*, documents: bool) -> Iterator[str]:
    yield (
        "Rule: 100 MB/s for each Gbit/s. At most: what the line code or the packet headers leave, in one direction"
        " (iocast model rules)."
    )
    if documents:
        yield "CERN calls 400 MB/s about 50% of the 1 GB/s that other tools measured on the NAS; it is 40%."
        yield "Closson takes 450 MB/s over two FC 2G for their full bandwidth; they carry 425."
        yield (
            "Hailey's VM is as fast as bare metal because both fill the wire: 117,042 kB/s is 99.5% of what 1 GbE"
            " carries, so it measures the link and not the storage."
        )


def rules(law: RulesLaw) -> LawText:
    """All rules of thumb."""
    return LawText(
        "rules of thumb",
        "6 ms was a good random read of disks; an NVMe SSD takes 0.1 ms, a cloud volume about 1 ms.",
        "Kyle Hailey; data sheets; makers' promises. Measure before you believe them.",
        (
            law_table(
                "media",
                "Random reads of 4 to 16 kB at a queue depth of 1",
                law.media,
                (
                    "Faster than the left column: a cache answers. 1 fast disk: 150 IOPS; 30 disks of 50 IOPS: 1500"
                    " (iocast model disk --disks 30 --iops 50).",
                ),
            ),
            law_table(
                "links",
                "Links, one direction",
                law.links,
                (
                    "The rule: 100 MB/s for each Gbit/s. At most: TCP over IPv4 with packets of 1500 bytes, or the line"
                    " code (8b/10b, 64b/66b). Faster than that: not over this link.",
                    "Closson accepts 450 MB/s over two FC 2G: they carry 425.",
                ),
            ),
        ),
    )
