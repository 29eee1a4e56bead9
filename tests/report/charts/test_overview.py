"""The overview shows the rows that are a measurement."""

from __future__ import annotations

from makers import card_runs
from makers.card_pages import chart_of, report_of

from iocast.report.charts import overview


def test_void_rows_are_in_no_chart() -> None:
    run = card_runs.troubled_card()
    report = report_of(run)
    assert "randread 8k" not in [row.row for row in chart_of(run, overview).rows]
    assert chart_of(run, overview).notes[1:] == ("1 of 5 rows is void and not drawn.",)
    assert not [each for each in report.charts if each.kind == "scaling"], "one load that is left is no ladder"
