"""The chart of a calibration: both curves, the limit across, the allowed rate with its interval; refused rows apart."""

from __future__ import annotations

from typing import Any

import pytest
from makers.card_pages import drawn

import iocast
from iocast.forecast.calibration import calibration
from iocast.report.charts import calibration_curve
from iocast.report.plot.axes import Axis
from iocast.report.plot.marks import Boxes, Levels, Lines, Rules
from iocast.report.plot.theme import LIGHT
from iocast.sessions.forecasting.calibrate import Calibrated


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> Calibrated:
    out = tmp_path_factory.mktemp("runs")
    return iocast.calibrate("sim:nvme,iops=5000/s", max_latency="2ms", time="5s", out=str(out))


@pytest.fixture(scope="module")
def about(answer: Calibrated) -> Any:
    (found,) = answer.report(charts=True).charts
    return found


def test_every_row_of_random_reads_is_a_point(answer: Calibrated, about: Any) -> None:
    found = answer.calibration
    assert [each.name for each in about.points] == [e.row.name for e in (*found.closed, *found.at_rates)]
    assert {each.name for each in about.points if each.verdict == "refused"} <= set(found.refused)
    assert about.summary.startswith("The p99 ")


def test_the_limit_and_what_it_allows_are_marked(answer: Calibrated, about: Any) -> None:
    (marks,) = about.marks
    assert marks.limit_ns == 2_000_000
    assert answer.calibration.within is not None
    assert marks.rate_per_s == answer.calibration.within.rate_per_s


def test_what_is_unknown_is_not_told_as_none(answer: Calibrated) -> None:
    rows = answer.card.judged.facts.rows
    nothing = calibration(answer.calibration.request, rows, {row.name: "a neighbour" for row in rows})
    (chart,) = calibration_curve.tell(nothing)
    assert chart.summary == "The IOPS within a p99 of 2 ms are unknown."
    plot = calibration_curve.draw(chart, LIGHT, 900)
    assert not any(mark.rules for mark in drawn(plot, Rules))
    assert not drawn(plot, Boxes)


def test_lines_leave_out_what_is_refused(answer: Calibrated, about: Any) -> None:
    plot = calibration_curve.draw(about, LIGHT, 900)
    lines = [line for mark in drawn(plot, Lines) for line in mark.lines]
    assert sum(map(len, lines)) == sum(
        not e.why_not for e in (*answer.calibration.closed, *answer.calibration.at_rates)
    )
    assert isinstance(plot.y, Axis)
    assert [mark.at for mark in drawn(plot, Levels)] == [[2e6]], "the limit"
