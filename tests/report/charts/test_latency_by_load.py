"""On the axis of response times stand response times only: its shares of the I/Os are another chart's."""

from __future__ import annotations

from makers import card_runs
from makers.card_pages import chart_of

from iocast.report.charts import latency_by_load, specification
from iocast.report.charts.drawing.theme import LIGHT


def test_no_share_is_drawn_on_the_axis_of_times() -> None:
    drawing = specification(chart_of(card_runs.quick_card(), latency_by_load), LIGHT)
    areas = [layer["mark"] for layer in drawing["layer"] if layer["mark"]["type"] == "area"]
    assert {mark["color"] for mark in areas} == {LIGHT.shade}, "only what lies between percentiles"
