"""The report of a tape: devices, layers, sessions, heat maps, and what was not seen."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers.live_moments import tape_of_a_load

from iocast.errors import SpecError
from iocast.model.grading import GradeRequest
from iocast.report.charts import plot_of
from iocast.report.charts.live_latency import LiveLatency
from iocast.report.plot.theme import THEMES
from iocast.sessions.events import AnswerReady
from iocast.sessions.listener import Quiet
from iocast.sessions.live.tape_card import report_of_tape
from iocast.sessions.show_again import show_again

LAYER = ("block_layer", "vda|driver|read|8192")


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return tape_of_a_load(tmp_path)


def test_what_it_tells(folder: str) -> None:
    report = report_of_tape(folder, charts=True)
    sections = {section.code: section for section in report.sections}
    (disk,) = sections["devices"].tables[0].rows
    assert (disk.cells["device"], disk.cells["reads_per_s"], disk.cells["read_await_ns"]) == ("vda", 100, 100_000)
    (layer,) = sections["layers"].tables[0].rows
    assert (layer.cells["rate_per_s"], layer.cells["mean_ns"], layer.cells["size_bytes"]) == (100, 100_000, 8192)
    waits, statements = sections["activity"].tables
    assert (waits.rows[0].cells["what"], waits.rows[0].cells["sessions"]) == ("IO: DataFileRead", 3)
    assert statements.rows[0].cells["what"] == "select scratch from pgio1"
    assert sections["not_seen"].paragraphs == ("nfs: nothing is mounted by NFS.",)


def test_its_heat_map_has_every_io(folder: str) -> None:
    (chart,) = report_of_tape(folder, charts=True).charts
    assert isinstance(chart, LiveLatency)
    assert sum(sum(moment.counts) for moment in chart.course) == 2000
    assert plot_of(chart, THEMES["light"]).marks


def test_show_and_report_know_it(folder: str) -> None:
    told: list[object] = []

    class Ear(Quiet):
        def tell(self, event: object) -> None:
            told.append(event)

    assert show_again(folder, GradeRequest(), Ear())
    (made,) = told
    assert isinstance(made, AnswerReady)
    assert made.report.kind == "tape"
    with pytest.raises(SpecError, match="no load was made"):
        show_again(folder, GradeRequest(floor="B"), Quiet())
