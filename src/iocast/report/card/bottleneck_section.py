"""The part of a card that says what limited each row."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from iocast.diagnose.bound import RULE
from iocast.model.report import Section
from iocast.model.results.card import BoundRow
from iocast.model.run import Run
from iocast.report.card.row_labels import labels
from iocast.report.result_tables import result_table
from iocast.report.wording import section

NOTE = (
    f"Device-bound: a doubling of the load gains less than {RULE} IOPS, and I/Os do not pass as evenly as behind a cap"
    " (a lock that lets one pass at a time may look the same)."
    " Queue-bound: it gains more."
)
LADDERS = ("device", "device_or_limit", "queue", "not_shown")


def bottleneck_section(run: Run, rows: Sequence[BoundRow]) -> Section | None:
    """A line for each answer; None where nothing is known of any row."""
    if not rows:
        return None
    words: dict[str, Callable[[BoundRow], tuple[str, ...]]] = {"phases": lambda each: labels(run, each.phases)}
    notes = (NOTE,) if any(each.by in LADDERS for each in rows) else ()
    return section("bounds", tables=(result_table(BoundRow, rows, key="bounds", words=words, notes=notes),))
