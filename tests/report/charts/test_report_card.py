"""The report card of 2012 as a chart: letters of the published rows, ribbons of the scale, wedges of the growth."""

from __future__ import annotations

import pytest
from makers.graded_runs import graded_charts

from iocast.report.charts import report_card
from iocast.report.charts.drawing.theme import LIGHT


def test_each_test_has_its_letters() -> None:
    """V5, colorado: p95 12.992 -> 16.192 ms is C-/A-, and so on."""
    (chart,) = graded_charts()
    cells = [row.cells for row in chart.table("tests").rows]
    letters = [f"{row['letter']}/{row['scaling_letter']}" for row in cells]
    assert letters == ["C-/A-", "B-/A-", "C/B-", "C-/D"]
    assert [row["scaling"] for row in cells] == pytest.approx([0.1232, 0.1550, 0.3277, 1.1578], abs=1e-4)
    assert [row["p95"] for row in cells] == pytest.approx([12.992e6, 18.304e6, 2.008e6, 12.608e6])
    assert "write 128K grows most with the load: scaling D" in chart.summary
    shares = {row.cells["test"]: 0.0 for row in chart.table("buckets").rows}
    for row in chart.table("buckets").rows:
        shares[row.cells["test"]] += row.cells["share"]
    assert list(shares.values()) == pytest.approx([1, 1, 1, 1])


def test_the_wedge_rises_with_the_growth_and_the_ribbon_has_a_band_for_each_letter() -> None:
    (chart,) = graded_charts()
    bands, wedges, *_ = (layer["rows"] for layer in report_card.draw(chart, LIGHT, 900)["layers"])
    rises = [round(row["y"] - row["y2"], 3) for row in wedges if row["x"] == report_card.WEDGE[1]]
    growth = [row.cells["scaling"] for row in chart.table("tests").rows]
    assert rises == [round(report_card.TALL * min(1.0, value), 3) for value in growth]
    assert {row["c"] for row in wedges if row["of"] == 3} == {LIGHT.lost}, "a D"
    ribbons = [row for row in bands if report_card.RIBBON[0] <= row["x"] < row["x2"] <= report_card.RIBBON[1]]
    assert len([row for row in ribbons if row["c"] in (LIGHT.fast, LIGHT.middling, LIGHT.slow)]) == 4 * 7


def test_other_scales_have_no_such_card() -> None:
    assert graded_charts("modern") == ()
