"""The bands of response time are shares of all I/Os, on an axis from 0 to 1 of their own."""

from __future__ import annotations

from itertools import groupby

import pytest
from makers import card_runs
from makers.card_pages import chart_of, drawn

from iocast.report.charts import latency_bands, plot_of
from iocast.report.plot.axes import Axis
from iocast.report.plot.marks import Boxes
from iocast.report.plot.theme import LIGHT


def test_the_bands_of_a_load_are_all_of_its_ios() -> None:
    for load in chart_of(card_runs.quick_card(), latency_bands).loads:
        assert load.fast_share + load.middling_share + load.slow_share == pytest.approx(1)


def test_each_bar_reaches_from_0_to_1_on_a_linear_axis() -> None:
    plot = plot_of(chart_of(card_runs.quick_card(), latency_bands), LIGHT)
    (bars,) = drawn(plot, Boxes)
    assert isinstance(plot.y, Axis)
    assert (plot.y.scale.low, plot.y.scale.high, plot.y.scale.log) == (0, 1, False)
    for _, group in groupby(bars.boxes, key=lambda bar: bar.x):
        pieces = list(group)
        assert pieces[0].y == 0
        assert pieces[-1].y2 == pytest.approx(1)
    assert all("up to 1 ms" in tip for tip in bars.tips)
