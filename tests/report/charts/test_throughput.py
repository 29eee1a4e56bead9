"""The slices of a bar of throughput are all I/Os, stacked to scale: a log axis would make the lowest the largest."""

from __future__ import annotations

import pytest
from makers import card_runs
from makers.card_pages import chart_of, drawn

from iocast.report.charts import plot_of, throughput
from iocast.report.plot.axes import Axis
from iocast.report.plot.marks import Boxes
from iocast.report.plot.theme import LIGHT


def test_the_slices_of_a_bar_are_all_io() -> None:
    slices = chart_of(card_runs.quick_card(), throughput).buckets
    for load in {(each.users, each.depth) for each in slices}:
        assert sum(each.share for each in slices if (each.users, each.depth) == load) == pytest.approx(1)


def test_bars_and_their_slices_are_to_scale() -> None:
    chart = chart_of(card_runs.quick_card(), throughput)
    plot = plot_of(chart, LIGHT)
    (bars,) = drawn(plot, Boxes)
    assert isinstance(plot.y, Axis)
    assert (plot.y.scale.low, plot.y.scale.log) == (0, False)
    rates = [load.throughput_bytes_per_s / 1e6 for load in chart.loads]
    for bar, bucket in zip(bars.boxes, chart.buckets, strict=True):
        assert (bar.y2 or 0) - (bar.y or 0) == pytest.approx(bucket.share * rates[round((bar.x or 0) + 0.3)])
