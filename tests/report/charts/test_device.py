"""The device charts name rows where the device saw something else; where it never did, there is none."""

from __future__ import annotations

from makers import card_runs
from makers.card_pages import report_of

from iocast.analyse.facts import Facts
from iocast.diagnose.examination import examine
from iocast.model.report import Chart
from iocast.model.run import Run
from iocast.report.charts import device
from iocast.report.charts.subjects import ExaminedRun


def _charts(run: Run) -> dict[str, Chart]:
    return {each.key: each for each in device.tell(ExaminedRun(Facts(run), examine(run)))}


def test_a_row_where_the_device_saw_something_else_is_named() -> None:
    chart = _charts(card_runs.quick_card())["device-queue"]
    assert chart.summary == "On 1 of 8 rows the device saw something other than was submitted: paced 8k."


def test_where_the_device_saw_what_was_submitted_there_is_no_chart() -> None:
    assert "device-sizes" not in _charts(card_runs.quick_card())
    sections = [section.code for section in report_of(card_runs.run(card_runs.reads())).sections]
    assert "device_view" not in sections
