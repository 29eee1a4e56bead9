"""Ratios are drawn with what is known of them."""

from __future__ import annotations

from makers.compared_runs import comparison_charts, drawn_rows, twice

from iocast.report.charts import ratios
from iocast.report.charts.drawing.theme import LIGHT


def test_a_ratio_is_drawn_with_its_interval_and_its_colour() -> None:
    chart = comparison_charts(twice("old", 200, 202, 204), twice("new", 400, 404, 402))["ratios"]
    p50 = next(row for row in chart.tables[0].rows if row.cells["what"] == "p50")
    assert p50.cells["side"] == "worse"
    spec = ratios.draw(chart, LIGHT, 984)
    dots = {row["at"]: row for row in drawn_rows(spec, "circle")}
    drawn = dots[p50.cells["ratio_value"]]
    assert drawn["c"] == LIGHT.lost
    line = next(row for row in drawn_rows(spec, "rule") if row.get("at") == p50.cells["ratio_value"])
    assert (line["x"], line["x2"]) == (p50.cells["ratio_low"], p50.cells["ratio_high"])


def test_single_runs_have_dots_without_lines() -> None:
    chart = comparison_charts(twice("old", 200), twice("new", 400))["ratios"]
    assert "unknown error" in chart.summary
    lines = [row for row in drawn_rows(ratios.draw(chart, LIGHT, 984), "rule") if "at" in row]
    assert lines
    assert all(row["x"] == row["x2"] == row["at"] for row in lines)
