"""Several calibrations of one storage: their maxima side by side, whether they agree, and what is not compared."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from iocast.forecast.repeated_maxima import repeated_maxima
from iocast.model.report import Report
from iocast.report.renderers import RENDERERS, documents, json_report
from iocast.sessions.comparing import Repeats
from iocast.sessions.forecasting.repeat_calibration import repeat_calibration
from iocast.sessions.listener import Quiet
from iocast.sessions.requests.calibrate import CalibrateRequest
from iocast.sessions.requests.run_options import RunOptions

DEVICE = "sim:nvme,service=exponential:1ms,servers=4,bandwidth=none"


@pytest.fixture(scope="module")
def repeats(tmp_path_factory: pytest.TempPathFactory) -> Repeats:
    options = RunOptions(out=str(tmp_path_factory.mktemp("runs")), duration_ns=5_000_000_000)
    request = CalibrateRequest(path=DEVICE, max_latency="8ms", percentile="mean", options=options)
    made = repeat_calibration(request, 3, Quiet())
    assert made is not None
    return made


def told(report: Report) -> Any:
    out = io.StringIO()
    json_report.render(report, out)
    return msgspec.json.decode(out.getvalue(), type=documents.DOCUMENTS["repeats"])


@pytest.mark.long
def test_each_run_has_a_seed_of_its_own_and_all_stand_in_one_folder(repeats: Repeats) -> None:
    assert [run.plan.seed for run in repeats.side.runs] == [1, 2, 3]
    assert len(list(Path(repeats.folder).iterdir())) == 3


def test_the_maxima_repeat_on_a_storage_that_does_not_change(repeats: Repeats) -> None:
    report = repeats.report()
    found = {each.code: each for each in told(report).maxima}
    assert set(found) == {"within_limit", "most_iops", "most_throughput", "single_process"}
    most = found["most_iops"]
    assert (most.verdict, len(most.values), most.unknown) == ("repeats", 3, 0)
    assert list(most.values) == [pytest.approx(4000, rel=0.05)] * 3
    assert most.scatter_share is not None
    assert 0 < most.scatter_share < 0.03
    assert "Most IOPS repeat: " in report.verdict
    assert report.verdict.startswith("IOPS within a mean of 8 ms repeat: ")


def test_rows_at_rates_are_not_compared_because_each_run_chose_its_own(repeats: Repeats) -> None:
    rows = [row.phase for row in told(repeats.report()).repeats]
    assert any(name.startswith("randread") for name in rows)
    assert any(name.startswith("stream") for name in rows)
    assert not [name for name in rows if name.startswith("open")]


@pytest.mark.long
def test_what_scatters_does_not_repeat_and_what_is_missing_is_counted(repeats: Repeats) -> None:
    runs = list(repeats.side.runs)
    first = runs[0]
    slow = tuple(
        replace(each, measurement=replace(each.measurement, elapsed_ns=2 * each.measurement.elapsed_ns))
        if each.phase.test == "randread"
        else each
        for each in first.phases
    )
    odd = Repeats(repeats.folder, replace(repeats.side, runs=(replace(first, phases=slow), *runs[1:])))
    found = {each.code: each for each in told(odd.report()).maxima}
    assert found["most_iops"].verdict == "inconclusive"
    assert "Most IOPS do not repeat" in odd.report().verdict
    assert "find the cause before you rely on one calibration" in odd.report().verdict
    bare = replace(first, phases=tuple(each for each in first.phases if each.phase.test == "randread"))
    less = Repeats(repeats.folder, replace(repeats.side, runs=(bare, *runs[1:])))
    throughput = next(each for each in told(less.report()).maxima if each.code == "most_throughput")
    assert (throughput.unknown, throughput.verdict) == (1, "incomplete")


def test_runs_that_searched_other_limits_are_not_compared_by_them(repeats: Repeats) -> None:
    first, *others = repeats.side.runs
    asked = first.plan.calibration
    assert asked is not None
    for change, codes in (
        ({"max_latency_ns": 5_000_000}, {"most_iops", "most_throughput", "single_process"}),
        ({"block_bytes": 16384}, {"most_throughput", "single_process"}),
    ):
        other = replace(first, plan=replace(first.plan, calibration=replace(asked, **change)))
        mixed = Repeats(repeats.folder, replace(repeats.side, runs=(other, *others)))
        document = told(mixed.report())
        assert {each.code for each in document.maxima} == codes
        assert any(note.startswith("The runs do not search the same") for note in document.notes)


def test_the_page_has_its_charts(repeats: Repeats) -> None:
    report = repeats.report(charts=True)
    out = io.StringIO()
    RENDERERS["html"].render(report, out, colour=False, width=0)
    assert "within the limit" in out.getvalue()


def test_nothing_is_said_of_runs_that_say_nothing() -> None:
    assert repeated_maxima([None, None]) == ()
