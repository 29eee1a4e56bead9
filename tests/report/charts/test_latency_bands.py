"""The bands of response time are shares of all I/Os, on an axis from 0 to 1 of their own."""

from __future__ import annotations

from itertools import groupby

import pytest
from makers import card_runs
from makers.card_pages import chart_of

from iocast.report.charts import latency_bands, specification
from iocast.report.charts.drawing.theme import LIGHT


def test_the_bands_of_a_load_are_all_of_its_ios() -> None:
    for row in chart_of(card_runs.quick_card(), latency_bands).tables[0].rows:
        shares = [row.cells[key] for key in ("fast", "middling", "slow")]
        assert sum(share for share in shares if isinstance(share, float)) == pytest.approx(1)


def test_each_bar_reaches_from_0_to_1_on_a_linear_axis() -> None:
    bars = specification(chart_of(card_runs.quick_card(), latency_bands), LIGHT)["layers"][0]
    scale = bars["encoding"]["y"]["scale"]
    assert (scale["domain"], scale.get("type")) == ([0, 1], None)
    for _, group in groupby(bars["rows"], key=lambda bar: bar["at"]):
        pieces = list(group)
        assert pieces[0]["y"] == 0
        assert pieces[-1]["y2"] == pytest.approx(1)
        assert all("up to 1 ms" in bar["tip"] for bar in pieces)
