"""Where measured rates cross a latency limit, between which of them, and which rate is measured next."""

from __future__ import annotations

import pytest

from iocast.forecast.limit_search import RatePoint, crossing, next_near

SERVICE_NS = 7.2e6
LIMIT_NS = 20e6
IDLE = RatePoint(138.9, SERVICE_NS, 0.98 * SERVICE_NS, 1.02 * SERVICE_NS)
ALLOWED = (1 - SERVICE_NS / LIMIT_NS) / SERVICE_NS * 1e9  # 88.9 a second


def mm1(rate: float, *, off: float = 1.0, known: float = 0.02) -> RatePoint:
    """A rate of one queue, measured `off` its true response and known to a share of it."""
    value = off * SERVICE_NS / (1 - rate * SERVICE_NS / 1e9)
    return RatePoint(rate, value, value * (1 - known), value * (1 + known))


def test_one_queue_crosses_where_its_formula_says() -> None:
    found = crossing([mm1(rate) for rate in (35, 70, 105, 130)], IDLE, LIMIT_NS)
    assert found.rate_per_s == pytest.approx(ALLOWED, rel=1e-6)
    assert (found.low_per_s, found.high_per_s, found.reached) == (70, 105, True)


def test_an_unsure_rate_narrows_neither_end() -> None:
    found = crossing([mm1(rate, known=0.03) for rate in (70, 88, 90, 105)], IDLE, LIMIT_NS)
    assert (found.low_per_s, found.high_per_s) == (70, 105)
    assert 88 < (found.rate_per_s or 0) < 90


def test_a_rate_above_the_first_that_broke_the_limit_cannot_hold_it() -> None:
    lucky = RatePoint(100, 10e6, 9e6, 11e6)
    found = crossing([mm1(70), mm1(95), lucky, mm1(120)], IDLE, LIMIT_NS)
    assert found.low_per_s == 70, "95 a second broke it before"
    assert found.high_per_s == 120, "100 a second kept it after"


def test_an_idle_storage_beyond_the_limit_allows_no_rate() -> None:
    found = crossing([mm1(35)], IDLE, 5e6)
    assert found.rate_per_s is None
    assert next_near([mm1(35)], IDLE, 5e6, 130) is None, "no further row would change it"


def test_rates_that_all_hold_are_a_lower_bound() -> None:
    found = crossing([mm1(35), mm1(70)], IDLE, LIMIT_NS)
    assert (found.rate_per_s, found.low_per_s, found.high_per_s, found.reached) == (70, 70, None, False)
    assert next_near([mm1(35), mm1(70)], IDLE, LIMIT_NS, 136) == 136, "the highest rate there is comes next"


def test_what_was_due_and_never_sent_broke_the_limit_however_fast_the_rest() -> None:
    unsent = RatePoint(130, 8e6, 7e6, 9e6, sustained=False)
    found = crossing([mm1(35), unsent], IDLE, LIMIT_NS)
    assert (found.rate_per_s, found.low_per_s, found.high_per_s) == (35, 35, 130)


def test_the_search_closes_in_and_ends() -> None:
    points, rates = [mm1(rate) for rate in (35, 70, 97, 111, 125, 132)], []
    while (rate := next_near(sorted(points), IDLE, LIMIT_NS, 136)) is not None:
        rates.append(rate)
        points.append(mm1(rate))
        assert len(rates) < 12
    found = crossing(sorted(points), IDLE, LIMIT_NS)
    assert found.low_per_s is not None
    assert found.high_per_s is not None
    assert 0.96 * ALLOWED < found.low_per_s < ALLOWED < found.high_per_s < 1.04 * ALLOWED


def test_a_rate_that_tells_nothing_only_says_where_to_look() -> None:
    doubtful = mm1(136)._replace(refused=True)
    points = [mm1(35), mm1(70), doubtful]
    rate = next_near(points, IDLE, LIMIT_NS, 136)
    assert rate == pytest.approx(1.024 * ALLOWED, rel=0.01), "just above where it would cross, if it were right"
    assert crossing(points[:2], IDLE, LIMIT_NS).reached is False, "no answer rests on it"


def test_a_rate_that_tells_nothing_is_measured_once_more_and_not_a_third_time() -> None:
    blurred = mm1(91)._replace(low_ns=1e6, high_ns=None)
    points = [mm1(35), mm1(70), blurred]
    assert next_near(points, IDLE, LIMIT_NS, 136) == pytest.approx(91, rel=0.001)
    assert next_near([*points, blurred], IDLE, LIMIT_NS, 136) != pytest.approx(91, rel=0.001)
