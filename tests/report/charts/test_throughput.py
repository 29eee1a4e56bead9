"""The slices of a bar of throughput are all I/Os, stacked to scale: a log axis would make the lowest the largest."""

from __future__ import annotations

import pytest
from makers import card_runs
from makers.card_pages import chart_of

from iocast.report.charts import specification, throughput
from iocast.report.charts.drawing.theme import LIGHT


def test_the_slices_of_a_bar_are_all_io() -> None:
    slices = chart_of(card_runs.quick_card(), throughput).tables[1].rows
    for load in {row.cells["load"] for row in slices}:
        of_load = [row.cells["share"] for row in slices if row.cells["load"] == load]
        assert sum(share for share in of_load if isinstance(share, float)) == pytest.approx(1)


def test_bars_and_their_slices_are_to_scale() -> None:
    chart = chart_of(card_runs.quick_card(), throughput)
    bars = specification(chart, LIGHT)["layers"][0]
    scale = bars["encoding"]["y"]["scale"]
    assert (scale["domain"][0], scale.get("type")) == (0, None)
    shares = [row.cells["share"] for row in chart.tables[1].rows]
    rates = {float(at): float(str(row.cells["throughput"])) / 1e6 for at, row in enumerate(chart.tables[0].rows)}
    for bar, share in zip(bars["rows"], shares, strict=True):
        assert bar["y2"] - bar["y"] == pytest.approx(float(str(share)) * rates[round(bar["x"] + 0.3)])
