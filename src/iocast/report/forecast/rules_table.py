"""The tables of rules of thumb: what links carry, what devices take."""

from __future__ import annotations

from iocast.forecast.storage.rules_of_thumb import rules_of_thumb
from iocast.model.report import Cell, Report
from iocast.report.forecast.model_tables import col, law_report, ms, num, table


def rules() -> Report:
    """All rules of thumb."""
    known = rules_of_thumb()
    media: list[dict[str, Cell]] = []
    for medium in known.medium:
        low, high, good = medium.read_ns
        media.append(
            {
                "medium": medium.name,
                "read_low": low,
                "read_high": high,
                "good": good,
                "iops_low": medium.iops_low,
                "iops_high": medium.iops_high,
                "checked": medium.checked.isoformat(),
                "source": medium.source,
            }
        )
    links: list[dict[str, Cell]] = [
        {"link": link.name, "rule": link.rule_bytes_per_s, "payload": link.payload_bytes_per_s} for link in known.link
    ]
    return law_report(
        "rules of thumb",
        "6 ms was a good random read of disks; an NVMe SSD takes 0.1 ms, a cloud volume about 1 ms.",
        (
            table(
                "Random reads of 4 to 16 kB at a queue depth of 1",
                "media",
                (
                    col("medium", "storage"),
                    ms("read_low", "from"),
                    ms("read_high", "to"),
                    ms("good", "good\nup to"),
                    num("iops_low", "IOPS\nfrom"),
                    num("iops_high", "IOPS\nto"),
                    col("checked", "checked"),
                    col("source", "source"),
                ),
                media,
                (
                    "Faster than the left column: a cache answers. 1 fast disk: 150 IOPS; 30 disks of 50 IOPS: 1500"
                    " (iocast model disk --disks 30 --iops 50).",
                ),
            ),
            table(
                "Links, one direction",
                "links",
                (
                    col("link", "link"),
                    col("rule", "rule\nMB/s", "bytes_per_s"),
                    col("payload", "at most\nMB/s", "bytes_per_s"),
                ),
                links,
                (
                    "The rule: 100 MB/s for each Gbit/s. At most: TCP over IPv4 with packets of 1500 bytes, or the line"
                    " code (8b/10b, 64b/66b). Faster than that: not over this link.",
                    "Closson accepts 450 MB/s over two FC 2G: they carry 425.",
                ),
            ),
        ),
        "Kyle Hailey; data sheets; makers' promises. Measure before you believe them.",
    )
