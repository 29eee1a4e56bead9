"""Ratios are drawn with what is known of them."""

from __future__ import annotations

from makers.card_pages import drawn
from makers.compared_runs import comparison_charts, twice

from iocast.report.charts import ratios
from iocast.report.plot.marks import Dots, Rules
from iocast.report.plot.theme import LIGHT


def test_a_ratio_is_drawn_with_its_interval_and_its_colour() -> None:
    chart = comparison_charts(twice("old", 200, 202, 204), twice("new", 400, 404, 402))["ratios"]
    at, p50 = next((at, each) for at, each in enumerate(chart.ratios) if each.what == "p50")
    assert p50.side == "worse"
    plot = ratios.draw(chart, LIGHT, 984)
    (dots,), (lines,) = drawn(plot, Dots), drawn(plot, Rules)
    assert dots.dots[at] == (p50.ratio_value, at)
    assert dots.colours[at] == lines.colours[at] == LIGHT.lost
    assert (lines.rules[at].x, lines.rules[at].x2) == (p50.ratio_low, p50.ratio_high)


def test_single_runs_have_dots_without_lines() -> None:
    chart = comparison_charts(twice("old", 200), twice("new", 400))["ratios"]
    assert "unknown error" in chart.summary
    (lines,) = drawn(ratios.draw(chart, LIGHT, 984), Rules)
    assert lines.rules
    assert [(line.x, line.x2) for line in lines.rules] == [(each.ratio_value,) * 2 for each in chart.ratios]
