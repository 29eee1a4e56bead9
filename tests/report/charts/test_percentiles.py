"""Percentile curves end at the maximum, and each operation has its own."""

from __future__ import annotations

import pytest
from makers import card_runs
from makers.card_pages import chart_of, report_of
from makers.card_runs import lognormal, reads

from iocast.report.charts import percentiles


def test_percentiles_end_at_the_maximum_and_say_where_they_are_sure() -> None:
    curve = chart_of(card_runs.run(reads(times=lognormal(10_000, 1e6, 0.3))), percentiles).table("curves")
    assert curve is not None
    last = curve.rows[-1].cells
    assert last["beyond"] == pytest.approx(1e-4)
    assert last["sure"] == 0
    sure = [row.cells["beyond"] for row in curve.rows if row.cells["sure"]]
    assert min(each for each in sure if isinstance(each, float)) == pytest.approx(1e-3)
    times = [row.cells["time"] for row in curve.rows]
    assert times == sorted(times, key=lambda each: each if isinstance(each, float) else 0.0)


def test_reads_and_writes_of_one_row_are_two_curves() -> None:
    """Among other rows they had one name, and their points were drawn as one curve that saws between both."""
    run = card_runs.run(card_runs.mixed(), card_runs.reads("scan 128k 1x1"))
    charts = {chart.kind: chart for chart in report_of(run).charts}
    for kind, key in (("percentiles", "curves"), ("distribution", "curves")):
        table = charts[kind].table(key)
        assert table is not None
        names = dict.fromkeys(row.cells["row"] for row in table.rows)
        assert list(names) == ["mixed 8k, reads", "mixed 8k, writes", "mixed 8k, fsyncs", "scan 128k 1x1"]
