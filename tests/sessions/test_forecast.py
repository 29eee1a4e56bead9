"""iocast forecast as Python sees it: from a folder, with the load as text; measured and verified on simulated paths."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers.ladder_runs import pool
from makers.recording import Recording

import iocast
from iocast.errors import SpecError
from iocast.forecast.measured_ladder import MeasuredLadder
from iocast.sessions.forecasting.asked_load import parse_limit, question_of, read_rates
from iocast.sessions.forecasting.forecast import Forecasted, forecast
from iocast.sessions.requests.forecast import ForecastRequest, LoadOptions

LOAD = LoadOptions(iops="4000", slo="p99=8ms")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Forecasted:
    """A ladder that was measured for the question, on 8 servers of 1 ms."""
    out = tmp_path_factory.mktemp("runs")
    found = forecast(ForecastRequest(load=LOAD, measure=pool(8), out=str(out)), Recording())
    assert found is not None
    return found


def test_a_ladder_is_measured_and_answers(measured: Forecasted) -> None:
    assert measured.verdict in ("ok", "marginal")
    assert measured.answer.forecast is not None
    assert Path(measured.folder, "run.json").exists()
    again = iocast.forecast(measured.folder, iops=4000, slo="p99=8ms", what_if=["load*2"])
    assert again.verdict == measured.verdict
    assert again.report().verdict == measured.report().verdict
    assert again.what_ifs[0].answer is not None
    assert again.what_ifs[0].answer.verdict == "not_ok"


@pytest.mark.long
def test_the_load_is_replayed_and_held_against_the_forecast(measured: Forecasted, tmp_path: Path) -> None:
    found = iocast.forecast(measured.folder, iops=4000, slo="p99=8ms", verify=pool(8), out=str(tmp_path))
    assert [row.rate_per_s for row in found.answer.rows] == [4000, 4000, 4800, 4800], "and those of the ladder"
    assert found.verdict == measured.verdict
    other = iocast.forecast(
        measured.folder, iops=4000, slo="p99=8ms", verify=pool(32, "exponential:4ms"), out=str(tmp_path)
    )
    assert (other.verdict, other.answer.reason, other.answer.headroom) == ("not_ok", "measured_beyond", None)
    with pytest.raises(SpecError, match="--verify would ask for 9000 IOPS"):
        iocast.forecast(measured.folder, iops=9000, verify=pool(8), out=str(tmp_path))


@pytest.mark.long
def test_short_rows_are_a_hint_at_most(tmp_path: Path) -> None:
    out = str(tmp_path / "runs")
    found = forecast(ForecastRequest(load=LOAD, measure=pool(8), seconds=4.0, out=out), Recording())
    assert found is not None
    assert found.verdict == "marginal"
    assert isinstance(found.answer.ladder, MeasuredLadder)
    assert set(found.answer.ladder.unsure) == set(found.answer.ladder.names)


@pytest.mark.long
def test_rows_that_trust_refuses_are_not_used(tmp_path: Path) -> None:
    """Stalls of 2 s in 5 leave rows that are not steady: trust D."""
    stalling = pool(8, more=",stall=2s/5s")
    found = forecast(ForecastRequest(load=LOAD, measure=stalling, seconds=20.0, out=str(tmp_path)), Recording())
    assert found is not None
    refused = {name for name, letter in found.trust.items() if letter in ("D", "F")}
    assert refused
    ladder = found.answer.ladder
    assert refused.isdisjoint(ladder.names if isinstance(ladder, MeasuredLadder) else ())
    assert found.verdict != "ok"


def test_the_load_as_text() -> None:
    asked = question_of(LoadOptions(iops="4,000", read="70", size="16k", slo="mean<2ms", burst="9k:30s/10m", cv2=2.0))
    assert (asked.rate_per_s, asked.load.read_share, asked.load.size_bytes) == (4000, 0.7, 16384)
    assert (asked.q, asked.limit_s, asked.arrival_cv2) == (None, 0.002, 2.0)
    assert asked.profile is not None
    assert (asked.peak_per_s, asked.profile.seconds) == (9000, 600)
    assert parse_limit("p99.9=20ms") == (pytest.approx(0.999), 0.02)


def test_rates_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "rates.csv"
    file.write_text("seconds,iops\n60,1000\n\n30,4000\n")
    found = read_rates(str(file))
    assert [tuple(each) for each in found.stretches] == [(60, 1000), (30, 4000)]
    assert (found.peak_per_s, found.mean_per_s) == (4000, 2000)
    file.write_text("100\n200\n")
    assert read_rates(str(file)).mean_per_s == 150
    for text, where in (
        ("60,1000\n60,x\n", "line 2"),
        ("60,-1\n", "line 1"),
        ("0,5\n", "line 1"),
        ("1,2,3\n", "line 1"),
    ):
        file.write_text(text)
        with pytest.raises(SpecError, match=where):
            read_rates(str(file))
    with pytest.raises(SpecError, match="cannot be read"):
        read_rates(str(tmp_path / "none.csv"))


@pytest.mark.parametrize(
    "change",
    [
        {"iops": None},
        {"iops": "-5"},
        {"iops": "0"},
        {"iops": "many"},
        {"read": "120%"},
        {"size": "0"},
        {"slo": "p99"},
        {"slo": "p99=5"},
        {"slo": "p0=5ms"},
        {"slo": "p99=0ms"},
        {"burst": "9000"},
        {"burst": "3000:30s/10m"},
        {"burst": "9000:30s/10s"},
        {"rates": "x.csv"},
        {"cv2": -1.0},
        {"cv2": float("nan")},
    ],
)
def test_loads_that_make_no_sense_are_refused(change: dict[str, object]) -> None:
    options = {"iops": "4000", **change}
    with pytest.raises(SpecError) as refused:
        question_of(LoadOptions(**options))  # type: ignore[arg-type]
    assert refused.value.hint


def test_one_source_is_needed(tmp_path: Path) -> None:
    for folder, path in ((None, None), ("a", "b")):
        with pytest.raises(SpecError, match="either --on RUN or --measure PATH"):
            forecast(ForecastRequest(load=LOAD, folder=folder, measure=path), Recording())


@pytest.mark.long
def test_what_chance_leaves_open_of_a_percentile_is_in_the_interval_and_refuses_no_row(tmp_path: Path) -> None:
    """22 of 60 loads were UNKNOWN as rows of 30 s know their p99 to 25 or 35%; the interval of a forecast has that."""
    found = forecast(
        ForecastRequest(
            load=LoadOptions(iops="1000", slo="mean=5ms"),
            measure=pool(4, "hyper:97.5%:500us:20500us"),
            out=str(tmp_path),
        ),
        Recording(),
    )
    assert isinstance(found, Forecasted)
    assert isinstance(found.answer.ladder, MeasuredLadder)
    assert not [why for why in found.answer.ladder.excluded.values() if why.startswith("trust")]
