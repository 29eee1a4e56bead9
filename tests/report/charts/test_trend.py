"""The trend of a target: the verdict names the largest change, the charts mark it, unknown is not "unchanged"."""

from __future__ import annotations

from makers.card_pages import drawn
from makers.trends import trend_of

from iocast.report.charts import trend
from iocast.report.plot.marks import Dots, Rings, Words
from iocast.report.plot.theme import LIGHT
from iocast.report.renderers.documents import DOCUMENTS
from iocast.report.renderers.json_report import document


def test_a_change_is_told_first_and_marked() -> None:
    report = trend_of(*[1000.0 + at % 3 for at in range(8)], 9000.0, *[700.0 + at % 3 for at in range(8)])
    assert report.title == "Trend · card quick on /dev/sdx"
    assert report.verdict.startswith(
        "1 of 2 rows changed. Largest change: p99 of randread rose by 43% at 2026-09-30 14:13 UTC."
        " The grade went from A to C. 17 runs on db01,"
    )
    changes = next(table for section in report.sections for table in section.tables if table.key == "changes")
    told = {(row.cells["phase"], row.cells["statistic"]): row.cells["change_share"] for row in changes.rows}
    assert told == {("randread", "p99"): "+43%", ("randread", "throughput"): "−30%", ("all rows", "grade"): "to C"}
    assert [section.title for section in report.sections] == ["Trend", "randread", "scan"]
    grade, iops, p99, scan = report.charts
    assert (grade.key, iops.key, p99.key, scan.key) == (
        "trend-grade",
        "trend-1-throughput",
        "trend-1-p99",
        "trend-2-throughput",
    )
    assert "From 1.00k to 701 (−30%)" in iops.summary
    plot = trend.draw(iops, LIGHT, 500)
    (dots, _), (hollow,) = drawn(plot, Dots), drawn(plot, Rings)
    assert (len(dots.dots), len(hollow.rings)) == (16, 1)
    changes = [
        [word.text for word in drawn(trend.draw(each, LIGHT, 500), Words)[0].words] for each in report.charts[:3]
    ]
    assert changes == [["to C"], ["−30%"], ["+43%"]]


def test_too_few_runs_are_unknown_and_steady_ones_unchanged() -> None:
    assert trend_of(*[1000.0] * 9).verdict.startswith("Changes unknown: 9 runs with trust C or better; 10 needed.")
    assert trend_of(*[1000.0 + at % 3 for at in range(12)]).verdict.startswith(
        "IOPS and p99 did not change in any of 2 rows."
    )


def test_it_is_a_document_of_figures() -> None:
    told = document(trend_of(*[1000.0 + at % 3 for at in range(8)], *[500.0 + at % 3 for at in range(8)]))
    assert isinstance(told, DOCUMENTS["trend"])
    assert (told.rows[0].phase, told.rows[0].runs, told.rows[0].changes) == ("randread", 16, 2)
    assert {(each.phase, each.statistic, each.run) for each in told.changes} == {
        ("randread", "throughput", "run 8"),
        ("randread", "p99", "run 8"),
        (None, None, "run 8"),
    }
