"""The list of runs: what is unknown is blank, and a path is written as it is known."""

from __future__ import annotations

from makers import card_runs
from msgspec.structs import replace

from iocast.archive.catalogue import CatalogueEntry
from iocast.model.summary import summary_of
from iocast.report.cells import cell_text
from iocast.report.listing import listing


def test_an_import_that_does_not_say_when_it_began_has_no_date() -> None:
    line = summary_of(card_runs.quick_card())
    runs = (CatalogueEntry("runs/a", "a", line), CatalogueEntry("runs/b", "b", replace(line, started_unix_ns=0)))
    (table,) = listing(runs, 2, "runs").sections[0].tables
    known, unknown = (cell_text("instant", row.cells["started_unix_ns"]) for row in table.rows)
    assert known
    assert known.endswith("UTC")
    assert unknown == ""


def test_a_slash_that_was_given_twice_is_shown_once() -> None:
    assert listing((), 0, "runs//disks/").title == "Runs · runs/disks"
    assert listing((), 0, "../runs").title == "Runs · ../runs"
