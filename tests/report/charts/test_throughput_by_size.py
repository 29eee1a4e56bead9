"""Throughput over I/O size: a line for each load, its points at the rates of their rows."""

from __future__ import annotations

import pytest
from makers import card_runs
from makers.card_pages import chart_of, drawn, report_of

from iocast.report.charts import plot_of, throughput_by_size
from iocast.report.plot.marks import Lines, Words
from iocast.report.plot.theme import LIGHT

SIZES = (4096, 16384, 65536)


def test_a_line_for_each_load_goes_through_the_rates_of_its_sizes() -> None:
    chart = chart_of(card_runs.size_ladder(*SIZES), throughput_by_size)
    assert [(row.label, row.size_bytes) for row in chart.rows] == [
        (load, size) for load in ("1x1", "4x1") for size in SIZES
    ]
    assert chart.summary == "Peak 1 GB/s, reached with 64k at 4x1."
    (lines,) = drawn(plot_of(chart, LIGHT), Lines)
    expected = [row.throughput_bytes_per_s / 1e6 for row in chart.rows]
    assert [point.y for line in lines.lines for point in line] == pytest.approx(expected)
    (names,) = drawn(plot_of(chart, LIGHT), Words)
    assert [word.text for word in names.words] == ["1x1", "4x1"]


def test_two_sizes_are_no_curve() -> None:
    kinds = [chart.kind for chart in report_of(card_runs.size_ladder(*SIZES[:2])).charts]
    assert "throughput_by_size" not in kinds


def test_patterns_of_one_test_have_charts_of_their_own() -> None:
    rows = [
        card_runs.reads(f"scan {size} {sequential}", size_bytes=size, sequential=sequential)
        for sequential in (True, False)
        for size in SIZES
    ]
    charts = [chart for chart in report_of(card_runs.run(*rows)).charts if chart.kind == "throughput_by_size"]
    assert [chart.key for chart in charts] == ["scan-reads-sequential-by-size", "scan-reads-uniform-by-size"]
