"""The table of a post about concurrent direct I/O (V24): a queue of 1 for ext2 to ext4 by threads, else 7."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from iocast import metrics
from iocast.diagnose.examination import examine
from iocast.errors import SourceError
from iocast.model.run import Run
from iocast.report.card.card_report import card
from iocast.tools import importers, queue_table
from iocast.tools.source_files import Head

HEADS = ("Device", "fio QD", "fio QD Type", "direct", "iostat QD", "ps -efT | grep fio | wc -l")
PLACES = ("/dev/sd", "ext2 fs (mke2fs)", "ext3 (mkfs -t ext3)", "ext4 (mkfs -t ext4)", "xfs (mkfs -t xfs)")
ROWS = tuple(
    (place, "8", kind, "Yes", "1" if kind == "Threads" and place.startswith("ext") else "7", tasks)
    for place in PLACES
    for kind, tasks in (("libaio", "5"), ("Threads", "12"))
)


def copied(rows: tuple[tuple[str, ...], ...] = ROWS) -> str:
    """As a browser copies it: a cell on each line, between the sentences of the post."""
    cells = "\n".join(cell for row in (HEADS, *rows) for cell in row)
    return f"The column iostat QD is what the device sees.\n\n{cells}\n\nRaw devices and XFS are concurrent.\n"


def queues(run: Run) -> dict[str, float]:
    return {each.subject: each.value for each in run.phases[0].samples if each.metric == metrics.QUEUE_MEAN}


@pytest.mark.parametrize(
    "form",
    [
        lambda: copied(),
        lambda: "\n".join("\t".join(row) for row in (HEADS, *ROWS)),
        lambda: "\n".join(", ".join(row) for row in ((*HEADS[:5], "tasks"), *ROWS)),
        lambda: "\n".join(f"| {' | '.join(row)} |" for row in ((*HEADS[:5], "tasks"), *ROWS)),
    ],
    ids=["copied", "tabs", "csv", "bars"],
)
def test_each_row_is_a_device_with_its_verdict(form: Callable[[], str], tmp_path: Path) -> None:
    (tmp_path / "post.txt").write_text(form())
    assert queue_table.sniff(Head("post.txt", form()))
    (run,) = importers.read((str(tmp_path / "post.txt"),))
    assert queues(run) == {
        f"{place}, {kind}": 1.0 if kind == "threads" and place.startswith("ext") else 7.0
        for place in PLACES
        for kind in ("libaio", "threads")
    }
    told = card(run, examine(run))
    (table,) = (table for section in told.sections for table in section.tables if table.key == "devices")
    stuck = {row.cells["device"]: row.cells["tasks"] for row in table.rows if row.cells["verdict"] == "serialised"}
    assert stuck == {f"{place}, threads": 12 for place in PLACES if place.startswith("ext")}
    assert {row.cells["asked_depth"] for row in table.rows} == {8}
    assert told.verdict.startswith("Serialised: ext2 fs (mke2fs), threads; ext3")


def test_a_device_that_is_too_quick_is_no_verdict(tmp_path: Path) -> None:
    (tmp_path / "post.txt").write_text(copied(tuple((*row[:4], "1", row[5]) for row in ROWS)))
    (run,) = importers.read((str(tmp_path / "post.txt"),))
    told = card(run, examine(run))
    assert told.verdict == "No row is serialised; the deepest queue at a device is 1.0."
    (table,) = (table for section in told.sections for table in section.tables if table.key == "devices")
    assert {row.cells["verdict"] for row in table.rows} == {"device_too_fast"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (copied(()), "a heading without rows"),
        (copied((("/dev/sd", "8", "libaio", "Yes", "high", "5"),)), r'iostat QD is "high", not a number'),
    ],
)
def test_what_cannot_be_read_is_refused(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "post.txt").write_text(text)
    with pytest.raises(SourceError, match=says):
        importers.read((str(tmp_path / "post.txt"),))
