"""Both sides of a comparison hold the same area on one axis."""

from __future__ import annotations

import pytest
from makers.card_pages import drawn
from makers.compared_runs import comparison_charts, twice

from iocast.report.charts import sides
from iocast.report.plot.marks import Areas
from iocast.report.plot.theme import LIGHT


def test_both_histograms_hold_the_same_area_on_one_axis() -> None:
    chart = comparison_charts(twice("old", 200), twice("new", 400))["sides"]
    (halves,) = drawn(sides.draw(chart, LIGHT, 984), Areas)
    assert halves.colours == [LIGHT.accent, LIGHT.tail]
    above, below = halves.areas
    assert all(band.y2 <= band.y for band in above)
    assert all(band.y2 >= band.y for band in below)
    held = [sum(abs(band.y2 - band.y) for band in half) for half in (above, below)]
    assert held[0] == pytest.approx(held[1], rel=0.05)
    assert "200" in chart.summary
    assert "400" in chart.summary
