"""The answer to a question: each verdict with what decided, bursts, open-loop rows that contradict it, what if."""

from __future__ import annotations

import pytest
from makers.ladder_runs import ladder_run, pool
from makers.left_out import long_after
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.errors import SpecError
from iocast.forecast.answer import Answer, Question, StalledTime, answer, stalled_time
from iocast.forecast.arithmetic import arithmetic
from iocast.forecast.measured_ladder import RequestedLoad
from iocast.forecast.rate_profile import burst_profile, overload, settled
from iocast.forecast.what_if import Cached, LoadTimes, OnVolume, parse_change, what_if
from iocast.model.row_stops import RowStops

pytestmark = pytest.mark.slow

ASK = Question(rate_per_s=4000, load=RequestedLoad(size_bytes=8192), q=0.99, limit_s=0.008)


@pytest.fixture(scope="module")
def facts() -> Facts:
    return ladder_run(pool(8))


@pytest.fixture(scope="module")
def fine(facts: Facts) -> Answer:
    return answer(ASK, facts, {}, {})


@pytest.mark.parametrize(
    ("rate", "limit_s", "given", "reason"),
    long_after(
        1,
        [
            (4000, 0.008, "ok", "within"),
            (6000, 0.008, "marginal", "busy"),
            (4000, 0.005, "marginal", "upper_beyond"),
            (7000, 0.0065, "at_risk", "upper_beyond"),
            (4000, 0.0045, "at_risk", "base_beyond"),
            (4000, 0.002, "not_ok", "lower_beyond"),
            (7900, 0.050, "not_ok", "overloaded"),
        ],
    ),
)
def test_each_verdict(facts: Facts, rate: float, limit_s: float, given: str, reason: str) -> None:
    found = answer(replace(ASK, rate_per_s=rate, limit_s=limit_s), facts, {}, {})
    assert (found.verdict, found.reason) == (given, reason)


@pytest.mark.long
def test_rows_of_trust_c_are_no_ok(facts: Facts) -> None:
    """One of seven in the middle is none too many; the first one, the last one or two are."""
    names = [row.name for row in facts.rows]
    for weak in (names[:1], names[-1:], names[2:4]):
        found = answer(ASK, facts, {}, dict.fromkeys(weak, "short"))
        assert (found.verdict, found.reason) == ("marginal", "hint_only")
    assert answer(ASK, facts, {}, {names[3]: "short"}).verdict == "ok"


STALL_S = 0.3


def stops(facts: Facts, times: int, share: float = 1.0) -> tuple[RowStops, ...]:
    """So many stalls on a row of the ladder."""
    return (RowStops(facts.rows[3].name, (STALL_S,) * times, share),)


@pytest.mark.parametrize(
    ("times", "share", "limit_s", "given"),
    long_after(
        1,
        [
            (6, 1.0, 0.008, "at_risk"),  # 6 x 0.292 s of 140 s: 1.25 %
            (6, 0.5, 0.020, "ok"),  # half of the outstanding I/Os went on: 0.6 %
            (1, 1.0, 0.020, "ok"),
            (600, 1.0, 0.4, "ok"),  # no stall is longer than the SLO
        ],
    ),
)
def test_stalls_that_break_the_percentile_are_no_ok(
    facts: Facts, times: int, share: float, limit_s: float, given: str
) -> None:
    asked = replace(ASK, limit_s=limit_s)
    assert answer(asked, facts, {}, {}).verdict == "ok"
    found = answer(asked, facts, {}, {}, stops=stops(facts, times, share))
    assert found.verdict == given
    assert (found.reason == "stalled") == (given != "ok")
    assert (found.headroom is None) == (given != "ok")
    assert found.stalled is not None
    assert found.stalled.measured_s == pytest.approx(140, rel=0.01)
    late = times * share * max(0, STALL_S - limit_s) / found.stalled.measured_s
    assert found.stalled.late(limit_s) == pytest.approx(late)


def test_a_worse_verdict_stays_and_a_change_keeps_the_stalls(facts: Facts) -> None:
    worse = answer(replace(ASK, limit_s=0.002), facts, {}, {}, stops=stops(facts, 6))
    assert (worse.verdict, worse.reason) == ("not_ok", "lower_beyond")
    half = what_if("load/2", parse_change("load/2"), answer(ASK, facts, {}, {}, stops=stops(facts, 6)))
    assert half.answer is not None
    assert (half.answer.verdict, half.answer.reason) == ("at_risk", "stalled")


def test_stalls_and_slow_ios_between_them_share_what_the_percentile_leaves(facts: Facts) -> None:
    """1.0 % of all I/Os may be late: 0.84 % of arrivals meet a stall, and as many take longer than the SLO as the
    forecast says."""
    tight = replace(ASK, limit_s=0.0065)
    assert answer(tight, facts, {}, {}).verdict == "ok"
    found = answer(tight, facts, {}, {}, stops=stops(facts, 4))
    assert (found.verdict, found.reason) in {("marginal", "stalled"), ("at_risk", "stalled")}


def test_stalls_lift_a_mean_by_half_their_square(facts: Facts) -> None:
    asked = replace(ASK, q=None, limit_s=0.002)
    assert answer(asked, facts, {}, {}).verdict == "ok"
    found = answer(asked, facts, {}, {}, stops=stops(facts, 6))
    assert found.stalled is not None
    assert found.stalled.added_s == pytest.approx(6 * STALL_S**2 / 2 / found.stalled.measured_s)
    assert (found.verdict, found.reason) == ("at_risk", "stalled")


def test_stalls_of_other_rows_count_where_those_of_the_load_had_none(facts: Facts) -> None:
    other = stalled_time(facts, RequestedLoad(size_bytes=4096), stops(facts, 1))
    assert isinstance(other, StalledTime)
    assert other.measured_s == pytest.approx(140, rel=0.01)
    assert stalled_time(facts, ASK.load, ()) is None


def test_a_ladder_that_was_still_rising_says_little() -> None:
    short = ladder_run(pool(64), loads=(1, 2, 4, 8), seconds=5.0)
    asked = replace(ASK, rate_per_s=7000, limit_s=0.050)
    assert answer(asked, short, {}, {}).reason == "unsaturated"
    assert answer(replace(asked, rate_per_s=9000), short, {}, {}).verdict == "unknown"
    assert answer(replace(asked, rate_per_s=3000), short, {}, {}).verdict == "ok"


@pytest.mark.long
def test_headroom_is_where_the_verdict_changes(facts: Facts, fine: Answer) -> None:
    room = fine.headroom
    assert room is not None
    for rate, given in (
        (room.ok_per_s * 0.99, "ok"),
        (room.ok_per_s * 1.01, "marginal"),
        (room.marginal_per_s * 1.01, "at_risk"),
    ):
        assert answer(replace(ASK, rate_per_s=rate), facts, {}, {}).verdict == given


@pytest.mark.long
def test_open_loop_rows_are_held_against_it() -> None:
    rates = (1600, 3200, 4800, 5600, 6400, 7200)
    facts = ladder_run(pool(8), rates=rates)
    found = answer(ASK, facts, {}, {})
    assert [row.rate_per_s for row in found.rows] == list(rates)
    assert all(not row.outside() and row.kept_up for row in found.rows)
    assert found.fit is not None
    assert found.verdict == "ok"


@pytest.mark.parametrize(
    ("servers", "law", "rates", "given", "reason", "kept", "broken"),
    long_after(
        1,
        [
            # Each I/O takes four times as long: the p99 of 18 ms breaks the SLO at any rate.
            (32, "exponential:4ms", (4000.0, 4800.0), "not_ok", "measured_beyond", None, 4000.0),
            # At the peak all is well, half above it the storage falls behind.
            (14, "constant:3ms", (4000.0, 6000.0), "ok", "measured_within", 4000.0, 6000.0),
            # The upper end of what was measured at the peak is unknown.
            (4, "constant:900us", (4000.0, 4800.0), "at_risk", "measured_unsure", None, 4800.0),
            (6, "constant:2ms", (4000.0,), "not_ok", "measured_beyond", None, 4000.0),
            # Far quicker than foretold, and so as good as foretold.
            (64, "constant:100us", (4000.0, 4800.0), "ok", "measured_within", 4800.0, None),
            # What was probed lies below the peak, and says nothing of it.
            (64, "constant:100us", (2000.0,), "unknown", "contradicted", 2000.0, None),
        ],
    ),
)
def test_what_open_loop_rows_measured_counts_where_it_contradicts(
    facts: Facts,
    servers: int,
    law: str,
    rates: tuple[float, ...],
    given: str,
    reason: str,
    kept: float | None,
    broken: float | None,
) -> None:
    probe = ladder_run(pool(servers, law), loads=(), rates=rates)
    found = answer(ASK, facts, {}, {}, probe=probe)
    assert (found.verdict, found.reason) == (given, reason)
    assert found.headroom is None, "it would rest on the forecast"
    assert found.replayed is not None
    ends = found.replayed.kept, found.replayed.broken
    assert [row and row.rate_per_s for row in ends] == [kept, broken]
    assert what_if("load/2", parse_change("load/2"), found).answer is None


def test_a_forecast_of_not_ok_that_was_kept_is_marginal(facts: Facts) -> None:
    probe = ladder_run(pool(64, "constant:100us"), loads=(), rates=(4000,))
    found = answer(replace(ASK, limit_s=0.001), facts, {}, {}, probe=probe)
    assert (found.verdict, found.reason) == ("marginal", "measured_within")


def test_rows_that_the_generator_spoilt_contradict_nothing(facts: Facts) -> None:
    probe = ladder_run(pool(32, "exponential:4ms"), loads=(), rates=(4000,))
    found = answer(ASK, facts, {}, {}, probe=probe, not_probed={probe.rows[0].name: "CPU-bound"})
    assert (found.verdict, found.replayed) == ("ok", None)


@pytest.mark.long
def test_few_arrivals_by_chance_are_no_falling_behind(facts: Facts) -> None:
    """Of ten a second for five seconds there may be forty: that is 20% fewer, and no storage that cannot do ten."""
    for seed in range(1, 9):
        (row,) = answer(
            ASK, facts, {}, {}, probe=ladder_run(pool(8), loads=(), rates=(10,), seconds=5.0, seed=seed)
        ).rows
        assert not row.fell_behind


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
