"""The report card of 2012 as a chart: letters of the published rows, ribbons of the scale, wedges of the growth."""

from __future__ import annotations

import pytest
from makers.card_pages import drawn
from makers.graded_runs import graded_charts

from iocast.report.charts import report_card
from iocast.report.plot.marks import Areas, Boxes
from iocast.report.plot.theme import LIGHT


def test_each_test_has_its_letters() -> None:
    """V5, colorado: p95 12.992 -> 16.192 ms is C-/A-, and so on."""
    (chart,) = graded_charts()
    letters = [f"{test.letter}/{test.scaling_letter}" for test in chart.tests]
    assert letters == ["C-/A-", "B-/A-", "C/B-", "C-/D"]
    assert [test.scaling for test in chart.tests] == pytest.approx([0.1232, 0.1550, 0.3277, 1.1578], abs=1e-4)
    assert [test.p95_ns for test in chart.tests] == pytest.approx([12.992e6, 18.304e6, 2.008e6, 12.608e6])
    assert "write 128K grows most with the load: scaling D" in chart.summary
    shares = {bucket.test: 0.0 for bucket in chart.buckets}
    for bucket in chart.buckets:
        shares[bucket.test] += bucket.share
    assert list(shares.values()) == pytest.approx([1, 1, 1, 1])


def test_the_wedge_rises_with_the_growth_and_the_ribbon_has_a_band_for_each_letter() -> None:
    (chart,) = graded_charts()
    plot = report_card.draw(chart, LIGHT, 900)
    (bands, _), (wedges,) = drawn(plot, Boxes), drawn(plot, Areas)
    rises = [round(band.y - band.y2, 3) for wedge in wedges.areas for band in wedge if band.x == report_card.WEDGE[1]]
    assert rises == [round(report_card.TALL * min(1.0, test.scaling), 3) for test in chart.tests]
    assert wedges.colours[3] == LIGHT.lost, "a D"
    low, high = report_card.RIBBON
    ribbons = [tone for box, tone in zip(bands.boxes, bands.colours, strict=True) if low <= box.x < box.x2 <= high]
    assert len([tone for tone in ribbons if tone in (LIGHT.fast, LIGHT.middling, LIGHT.slow)]) == 4 * 7


def test_other_scales_have_no_such_card() -> None:
    assert graded_charts("modern") == ()
