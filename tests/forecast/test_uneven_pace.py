"""A storage that is slow at times for reasons of its own: the backlog of an open load is forecast, or measured."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise

import pytest
from makers.ladder_runs import ladder_run, pool

from iocast.analyse.facts import Facts
from iocast.forecast.answer import Question, answer
from iocast.forecast.ladder_search import find_ladder
from iocast.forecast.load_forecast import Forecaster
from iocast.forecast.measured_ladder import MeasuredLadder, RequestedLoad
from iocast.forecast.uneven_pace import SlowTimes

LOAD = RequestedLoad(size_bytes=8192)
# Its neighbour takes 3,000 of 4,000 I/Os a second for 0.3 s in each 1.5 s.
BURSTS = pool(4, more=",noise=3000/s:300ms/1500ms")
# Open loops of 3 x 180 s at 2,216 IOPS.
TRUTH_S = {None: 16.9e-3, 0.95: 81e-3, 0.99: 100e-3}


@cache
def climbed(device: str, seconds: float = 30.0) -> Facts:
    return ladder_run(device, seconds=seconds)


def by(device: str, seconds: float = 30.0) -> Forecaster:
    ladder = find_ladder(climbed(device, seconds), LOAD, {}, {})
    assert isinstance(ladder, MeasuredLadder)
    return Forecaster(ladder)


def test_what_piles_up_while_a_neighbour_is_there_lies_in_the_interval() -> None:
    """A closed load waits with the storage: it was told 5.5 to 10.7 ms where the p99 is 100 ms, and "surely"."""
    given = by(BURSTS).at(2216)
    for q, truth_s in TRUTH_S.items():
        figure = given.figure(q)
        assert figure.low_s <= truth_s <= figure.high_s, q
        assert figure.base_s > 0.3 * truth_s, "the expected value knows of the backlog, too"


@pytest.mark.parametrize(
    ("more", "slow_per_s", "lasts_s"),
    [(",noise=3000/s:300ms/1500ms", 1000, 0.3), (",noise=2000/s:2s/7s", 2000, 2.0)],
)
def test_its_slow_times_are_known_from_closed_rows(more: str, slow_per_s: float, lasts_s: float) -> None:
    slow = by(pool(4, more=more), 60.0).slow_times(3000)
    assert slow is not None
    assert slow.slow_per_s == pytest.approx(slow_per_s, rel=0.7)
    assert slow.quick_per_s == pytest.approx(4000, rel=0.1)
    assert slow.lasts_s / 2 < lasts_s < 2 * slow.most_s


@pytest.mark.parametrize(
    "device",
    [
        pool(4),
        pool(2, "hyper:97.5%:500us:20500us"),
        pool(8, "bimodal:90%:400us:6400us"),
        pool(1, "exponential:1ms", ",stripe=8:8KiB"),
        pool(4, "exponential:1ms", ",hit=70%:50us"),
        pool(16, "exponential:1ms", ",iops=5000/s"),
        pool(16, "lognormal:1ms:1.5"),
    ],
)
def test_stripes_hits_and_service_times_of_any_kind_are_no_slow_times(device: str) -> None:
    """There I/Os differ from each other, and not times."""
    assert by(device, 20.0).slow_times(1e9) is None


def test_without_an_open_row_a_storage_that_is_slow_at_times_is_at_risk() -> None:
    question = Question(rate_per_s=2216, load=LOAD, q=0.99, limit_s=0.060)
    given = answer(question, climbed(BURSTS), {}, {})
    assert (given.verdict, given.reason) == ("at_risk", "uneven_pace")
    assert given.slow is not None
    assert given.headroom is not None
    assert given.headroom.surely_per_s < 2216, "it was 3,030"


@pytest.mark.long
def test_more_load_is_never_quicker() -> None:
    """Where the load passes the slow pace a backlog begins, and the queue of the slow time stays: the expected p99 fell
    from 48 to 11 ms there, and headroom is searched by halving."""
    forecaster = by(BURSTS)
    forecasts = [forecaster.at(100 * at) for at in range(5, 31)]
    for q in (None, 0.95, 0.99):
        for before, after in pairwise(each.figure(q) for each in forecasts):
            assert after.base_s > 0.98 * before.base_s, q
            assert after.high_s > 0.98 * before.high_s, q


@pytest.mark.parametrize(("limit_s", "verdict"), [(0.060, "not_ok"), (0.300, "marginal")])
def test_an_open_row_decides(limit_s: float, verdict: str) -> None:
    question = Question(rate_per_s=2216, load=LOAD, q=0.95, limit_s=limit_s)
    facts = climbed(BURSTS)
    probe = ladder_run(BURSTS, loads=(), rates=(2216,), seconds=180.0)
    given = answer(question, facts, {}, {}, probe=probe)
    assert given.verdict == verdict
    assert given.replayed is not None
    assert not given.replayed.contradicts


def test_where_it_is_never_slower_than_the_load_nothing_is_said() -> None:
    question = Question(rate_per_s=600, load=LOAD, q=0.99, limit_s=0.060)
    given = answer(question, climbed(BURSTS), {}, {})
    assert given.slow is None
    assert given.verdict in ("ok", "marginal")


def test_delays_behind_slow_times_are_those_of_a_fluid() -> None:
    """By hand: 1,000 I/Os arrive each second; 0.1 s of 500/s, then quick times of 0.9 s at 2,000/s."""
    slow = SlowTimes(share=0.1, slow_per_s=500, quick_per_s=2000, lasts_s=0.1, most_s=0.1)
    even = slow.usual_delays(1000)
    # 50 I/Os wait at the end of a slow time, and are done after another 0.05 s.
    assert math.fsum(each.share for each in even) == pytest.approx(0.1 * 1.5)
    assert max(each.delay_s for each in even) == pytest.approx(0.05, abs=0.002), "in the midst of it"
    random = slow.most_delays(1000)
    # Rises of 500/s for 0.1 s, falls of 1,000/s for 0.9 s: they fall off by 1/50 - 1/900 for each I/O.
    assert math.fsum(each.share for each in random) == pytest.approx(0.1 * 1.5)
    behind = math.fsum(each.share for each in random if each.delay_s > 0.05)
    assert 0.01 < behind < 0.08
    assert slow.most_delays(400) == slow.usual_delays(400) == []
