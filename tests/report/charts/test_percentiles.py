"""Percentile curves end at the maximum, and each operation has its own."""

from __future__ import annotations

import pytest
from makers import card_runs
from makers.card_pages import chart_of, report_of
from makers.card_runs import lognormal, reads

from iocast.report.charts import percentiles
from iocast.report.charts.distribution import Distribution
from iocast.report.charts.percentiles import Percentiles


def test_percentiles_end_at_the_maximum_and_say_where_they_are_sure() -> None:
    curve = chart_of(card_runs.run(reads(times=lognormal(10_000, 1e6, 0.3))), percentiles).curves
    assert curve[-1].beyond_share == pytest.approx(1e-4)
    assert curve[-1].sure == 0
    assert min(each.beyond_share for each in curve if each.sure) == pytest.approx(1e-3)
    times = [each.time_ns for each in curve]
    assert times == sorted(times)


def test_reads_and_writes_of_one_row_are_two_curves() -> None:
    """Among other rows they had one name, and their points were drawn as one curve that saws between both."""
    run = card_runs.run(card_runs.mixed(), card_runs.reads("scan 128k 1x1"))
    charts = report_of(run).charts
    for kind in (Percentiles, Distribution):
        (chart,) = (each for each in charts if isinstance(each, kind))
        names = dict.fromkeys(point.row for point in chart.curves)
        assert list(names) == ["mixed 8k, reads", "mixed 8k, writes", "mixed 8k, fsyncs", "scan 128k 1x1"]
