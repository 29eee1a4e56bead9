"""The answer to a question: each verdict with what decided, bursts, open-loop rows that contradict it, what if."""

from __future__ import annotations

import pytest
from makers.ladder_runs import ladder_run, pool
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.errors import SpecError
from iocast.forecast.answer import Answer, Question, answer
from iocast.forecast.arithmetic import arithmetic
from iocast.forecast.measured_ladder import AskedLoad
from iocast.forecast.rate_profile import burst_profile, overload, settled
from iocast.forecast.what_if import Cached, LoadTimes, OnVolume, parse_change, what_if

ASK = Question(rate_per_s=4000, load=AskedLoad(size_bytes=8192), q=0.99, limit_s=0.008)


@pytest.fixture(scope="module")
def facts() -> Facts:
    return ladder_run(pool(8))


@pytest.fixture(scope="module")
def fine(facts: Facts) -> Answer:
    return answer(ASK, facts, {}, {})


@pytest.mark.parametrize(
    ("rate", "limit_s", "given", "reason"),
    [
        (4000, 0.008, "ok", "within"),
        (6000, 0.008, "marginal", "busy"),
        (4000, 0.005, "marginal", "upper_beyond"),
        (7000, 0.0065, "at_risk", "upper_beyond"),
        (4000, 0.0045, "at_risk", "base_beyond"),
        (4000, 0.002, "not_ok", "lower_beyond"),
        (7900, 0.050, "not_ok", "overloaded"),
    ],
)
def test_each_verdict(facts: Facts, rate: float, limit_s: float, given: str, reason: str) -> None:
    found = answer(replace(ASK, rate_per_s=rate, limit_s=limit_s), facts, {}, {})
    assert (found.verdict, found.reason) == (given, reason)


def test_rows_of_trust_c_are_no_ok(facts: Facts) -> None:
    """One of seven in the middle is none too many; the first one, the last one or two are."""
    names = [row.name for row in facts.rows]
    for weak in (names[:1], names[-1:], names[2:4]):
        found = answer(ASK, facts, {}, dict.fromkeys(weak, "short"))
        assert (found.verdict, found.reason) == ("marginal", "hint_only")
    assert answer(ASK, facts, {}, {names[3]: "short"}).verdict == "ok"


def test_a_ladder_that_was_still_rising_says_little() -> None:
    short = ladder_run(pool(64), loads=(1, 2, 4, 8), seconds=5.0)
    asked = replace(ASK, rate_per_s=7000, limit_s=0.050)
    assert answer(asked, short, {}, {}).reason == "unsaturated"
    assert answer(replace(asked, rate_per_s=9000), short, {}, {}).verdict == "unknown"
    assert answer(replace(asked, rate_per_s=3000), short, {}, {}).verdict == "ok"


def test_headroom_is_where_the_verdict_changes(facts: Facts, fine: Answer) -> None:
    room = fine.headroom
    assert room is not None
    for rate, given in (
        (room.ok_per_s * 0.99, "ok"),
        (room.ok_per_s * 1.01, "marginal"),
        (room.marginal_per_s * 1.01, "at_risk"),
    ):
        assert answer(replace(ASK, rate_per_s=rate), facts, {}, {}).verdict == given


def test_open_loop_rows_are_held_against_it() -> None:
    rates = (1600, 3200, 4800, 5600, 6400, 7200)
    facts = ladder_run(pool(8), rates=rates)
    found = answer(ASK, facts, {}, {})
    assert [row.rate_per_s for row in found.rows] == list(rates)
    assert all(not row.outside() and row.kept_up for row in found.rows)
    assert found.fit is not None
    assert found.verdict == "ok"


def test_rows_outside_of_the_interval_make_it_unknown(facts: Facts) -> None:
    """What was probed is another storage: each I/O takes four times as long."""
    probe = ladder_run(pool(32, "exponential:4ms"), loads=(), rates=(4000,))
    found = answer(ASK, facts, {}, {}, probe)
    assert (found.verdict, found.reason) == ("unknown", "contradicted")


def test_a_burst_below_capacity_settles(facts: Facts) -> None:
    asked = replace(ASK, profile=burst_profile(4000, 6000, 30, 600))
    found = answer(asked, facts, {}, {})
    assert (found.verdict, found.reason) == ("marginal", "busy")
    assert found.over_time is not None
    assert found.forecast is not None
    assert found.base_forecast is not None
    ends = [each.figure(None).base_s for each in (found.base_forecast, found.forecast)]
    by = found.forecaster
    assert by is not None
    assert asked.profile is not None
    mean = settled(asked.profile, by, None)
    assert mean is not None
    weight = 6000 * 30 / (6000 * 30 + 4000 * 570)  # of I/Os, not of time
    assert mean.base_s == pytest.approx(ends[0] + weight * (ends[1] - ends[0]), rel=1e-3)


def test_a_burst_above_capacity_leaves_a_backlog(facts: Facts) -> None:
    asked = replace(ASK, profile=burst_profile(4000, 12_000, 10, 600))
    found = answer(asked, facts, {}, {})
    assert (found.verdict, found.reason) == ("not_ok", "backlog")
    assert found.overload is not None
    capacity = found.overload.capacity_per_s
    assert found.overload.backlog_ios == pytest.approx((12_000 - capacity) * 10)
    assert found.overload.delay_s == pytest.approx((12_000 - capacity) * 10 / capacity)
    drain_s = (12_000 - capacity) * 10 / (capacity - 4000)
    waiting = (12_000 * 10 + 4000 * drain_s) / (12_000 * 10 + 4000 * 590)
    assert found.overload.affected == pytest.approx(waiting)
    rare = answer(replace(ASK, profile=burst_profile(4000, 12_000, 0.01, 600)), facts, {}, {})
    assert (rare.verdict, rare.reason) == ("at_risk", "backlog")
    lasting = overload(burst_profile(7900, 12_000, 30, 60), 8000)
    assert lasting is not None
    assert lasting.lasting


def test_what_if(fine: Answer) -> None:
    twice = what_if("load*2", parse_change("load*2"), fine)
    assert twice.answer is not None
    assert (twice.answer.question.rate_per_s, twice.answer.verdict) == (8000, "not_ok")
    cached = what_if("cache=50%:200us", parse_change("cache=50%:200us"), fine)
    assert cached.answer is not None
    assert (cached.answer.verdict, cached.answer.reason) == ("marginal", "hint_only")
    gp3 = what_if("volume=gp3", parse_change("volume=gp3"), fine)
    assert gp3.answer is None
    assert gp3.limit is not None
    assert (gp3.limit.iops, gp3.limit.allows, gp3.limit.binds) == (80_000, True, "IOPS")


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("load*2", LoadTimes(2.0)),
        ("load / 4", LoadTimes(0.25)),
        ("load+20%", LoadTimes(1.2)),
        ("load-50%", LoadTimes(0.5)),
        ("cache=80%:150us", Cached(0.8, 0.00015)),
        ("volume=io2", OnVolume("io2")),
    ],
)
def test_changes_are_understood(text: str, change: object) -> None:
    assert parse_change(text) == change


@pytest.mark.parametrize(
    "text", ["load", "load*0", "load+2", "load*2%", "load/0", "cache=100%:1ms", "volume=floppy", ""]
)
def test_other_changes_are_refused(text: str) -> None:
    with pytest.raises(SpecError):
        parse_change(text)


def test_the_arithmetic_adds_up(fine: Answer) -> None:
    by = fine.forecaster
    assert by is not None
    assert fine.forecast is not None
    steps = arithmetic(by, 4000, 0.99)
    mean = sum(line.chance * line.response_s for line in steps.lines) + steps.rest_mean_s
    assert mean == pytest.approx(steps.mean_s)
    assert mean == pytest.approx(fine.forecast.figure(None).base_s, rel=1e-4)
    within = sum(line.chance * (line.within or 0) for line in steps.lines) + steps.rest_within
    assert within == pytest.approx(0.99, abs=2e-4)
    weight = 1.0
    for line in steps.lines[1:]:
        weight *= line.factor
        assert line.weight == pytest.approx(weight)
    low, _, high = steps.figure.model_s
    wide = 2.718281828**steps.figure.sampling
    assert steps.figure.low_s == pytest.approx(0.9 * low / wide)
    assert steps.figure.high_s == pytest.approx(1.15 * high * wide)
