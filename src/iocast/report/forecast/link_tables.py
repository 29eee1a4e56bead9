"""The tables of measured MB/s beside the link that they came over, and of measured IOPS beside the disks below."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from iocast.errors import SpecError
from iocast.forecast.storage.rules_of_thumb import LinkRule, rules_of_thumb
from iocast.model.report import Cell, Column, Report, Row
from iocast.report.forecast.model_tables import PRINTED, col, law_report, num, pct, printed, table

BEYOND = "more than the link carries: a cache, another path, or a wrong clock"
SOURCE = "CERN (CALIBRATE_IO); Hailey; Closson; line codes and packet headers."


class Moved(NamedTuple):
    """MB/s that were measured over a number of links, and what the document says of it."""

    bytes_per_s: float
    link: str
    ports: int
    whose: str = ""
    document: str = ""


class Disks(NamedTuple):
    """IOPS that were measured on disks of which each does so many."""

    iops: float
    disks: int
    each: float
    whose: str


KNOWN = (
    Moved(1251e6, "FC 4G", 4, "CERN, disks", "~80%"),
    Moved(450e6, "FC 2G", 2, "Closson", "full bandwidth"),
    Moved(117.042e6, "1 GbE", 1, "Hailey, VM", "100% of bare metal"),
)
NAS_MOVED, NAS_ABLE = 400e6, 1e9  # CERN's NAS: what CALIBRATE_IO said, what other tools measured
CALIBRATED = (Disks(4778, 46, 100, "CERN, disks"), Disks(4378, 60, 70, "CERN, NAS"))


def link(moved: Moved) -> Report:
    """What share of a link a measured MB/s is. Raises SpecError."""
    row, most = _row(moved), moved.ports * rule_of(moved.link).payload_bytes_per_s
    share = moved.bytes_per_s / most
    over = f"{moved.ports} x {moved.link}" if moved.ports > 1 else moved.link
    verdict = f"{_mb_per_s(moved.bytes_per_s)} is {share:.1%} of the {_mb_per_s(most)} that {over} carries at most"
    verdict += ": not over this link." if share > 1 else ": the link is the limit." if share > 0.9 else "."
    return law_report("link", verdict, (table("", "links", _columns(), (row,), _notes(documents=False)),), SOURCE)


def _mb_per_s(bytes_per_s: float) -> str:
    return f"{bytes_per_s / 1e6:,.0f} MB/s"


def documented() -> Report:
    """The figures of the documents beside their links and disks."""
    nas: dict[str, Cell] = {
        "whose": "CERN, NAS",
        "measured": NAS_MOVED,
        "over": "as measured by other tools",
        "rule": NAS_ABLE,
        "rule_share": NAS_MOVED / NAS_ABLE,
        "payload": None,
        "payload_share": None,
        PRINTED: "~50%",
    }
    disks: list[dict[str, Cell]] = [
        {
            "whose": of.whose,
            "measured": of.iops,
            "disks": of.disks,
            "each": of.each,
            "expected": of.disks * of.each,
            "share": of.iops / (of.disks * of.each),
        }
        for of in CALIBRATED
    ]
    return law_report(
        "link",
        "CALIBRATE_IO's 1251 MB/s are 78% of four FC 4G by the rule, its 400 MB/s 40% of what the NAS was seen to do,"
        " not 50%.",
        (
            table("MB/s", "links", _columns(), (*map(_row, KNOWN), Row(nas)), _notes(documents=True)),
            table(
                "IOPS",
                "disks",
                (
                    col("whose", "system"),
                    num("measured", "IOPS"),
                    num("disks", "disks"),
                    num("each", "IOPS\na disk"),
                    num("expected", "all\ndisks"),
                    pct("share", "of it"),
                ),
                disks,
                (
                    "4778 IOPS at 47 ms are 225 outstanding reads by Little's law: a figure at saturation. At 4378 IOPS"
                    " the 5 ms are less than a 7,200 rpm disk takes (6.2 ms and more): a cache answered, and that 60 x"
                    " 70 comes near it is chance.",
                ),
            ),
        ),
        SOURCE,
    )


def _columns() -> tuple[Column, ...]:
    return (
        col("whose", "system", spare=2),
        col("measured", "measured\nMB/s", "bytes_per_s"),
        col("over", "over"),
        col("rule", "rule\nMB/s", "bytes_per_s"),
        pct("rule_share", "of it"),
        col("payload", "at most\nMB/s", "bytes_per_s"),
        pct("payload_share", "of it"),
        printed(),
    )


def _row(moved: Moved) -> Row:
    rule = rule_of(moved.link)
    by_rule, most = (moved.ports * each for each in (rule.rule_bytes_per_s, rule.payload_bytes_per_s))
    cells: dict[str, Cell] = {
        "whose": moved.whose,
        "measured": moved.bytes_per_s,
        "over": f"{moved.ports} x {moved.link}",
        "rule": by_rule,
        "rule_share": moved.bytes_per_s / by_rule,
        "payload": most,
        "payload_share": moved.bytes_per_s / most,
        PRINTED: moved.document,
    }
    return Row(cells, note=BEYOND if moved.bytes_per_s > most else "")


def rule_of(name: str) -> LinkRule:
    """A link by its name, however it is spaced and cased. Raises SpecError."""
    wanted = name.lower().replace(" ", "").replace("-", "")
    for rule in rules_of_thumb().link:
        if rule.name.lower().replace(" ", "") == wanted:
            return rule
    raise SpecError(f'--link: "{name}" is unknown', f"known: {', '.join(rule.name for rule in rules_of_thumb().link)}")


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
