"""The chart of a calibration: both curves, the limit across, the allowed rate with its interval; refused rows apart."""

from __future__ import annotations

import pytest

import iocast
from iocast.forecast.calibration import calibration
from iocast.model.report import Chart
from iocast.report.charts import calibration_curve
from iocast.report.charts.drawing.theme import LIGHT
from iocast.sessions.forecasting.calibrate import Calibrated


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> Calibrated:
    out = tmp_path_factory.mktemp("runs")
    return iocast.calibrate("sim:nvme,iops=5000/s", max_latency="2ms", time="5s", out=str(out))


@pytest.fixture(scope="module")
def about(answer: Calibrated) -> Chart:
    (found,) = answer.report(charts=True).charts
    return found


def test_every_row_of_random_reads_is_a_point(answer: Calibrated, about: Chart) -> None:
    points = about.table("points")
    assert points is not None
    found = answer.found
    assert [row.cells["name"] for row in points.rows] == [e.row.name for e in (*found.closed, *found.at_rates)]
    assert {row.cells["name"] for row in points.rows if row.cells["verdict"] == "refused"} <= set(found.refused)
    assert about.summary.startswith("The p99 ")


def test_the_limit_and_what_it_allows_are_marked(answer: Calibrated, about: Chart) -> None:
    marks = about.table("marks")
    assert marks is not None
    assert marks.rows[0].cells["limit"] == 2_000_000
    assert answer.found.within is not None
    assert marks.rows[0].cells["rate"] == answer.found.within.rate_per_s


def test_what_is_unknown_is_not_told_as_none(answer: Calibrated) -> None:
    rows = answer.card.judged.facts.rows
    nothing = calibration(answer.found.asked, rows, {row.name: "a neighbour" for row in rows})
    (chart,) = calibration_curve.tell(nothing)
    assert chart.summary == "The IOPS within a p99 of 2 ms are unknown."
    drawn = calibration_curve.draw(chart, LIGHT, 900)
    assert not any("y2" in layer["encoding"] and layer["rows"] for layer in drawn["layers"])


def test_lines_leave_out_what_is_refused(answer: Calibrated, about: Chart) -> None:
    drawn = calibration_curve.draw(about, LIGHT, 900)
    lines = [layer["rows"] for layer in drawn["layers"] if layer["mark"]["type"] == "line"]
    assert sum(map(len, lines)) == sum(not e.why_not for e in (*answer.found.closed, *answer.found.at_rates))
    assert all(layer["encoding"]["y"]["axis"] for layer in drawn["layers"] if "y" in layer["encoding"])
    assert any(layer["rows"] == [{"y": 2e6}] for layer in drawn["layers"]), "the limit"
