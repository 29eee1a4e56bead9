"""The device charts name rows where the device saw something else."""

from __future__ import annotations

from makers import card_runs
from makers.card_pages import chart_of, report_of

from iocast.report.charts import device


def test_the_device_chart_names_rows_where_it_saw_something_else() -> None:
    found = [each for each in report_of(card_runs.quick_card()).charts if each.kind == "device"]
    assert [each.key for each in found] == ["device-sizes", "device-queue"]
    assert found[0].summary.startswith("On all ")
    troubled = chart_of(card_runs.troubled_card(), device)
    assert "the device saw something else" in troubled.summary or troubled.summary.startswith("On all ")
