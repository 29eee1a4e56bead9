"""Calibrations of simulated devices whose answers are known: each within 5 %, and derivable from the folder alone."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest
from makers.left_out import long_after
from msgspec.structs import replace

import iocast
from iocast.errors import SpecError
from iocast.forecast.calibration import Calibration, calibration
from iocast.forecast.laws.knees import slo_rate_per_s
from iocast.model.codes import CalibrationRefusalCode
from iocast.model.finding import Trust
from iocast.model.plan import Phase
from iocast.model.results.calibration import MaximumRow
from iocast.report.forecast.calibration_report import calibration_report
from iocast.sessions.forecasting.calibrate import Calibrated, calibration_asked
from iocast.sessions.listener import Quiet, QuietProgress, Stopping
from iocast.sessions.requests.calibrate import CalibrateRequest

pytestmark = pytest.mark.slow

ONE_QUEUE = "sim:nvme,service=exponential:7.2ms,servers=1,bandwidth=none"
P99_OF_EXPONENTIAL = -math.log(0.01)


def calibrated(tmp_path: Path, device: str, limit: str, **more: object) -> Calibration:
    return iocast.calibrate(device, max_latency=limit, out=str(tmp_path), **more).calibration  # type: ignore[arg-type]


def within(found: Calibration) -> float:
    """The rate within the limit, which its own interval holds."""
    assert found.within is not None
    assert found.within.rate_per_s is not None
    low, high = found.within.low_per_s, found.within.high_per_s
    assert low is not None
    assert high is not None
    assert low <= found.within.rate_per_s <= high
    return found.within.rate_per_s


@pytest.mark.long
def test_one_queue_gives_88_9_iops_within_a_mean_of_20_ms(tmp_path: Path) -> None:
    """C1's own case: S = 7.2 ms, limit 20 ms: (1 - 7.2 / 20) / 7.2 ms."""
    found = calibrated(tmp_path, ONE_QUEUE, "20ms", percentile="mean")
    assert within(found) == pytest.approx(88.89, rel=0.05)
    assert found.within is not None
    assert (found.within.low_per_s or 0) < 88.89 < (found.within.high_per_s or 0)
    assert found.most is not None
    assert found.most.value == pytest.approx(1 / 7.2e-3, rel=0.05)
    assert found.saturated
    assert found.closed_within is not None
    assert found.closed_within.row.measurement.asked_depth == 2


@pytest.mark.long
def test_pooled_servers_give_what_erlang_says(tmp_path: Path) -> None:
    found = calibrated(tmp_path, "sim:nvme,service=exponential:1ms,servers=8,bandwidth=none", "8ms")
    assert within(found) == pytest.approx(slo_rate_per_s(8, 1e-3, 8e-3, 0.99), rel=0.05)
    assert found.most is not None
    assert found.most.value == pytest.approx(8000, rel=0.05)


@pytest.mark.long
def test_striped_disks_saturate_late_and_queue_each_for_itself(tmp_path: Path) -> None:
    device = "sim:nvme,service=exponential:1ms,servers=1,bandwidth=none,stripe=8:64KiB"
    found = calibrated(tmp_path, device, "10ms", disks=8)
    assert within(found) == pytest.approx(8 * (1000 - P99_OF_EXPONENTIAL / 10e-3), rel=0.05)
    assert found.most is not None
    assert found.most.value == pytest.approx(8000, rel=0.05)
    assert found.most.row.measurement.asked_depth >= 128, "a shorter ladder would stop at 90 % of what they give"
    assert found.disks is not None
    assert found.disks.ratio == pytest.approx(1, rel=0.07)


@pytest.mark.parametrize(
    ("device", "iops", "mb_per_s"),
    long_after(
        1,
        [
            ("sim:nvme,iops=5000/s", 5000, 3500),
            ("sim:nvme,throughput=100MB/s", 100e6 / 8192, 100),
            pytest.param("sim:nvme", 3.5e9 / 8192, 3500, marks=pytest.mark.long),
            # 1.0075 ms and 8/15 of 13.58 ms of seek, half a turn of 7200 rpm, 8 KiB at 150 MB/s
            ("sim:hdd", 1e3 / (1.0075 + 13.58 * 8 / 15 + 25 / 6 + 8.192 / 150), 150),
        ],
    ),
)
def test_the_maxima_of_caps_disks_and_flash(tmp_path: Path, device: str, iops: float, mb_per_s: float) -> None:
    found = calibrated(tmp_path, device, "20ms", time="20s" if device == "sim:hdd" else "3s")
    assert found.most is not None
    assert found.throughput is not None
    assert found.single is not None
    assert found.most.value == pytest.approx(iops, rel=0.05)
    assert found.throughput.value == pytest.approx(mb_per_s * 1e6, rel=0.05)
    assert found.single.value == pytest.approx(mb_per_s * 1e6, rel=0.05), "one process is enough, given depth"


def test_a_limit_below_the_idle_response_is_refused(tmp_path: Path) -> None:
    answer = iocast.calibrate("sim:hdd", max_latency="10ms", time="20s", out=str(tmp_path))
    found, report = answer.calibration, answer.report()
    assert found.within is not None
    assert found.within.rate_per_s is None
    refused: CalibrationRefusalCode = "limit_below_idle"
    assert refused in found.refusals
    assert report.verdict.startswith("Limit not met at any load")
    assert len(found.at_rates) == 6, "the curve is measured all the same, and nothing around a limit that is not there"
    assert found.most is not None
    assert not found.most.meets


@pytest.mark.long
def test_no_percentile_that_few_ios_make_is_an_answer(tmp_path: Path) -> None:
    found = calibrated(tmp_path, ONE_QUEUE, "60ms", percentile=99.9, time="40s")
    assert found.idle is None
    assert found.within is None
    assert "few_ios" in found.refusals


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> Calibrated:
    out = tmp_path_factory.mktemp("runs")
    return iocast.calibrate("sim:nvme,iops=5000/s", max_latency="2ms", disks=4, time="5s", out=str(out))


def test_it_is_one_run_whose_folder_gives_the_answer_again(answer: Calibrated) -> None:
    again = Calibrated(iocast.open(answer.folder))
    assert again.calibration.within == answer.calibration.within
    assert again.report().verdict == answer.report().verdict
    assert again.run.plan.calibration == answer.run.plan.calibration
    assert again.card.report().verdict == answer.report().verdict, "its card begins with the answer"


def test_a_cap_queues_random_arrivals_as_one_server_does(answer: Calibrated) -> None:
    """A start every 200 us, then 80 us: by Lindley's recursion over 4 million arrivals p99 is 2 ms at 3928 a second."""
    assert within(answer.calibration) == pytest.approx(3928, rel=0.05)


def test_rows_that_trust_refuses_are_used_for_nothing(answer: Calibrated) -> None:
    found, trust = answer.calibration, answer.card.examination.trust
    assert {name for name, judged in trust.items() if judged.grade in "DF"} == set(found.refused)
    for peak in (found.most, found.throughput, found.single, found.closed_within):
        assert peak is not None
        assert peak.row.name not in found.refused


def test_without_an_idle_row_the_lowest_rate_that_kept_the_limit_stands_in(answer: Calibrated) -> None:
    found, facts = answer.calibration, answer.card.judged.facts
    again = calibration(found.request, facts.rows, {**found.refused, facts.rows[0].name: "a neighbour"})
    assert again.idle is None
    assert again.within == found.within
    assert again.refusals[0] == "idle_refused"


def test_where_most_rows_are_refused_the_verdict_says_so(answer: Calibrated) -> None:
    found, judged = answer.calibration, answer.card.judged
    doubted = {row.name: Trust("F", ()) for row in judged.facts.rows[1:]}
    examination = replace(judged.examination, trust={**judged.examination.trust, **doubted})
    report = calibration_report(judged.facts, examination, "")
    assert f"{found.rows - 1} of {found.rows} rows are refused and not used." in report.verdict
    assert "IOPS within a p99 of 2 ms are unknown" in report.verdict
    assert "MB/s are unknown: their rows are refused." in report.verdict


def test_every_maximum_keeps_the_limit_or_says_that_it_does_not(answer: Calibrated) -> None:
    rows = next(t for s in answer.report().sections for t in s.tables if t.key == "maxima").rows
    records = [row.record for row in rows if isinstance(row.record, MaximumRow)]
    assert {each.code for each in records} >= {"within_limit", "most_iops", "most_throughput", "single_process"}
    for row, each in zip(rows, records, strict=True):
        assert not each.met or each.response_mean_ns is None or each.response_mean_ns <= 2e6
        assert ("not met" in str(row.cells["met"])) is not each.met


@pytest.mark.long
def test_a_run_that_is_no_calibration_has_no_answer(tmp_path: Path) -> None:
    card = iocast.card("sim:nvme", time="1s", out=str(tmp_path))
    with pytest.raises(SpecError, match="is not a calibration"):
        _ = Calibrated(card).calibration


class Stopper(Quiet):
    """Stops when the row of a name begins."""

    def __init__(self, row: str) -> None:
        self.row, self.stops = row, False

    def working(self) -> AbstractContextManager[Stopping]:
        return nullcontext(lambda: self.stops)

    def progress(self, stopping: Stopping) -> QuietProgress:
        return Watching(self)


class Watching(QuietProgress):
    """Tells the listener which row begins."""

    def __init__(self, listener: Stopper) -> None:
        self.listener = listener

    def begin(self, phase: Phase, number: int, total: int, seconds_left: float | None) -> None:
        self.listener.stops |= phase.name == self.listener.row


def test_a_listener_may_stop_it_and_keeps_what_was_measured(tmp_path: Path) -> None:
    listener = Stopper("open 8k 50%")
    found = iocast.calibrate("sim:nvme,iops=5000/s", max_latency="2ms", time="5s", out=str(tmp_path), listener=listener)
    assert found.run.status == "interrupted"
    assert found.calibration.most is not None
    assert "no_streams" in found.calibration.refusals


@pytest.mark.parametrize(
    ("limit", "percentile", "block", "said"),
    [
        ("0ms", "99", "8k", "must be above 0"),
        ("ten", "99", "8k", "--max-latency"),
        ("10ms", "100", "8k", "not a percentile"),
        ("10ms", "median", "8k", "not a percentile"),
        ("10ms", "99", "4MiB", "512 bytes to 1MiB"),
    ],
)
def test_what_cannot_be_searched_is_refused(limit: str, percentile: str, block: str, said: str) -> None:
    with pytest.raises(SpecError) as refused:
        calibration_asked(CalibrateRequest(max_latency=limit, percentile=percentile, block=block))
    assert said in refused.value.message
