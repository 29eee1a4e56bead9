"""The part of a card that says what limited each row."""

from __future__ import annotations

from typing import NamedTuple

from iocast.diagnose.bound import RULE
from iocast.model.codes import BoundCode
from iocast.model.finding import Examination
from iocast.model.report import Column, Row, Section, Table
from iocast.model.run import Run
from iocast.report.card.row_labels import labels
from iocast.report.wording import section

NOTE = (
    f"Device-bound: a doubling of the load gains less than {RULE} IOPS, and I/Os do not pass as evenly as behind a cap"
    " (a lock that lets one pass at a time may look the same)."
    " Queue-bound: it gains more."
)
LADDERS = ("device", "device_or_limit", "queue", "not_shown")
COLUMNS = (Column("by", "limit", "code"), Column("tests", "rows", "names"), Column("says", "evidence"))


class Limited(NamedTuple):
    """Rows that the same thing limited in the same way."""

    by: BoundCode
    says: str
    phases: tuple[str, ...]


def limited(run: Run, examination: Examination) -> tuple[Limited, ...]:
    """What limited the rows that are a measurement, as far as that is known."""
    groups: dict[tuple[BoundCode, str], list[str]] = {}
    for record in run.measured:
        name = record.phase.name
        bound = examination.bounds.get(name)
        if bound is not None and bound.by != "unknown" and not examination.trust[name].void:
            groups.setdefault((bound.by, bound.says), []).append(name)
    return tuple(Limited(by, says, tuple(phases)) for (by, says), phases in groups.items())


def bottleneck_section(run: Run, examination: Examination) -> Section | None:
    """A line for each answer; None where nothing is known of any row."""
    found = limited(run, examination)
    rows = tuple(
        Row({"by": each.by, "tests": labels(run, each.phases), "phases": each.phases, "says": each.says})
        for each in found
    )
    notes = (NOTE,) if any(each.by in LADDERS for each in found) else ()
    return section("bounds", tables=(Table("", COLUMNS, rows, key="bounds", notes=notes),)) if rows else None
