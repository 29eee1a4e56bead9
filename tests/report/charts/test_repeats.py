"""Each repeat is seen over the median of its row."""

from __future__ import annotations

import pytest
from makers.card_pages import drawn
from makers.compared_runs import twice

from iocast.report.charts import repeats as repeats_chart
from iocast.report.charts.repeats import RepeatedRows
from iocast.report.comparison_report import repeats
from iocast.report.plot.marks import Dots
from iocast.report.plot.theme import LIGHT


def test_each_repeat_is_a_dot_over_the_median_of_its_row() -> None:
    (chart,) = repeats(twice("again", 200, 210, 300), charts=True).charts
    assert isinstance(chart, RepeatedRows)
    p99 = [each.ratio for each in chart.repeats if each.row == "randread 8k · p99"]
    assert p99 == pytest.approx([200 / 210, 1, 300 / 210], rel=0.01)
    assert chart.summary.startswith("Largest deviation: run 3 of randread 8k · ")
    seen, met = drawn(repeats_chart.draw(chart, LIGHT, 984), Dots)
    assert len(set(seen.dots)) == 6
    assert seen.dots == met.dots
    assert repeats(twice("once", 200), charts=True).charts == ()
