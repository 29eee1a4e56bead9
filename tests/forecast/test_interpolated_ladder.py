"""A size between two measured ones: the laws of the models, an interval that holds the truth, refusals beyond them."""

from __future__ import annotations

import math

import pytest
from makers.ladder_runs import ladder_run, pool
from makers.left_out import long_after
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.forecast.answer import Question, answer
from iocast.forecast.ladder_search import find_ladder
from iocast.forecast.load_forecast import Forecaster
from iocast.forecast.measured_ladder import Absent, MeasuredLadder, RequestedLoad
from iocast.report.forecast.forecast_report import forecast_report

LINKED = pool(4, "gamma:200us:0.7", ",link=100MB/s:20us")  # 82 us of an 8k I/O, 164 us of 16k, one after the other
TWELVE = RequestedLoad(size_bytes=12288)
ASK = Question(rate_per_s=4000, load=TWELVE, q=0.99, limit_s=0.004)


@pytest.fixture(scope="module")
def facts() -> Facts:
    return ladder_run(LINKED, seconds=5.0, sizes=("8k", "16k"))


@pytest.fixture(scope="module")
def between(facts: Facts) -> MeasuredLadder:
    found = find_ladder(facts, TWELVE, {}, {})
    assert isinstance(found, MeasuredLadder)
    return found


def test_times_are_straight_in_bytes_and_percentiles_in_logarithms(facts: Facts, between: MeasuredLadder) -> None:
    small, large = between.between
    assert [each.load.size_bytes for each in between.between] == [8192, 16384]
    part = math.log(12288 / 8192) / math.log(2)
    for few, mine, many in zip(small.levels, between.levels, large.levels, strict=True):
        assert 1 / mine.rate_per_s == pytest.approx((1 / few.rate_per_s + 1 / many.rate_per_s) / 2)
        for at in (10, 50, 99, 150):
            logs = [math.log(each.times_s[at]) for each in (few, many)]
            assert math.log(mine.times_s[at]) == pytest.approx((1 - part) * logs[0] + part * logs[1])
        assert mine.names == few.names + many.names
        assert list(mine.times_s) == sorted(mine.times_s)
        assert mine.mean_error == max(few.mean_error, many.mean_error)


def test_the_interval_reaches_from_one_size_to_the_other(between: MeasuredLadder) -> None:
    by = Forecaster(between)
    small, large = (Forecaster(each) for each in between.between)
    for q in (None, 0.5, 0.95, 0.99):
        low, mine, high = (each.at(4000).figure(q) for each in (small, by, large))
        assert low.base_s < mine.base_s < high.base_s
        assert mine.low_s <= low.low_s * 1.02
        assert mine.high_s >= high.high_s * 0.98
    assert by.limit_per_s == large.limit_per_s
    busy = by.utilisation(4000)
    assert (busy.low, busy.high) == (small.utilisation(4000).low, large.utilisation(4000).high)


@pytest.mark.parametrize(
    "device",
    long_after(
        1,
        [
            LINKED,
            pool(8, "exponential:1ms", ",throughput=40MB/s"),
            pool(1, "exponential:1ms", ",stripe=8:8KiB"),  # 12k crosses one stripe, 16k one too
            "sim:sata-ssd",
            "sim:hdd",
        ],
    ),
)
def test_what_was_not_measured_lies_in_the_interval(device: str) -> None:
    seconds = 60.0 if device == "sim:hdd" else 3.0
    facts = ladder_run(device, seconds=seconds, sizes=("8k", "16k"), loads=(1, 2, 4, 8, 16, 32))
    found = find_ladder(facts, TWELVE, {}, {})
    assert isinstance(found, MeasuredLadder)
    by = Forecaster(found)
    for share in (0.3, 0.6, 0.8):
        rate = share * by.limit_per_s
        truth = ladder_run(device, loads=(), rates=(rate,), size="12k", seconds=10 * seconds).rows[0].response()
        for figure in by.at(rate).figures:
            right = truth.mean_ns / 1e9 if figure.q is None else truth.quantile_ns(figure.q) / 1e9
            assert figure.low_s * 0.998 <= right <= figure.high_s * 1.002, (share, figure.q)


def test_a_size_beyond_the_measured_ones_is_refused(facts: Facts) -> None:
    for size in (4096, 32768):
        asked = RequestedLoad(size_bytes=size)
        found = find_ladder(facts, asked, {}, {})
        assert isinstance(found, Absent)
        assert found.code == "no_such_rows"
        said = forecast_report(answer(replace(ASK, load=asked), facts, {}, {}), (), {}).verdict
        assert said.startswith("UNKNOWN: the run has no closed rows of random ")
        assert said.endswith("a size is read between measured ones only, never beyond them.")


def test_refused_rows_of_one_side_leave_nothing_to_read_between(facts: Facts) -> None:
    large = {row.name: "trust D" for row in facts.rows if row.workload.mix[0].size_bytes == 16384}
    assert isinstance(find_ladder(facts, TWELVE, large, {}), Absent)


def test_the_report_says_what_it_stands_on(facts: Facts) -> None:
    given = answer(ASK, facts, {}, {})
    assert given.verdict in ("ok", "marginal")
    report = forecast_report(given, (), {}, explain=True)
    (basis,) = (each for each in report.sections if each.code == "basis")
    assert basis.paragraphs[0].startswith("12k was not measured: each load is read between its rows of 8k and 16k.")
    (steps,) = (each for each in report.sections if each.code == "arithmetic")
    assert steps.paragraphs[0].startswith("0. The size lies between two measured ones, 8192 and 16384 bytes, 0.5 of")
    assert "IOPS measured" not in report.verdict


def test_more_than_the_larger_size_did_is_unknown(facts: Facts, between: MeasuredLadder) -> None:
    small, large = (each.ladder.last_per_s for each in between.between)
    asked = replace(ASK, limit_s=1.0, rate_per_s=(0.95 * small + large) / 2)
    given = answer(asked, facts, {}, {})
    assert (given.verdict, given.reason) == ("unknown", "between_sizes")
    assert "16k, the next larger size" in forecast_report(given, (), {}).verdict
    given = answer(replace(asked, rate_per_s=small), facts, {}, {})
    assert (given.verdict, given.reason) == ("not_ok", "overloaded")
