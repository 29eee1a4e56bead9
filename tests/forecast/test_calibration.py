"""What rows of a calibration come to: peaks, knees, the check against disks, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import iocast
from iocast.forecast.calibration import Calibration, Disks, calibration
from iocast.sessions.forecasting.calibrate import Calibrated


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> Calibrated:
    device = "sim:nvme,service=exponential:1ms,servers=8,bandwidth=none"
    out = tmp_path_factory.mktemp("runs")
    return iocast.calibrate(device, max_latency="8ms", disks=8, time="20s", out=str(out))


@pytest.fixture(scope="module")
def found(answer: Calibrated) -> Calibration:
    return answer.calibration


@pytest.mark.parametrize(("iops", "disks", "each", "ratio"), [(4778, 46, 100, 1.039), (4378, 60, 70, 1.042)])
def test_the_published_calibrations_beside_their_disks(iops: float, disks: int, each: float, ratio: float) -> None:
    """46 disks of 100 IOPS reported 4778, 60 of 70 reported 4378 (seed vectors V13)."""
    assert Disks(disks, iops / disks, disks * each).ratio == pytest.approx(ratio, abs=5e-4)


@pytest.mark.long
def test_eight_disks_that_share_one_queue_do_what_eight_do(found: Calibration) -> None:
    assert found.disks is not None
    assert found.disks.ratio == pytest.approx(1, rel=0.05)
    assert found.disks.each_per_s == pytest.approx(1000, rel=0.05)


def test_every_knee_is_told_and_the_limit_first(found: Calibration) -> None:
    knees = {knee.code: knee for knee in found.knees}
    assert next(iter(knees)) == "limit"
    assert set(knees) >= {"limit", "least_load", "max_power", "planning_cap", "saturation", "chord"}
    assert knees["least_load"].load == pytest.approx(8, rel=0.05)
    assert knees["max_power"].load == 8
    assert knees["saturation"].load == 8
    assert knees["planning_cap"].rate_per_s == pytest.approx(5600, rel=0.05)


def test_a_maximum_has_an_interval_around_it(found: Calibration) -> None:
    for peak in (found.most, found.throughput, found.single):
        assert peak is not None
        assert peak.low is not None
        assert peak.high is not None
        assert peak.low < peak.value < peak.high


def test_all_rows_refused_leave_nothing_to_say(answer: Calibrated, found: Calibration) -> None:
    rows = answer.card.judged.facts.rows
    nothing = calibration(found.request, rows, {row.name: "a neighbour" for row in rows})
    assert (nothing.most, nothing.throughput, nothing.single, nothing.within, nothing.disks) == (None,) * 5
    assert (nothing.knees, nothing.refusals) == ((), ("idle_refused", "rows_refused"))
    assert len(nothing.closed) == len(found.closed), "they are still shown"


def test_a_run_that_ended_early_says_what_is_missing(answer: Calibrated, found: Calibration) -> None:
    first = [row for row in answer.card.judged.facts.rows if row.record.phase.test == "randread"]
    early = calibration(found.request, first, {})
    assert {"no_rates", "no_streams"} <= set(early.refusals)
    assert early.within is None or early.within.low_per_s is None
    assert early.most is not None


@pytest.mark.long
def test_it_is_made_of_the_folder_alone(answer: Calibrated, found: Calibration, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere"
    Path(answer.folder).rename(moved)
    again = Calibrated(iocast.open(str(moved))).calibration
    moved.rename(answer.folder)
    assert (again.within, again.refusals, again.knees) == (found.within, found.refusals, found.knees)
