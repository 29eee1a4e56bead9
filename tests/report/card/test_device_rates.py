"""A card shows device IOPS where they differ from the application's, and calls a run without device data passive."""

from __future__ import annotations

import pytest
from makers import card_runs

from iocast.analyse.facts import facts_of
from iocast.diagnose.examination import examine
from iocast.model.report import Table
from iocast.model.run import Run
from iocast.report.card.results_table import results
from iocast.results.measured_rows import measured_rows

IOS = 40_000


def _table(run: Run) -> Table:
    return results(facts_of(run), measured_rows(facts_of(run), examine(run)))


def _seen(requests: float) -> Run:
    did = card_runs.reads().measurement
    samples = card_runs.diskstats(did.elapsed_ns, reads=requests, read_bytes=did.bytes, writes=0, written_bytes=0)
    return card_runs.run(card_runs.reads(samples=samples))


@pytest.mark.parametrize(("times", "shown"), [(1.04, False), (1.06, True), (0.94, True), (0.0, True)])
def test_device_iops_are_shown_where_they_differ_by_more_than_5_percent(times: float, shown: bool) -> None:
    table = _table(_seen(times * IOS))
    (row,) = table.rows
    assert ("device_rate_per_s" in [column.key for column in table.columns]) is shown
    assert row.cells["device_rate_per_s"] == pytest.approx(times * row.cells["rate_per_s"])
    said = [note for note in table.notes if note.startswith("Device IOPS differ from the application's by more")]
    assert bool(said) is shown
    assert all(" on 1 row, randread 8k: " in each for each in said)
    assert not any("Passive" in note for note in table.notes)


def test_a_run_without_layer_data_is_passive() -> None:
    table = _table(card_runs.run(card_runs.reads(samples=())))
    assert [note for note in table.notes if note.startswith("No device counters")]
    assert table.rows[0].cells.get("device_rate_per_s") is None
    simulated = _table(card_runs.run(card_runs.reads(samples=()), target=card_runs.SIMULATED))
    assert not any("Passive" in note for note in simulated.notes)
