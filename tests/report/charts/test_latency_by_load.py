"""On the axis of response times stand response times only: its shares of the I/Os are another chart's."""

from __future__ import annotations

from makers import card_runs
from makers.card_pages import chart_of, drawn

from iocast.report.charts import latency_by_load, plot_of
from iocast.report.plot.marks import Areas
from iocast.report.plot.theme import LIGHT


def test_no_share_is_drawn_on_the_axis_of_times() -> None:
    areas = drawn(plot_of(chart_of(card_runs.quick_card(), latency_by_load), LIGHT), Areas)
    assert {mark.colour for mark in areas} == {LIGHT.shade}, "only what lies between percentiles"


def test_a_percentile_that_is_not_published_is_not_in_the_caption() -> None:
    """The table left the p95 of 176 I/Os blank, and the chart below it said "p95 64 ms"."""
    ladder = (
        card_runs.reads("randread 8k 1x1", times=card_runs.histogram((1_000_000, 176))),
        card_runs.reads("randread 8k 8x1", users=8, times=card_runs.histogram((2_000_000, 5_000))),
    )
    assert chart_of(card_runs.run(*ladder), latency_by_load).summary == "1x1: p50 1 ms. 8x1: p50 2 ms, p95 2 ms."
