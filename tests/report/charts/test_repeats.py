"""Each repeat is seen over the median of its row."""

from __future__ import annotations

import pytest
from makers.compared_runs import drawn_rows, twice

from iocast.report.charts import repeats as repeats_chart
from iocast.report.charts.drawing.theme import LIGHT
from iocast.report.comparison.comparison_report import repeats


def test_each_repeat_is_a_dot_over_the_median_of_its_row() -> None:
    (chart,) = repeats(twice("again", 200, 210, 300), charts=True).charts
    p99 = [row.cells["ratio"] for row in chart.tables[0].rows if row.cells["row"] == "randread 8k · p99"]
    assert p99 == pytest.approx([200 / 210, 1, 300 / 210], rel=0.01)
    assert chart.summary.startswith("Largest deviation: run 3 of randread 8k · ")
    dots = drawn_rows(repeats_chart.draw(chart, LIGHT, 984), "circle")
    assert len({(row["x"], row["y"]) for row in dots}) == 6
    assert repeats(twice("once", 200), charts=True).charts == ()
