"""Both sides of a comparison hold the same area on one axis."""

from __future__ import annotations

import pytest
from makers.compared_runs import comparison_charts, drawn_rows, twice

from iocast.report.charts import sides
from iocast.report.charts.drawing.theme import LIGHT


def test_both_histograms_hold_the_same_area_on_one_axis() -> None:
    chart = comparison_charts(twice("old", 200), twice("new", 400))["sides"]
    points = drawn_rows(sides.draw(chart, LIGHT, 984), "area")
    above, below = ([row for row in points if row["c"] == tone] for tone in (LIGHT.accent, LIGHT.tail))
    assert all(row["y2"] <= row["y"] for row in above)
    assert all(row["y2"] >= row["y"] for row in below)
    held = [sum(abs(row["y2"] - row["y"]) for row in rows) for rows in (above, below)]
    assert held[0] == pytest.approx(held[1], rel=0.05)
    assert "200" in chart.summary
    assert "400" in chart.summary
