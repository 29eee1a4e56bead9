"""Percentile curves of two sides, where both are known well enough."""

from __future__ import annotations

from makers import card_runs
from makers.card_pages import drawn
from makers.compared_runs import comparison_charts, side_of, twice

from iocast.model.histogram import Histogram
from iocast.model.stated import Bucket, Coarse
from iocast.report.charts import side_percentiles
from iocast.report.plot.marks import Lines
from iocast.report.plot.theme import LIGHT


def test_percentile_curves_of_both_have_the_colours_of_their_sides() -> None:
    chart = comparison_charts(twice("old", 200), twice("new", 400))["side_percentiles"]
    sure, unsure = drawn(side_percentiles.draw(chart, LIGHT, 500), Lines)
    assert [shape.whose for shape in chart.shapes] == ["old", "new"]
    assert sure.colours == unsure.colours == (LIGHT.accent, LIGHT.tail)


def test_coarse_buckets_of_another_tool_have_no_percentile_curve() -> None:
    buckets = (Bucket(100_000, 250_000, 80.0), Bucket(250_000, 500_000, 20.0))
    times = Histogram.stated(Coarse(total=20_000, mean_ns=210_000.0, buckets=buckets, whole=100.0))
    coarse = side_of("fio", card_runs.run(card_runs.reads("randread 8k", times=times)))
    kinds = comparison_charts(twice("own", 200), coarse)
    assert "side_percentiles" not in kinds
    assert "ratios" in kinds
    below = [point for point in kinds["sides"].curves if point.whose == "fio"]
    held = [point.density for point in below if 1.1e5 < point.time_ns < 2.4e5]
    assert len(set(held)) == 1, "nothing is read between the edges of another tool's buckets"
