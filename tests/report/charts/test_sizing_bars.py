"""Bars of a sizing: one for each need, the binding one marked, the line at the count in the end."""

from __future__ import annotations

from makers.card_pages import drawn

from iocast.report.charts import sizing_bars
from iocast.report.charts.subjects import SizedNeed
from iocast.report.plot.marks import Bars, Uprights, Words
from iocast.report.plot.theme import LIGHT

COUNTS = (("capacity", 2), ("IOPS", 30), ("one failure", 33))
SUBJECT = SizedNeed("hdd-15k", COUNTS, "one failure", 34, "limited by surviving one failure")


def test_each_need_is_a_bar_and_one_is_marked() -> None:
    (chart,) = sizing_bars.tell(SUBJECT)
    assert chart.summary == "Limited by surviving one failure: 34 devices."
    assert [need.binds for need in chart.needs] == ["", "", "limits"]
    plot = sizing_bars.draw(chart, LIGHT, 500)
    (bars,), (line,), (words,) = drawn(plot, Bars), drawn(plot, Uprights), drawn(plot, Words)
    assert [(bar.x, bar.x2) for bar in bars.bars] == [(0, 2), (0, 30), (0, 33)]
    assert [word.text for word in words.words] == ["2", "30", "33"]
    assert bars.colours[0] == bars.colours[1] != bars.colours[2]
    assert line.at == [34]
    assert plot.width == 500


def test_one_need_alone_is_no_chart() -> None:
    assert list(sizing_bars.tell(SizedNeed("nvme", (("capacity", 2),), "capacity", 2, "limited by capacity"))) == []
