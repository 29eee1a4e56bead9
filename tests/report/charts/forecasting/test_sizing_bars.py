"""Bars of a sizing: one for each need, the binding one marked, the line at the count in the end."""

from __future__ import annotations

from iocast.report.charts import specification
from iocast.report.charts.drawing.theme import LIGHT
from iocast.report.charts.forecasting import sizing_bars
from iocast.report.charts.subjects.sized_need import SizedNeed

COUNTS = (("capacity", 2), ("IOPS", 30), ("one failure", 33))
SUBJECT = SizedNeed("hdd-15k", COUNTS, "one failure", 34, "one failure binds")


def test_each_need_is_a_bar_and_one_is_marked() -> None:
    (chart,) = sizing_bars.tell(SUBJECT)
    assert chart.summary == "One failure binds: 34 devices."
    assert [row.cells["binds"] for row in chart.tables[0].rows] == ["", "", "binds"]
    bars, line, *_ = (layer["rows"] for layer in sizing_bars.draw(chart, LIGHT, 500)["layers"])
    assert [(each["x"], each["x2"], each["t"]) for each in bars] == [(0, 2, "2"), (0, 30, "30"), (0, 33, "33")]
    assert len({each["c"] for each in bars[:2]}) == 1
    assert bars[2]["c"] != bars[0]["c"]
    assert line[0]["x"] == 34
    assert specification(chart, LIGHT)["width"] > 0


def test_one_need_alone_is_no_chart() -> None:
    assert list(sizing_bars.tell(SizedNeed("nvme", (("capacity", 2),), "capacity", 2, "capacity binds"))) == []
