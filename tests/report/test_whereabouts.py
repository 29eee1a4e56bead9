"""The section that says where the time of each row went."""

from __future__ import annotations

from block_runs import block, row
from card_runs import run
from msgspec.structs import replace

from iocast.report import whereabouts


def test_a_row_shows_queue_and_device_apart() -> None:
    found = whereabouts.section(run(row(block())))
    assert found is not None
    (table,) = found.tables
    cells = table.rows[0].cells
    assert (cells["queue"], cells["device"], cells["system"]) == (10_000.0, 300_000.0, 90_000.0)
    assert "unsent" not in [column.key for column in table.columns]
    assert len(table.notes) == 1


def test_an_open_loop_shows_what_was_not_sent() -> None:
    found = whereabouts.section(run(row(block(), response_ns=900_000)))
    assert found is not None
    assert "unsent" in [column.key for column in found.tables[0].columns]


def test_what_cannot_be_compared_is_told() -> None:
    split = replace(block(ios=200, size_bytes=4096), lost_events=3)
    found = whereabouts.section(run(row(split)))
    assert found is not None
    notes = " ".join(found.tables[0].notes)
    assert "requests are 0.5 times the size" in notes
    assert "the trace lost records" in notes


def test_where_nobody_saw_there_is_no_section() -> None:
    assert whereabouts.section(run(row(None))) is None
