"""The slices of a bar of throughput are all I/Os."""

from __future__ import annotations

import pytest
from makers import card_runs
from makers.card_pages import chart_of

from iocast.report.charts import throughput


def test_the_slices_of_a_bar_are_all_io() -> None:
    slices = chart_of(card_runs.quick_card(), throughput).tables[1].rows
    for load in {row.cells["load"] for row in slices}:
        of_load = [row.cells["share"] for row in slices if row.cells["load"] == load]
        assert sum(share for share in of_load if isinstance(share, float)) == pytest.approx(1)
