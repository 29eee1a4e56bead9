"""Steadiness: the published answers to the digit, and properties that no series may break."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iocast.analyse import steady
from iocast.model.run import Settled

VECTORS: dict[str, Any] = json.loads((Path(__file__).parent / "steady_vectors.json").read_text())


def _vectors(function: str) -> list[Any]:
    return [pytest.param(each, id=name) for name, each in VECTORS.items() if name.startswith(function)]


def noisy(levels: list[float], *, cv: float = 0.05, seed: int = 1) -> list[float]:
    """A series around these levels."""
    dice = random.Random(seed)
    return [level * max(0.01, 1 + cv * dice.gauss(0, 1)) for level in levels]


@pytest.mark.parametrize("vector", _vectors("stats.mser5"))
def test_mser5(vector: Any) -> None:
    cut = steady.mser5(vector["y"])
    assert (cut.batches, cut.cut_batches, cut.cut, cut.valid) == (
        vector["batches"],
        vector["cut_batches"],
        vector["cut_samples"],
        vector["valid"],
    )
    assert cut.stat == pytest.approx(vector["stat"], rel=1e-6)


def _mser5_as_defined(values: list[float]) -> tuple[int, float]:
    """The cut, every one tried by itself and without rounding."""
    means = [fmean(values[at : at + 5]) for at in range(0, len(values) - 4, 5)]

    def stat(cut: int) -> Fraction:
        kept = [Fraction(each) for each in means[cut:]]
        middle = sum(kept) / len(kept)
        return sum((each - middle) ** 2 for each in kept) / len(kept) ** 2

    best = min(range(len(means) // 2 + 1), key=stat)
    return best, float(stat(best))


@settings(max_examples=150, deadline=None)
@given(
    st.one_of(
        st.lists(st.integers(1, 9).map(float), min_size=5, max_size=80),
        st.lists(st.floats(1.0, 1e6), min_size=5, max_size=80),
        st.builds(
            lambda slow, calm, factor, seed: noisy([9e4 * factor] * slow + [9e4] * calm, seed=seed),
            st.integers(0, 60),
            st.integers(10, 90),
            st.floats(0.01, 100),
            st.integers(0, 99),
        ),
    )
)
def test_the_cut_is_that_of_the_definition(values: list[float]) -> None:
    cut = steady.mser5(values)
    best, stat = _mser5_as_defined(values)
    assert (cut.cut_batches, cut.stat) == (best, pytest.approx(stat, rel=1e-6, abs=1e-18 * max(values) ** 2))


def test_a_series_of_a_day_is_cut_where_its_warm_up_ends() -> None:
    day = noisy([3e4] * 30_000 + [9e4] * 56_400)  # one second each: trying every cut by itself took 20 s
    assert steady.mser5(day).cut == 30_000


@pytest.mark.parametrize("vector", _vectors("stats.batch_means"))
def test_batch_means(vector: Any) -> None:
    found = steady.batch_means(vector["y"])
    assert found is not None
    assert found.mean == pytest.approx(vector["mean"], rel=1e-7)
    assert found.half_width == pytest.approx(vector["half_width"], rel=1e-6)
    assert found.lag_1 == pytest.approx(vector["r1"], rel=1e-6)
    assert found.half_width_inflated == pytest.approx(vector["half_width_inflated"], rel=1e-6)


@pytest.mark.parametrize(
    ("rounds", "at"),
    [
        ([120, 110, 104, 101, 100, 99, 100, 101], 6),
        ([100, 112, 95, 108, 91, 103, 99], 6),
        ([100, 100, 125, 100, 100, 100, 100, 99], 7),
        ([80, 100, 80, 100, 80, 100, 80], None),
        ([0, 0, 0, 0, 0], None),
    ],
)
def test_the_rule_of_five_rounds(rounds: list[float], at: int | None) -> None:
    assert steady.snia_round(rounds) == at


@pytest.mark.parametrize(
    ("values", "deviation", "each", "window"),
    [
        ([100, 101, 99, 100, 102, 98, 100, 100, 101, 99], 2.0, -0.048484848, -0.43636364),
        ([100, 99, 98, 97, 96, 95, 94, 93, 92, 91], 4.7120419, -1.0471204, -9.4240838),
    ],
)
def test_what_fio_calls_steady(values: list[float], deviation: float, each: float, window: float) -> None:
    """Its slope is an interval's: the whole window drifts nine times as far."""
    assert 100 * steady.fio_deviation(values) == pytest.approx(deviation)
    assert 100 * steady.fio_slope(values) == pytest.approx(each)
    assert 100 * steady.fio_slope(values) * (len(values) - 1) == pytest.approx(window)


def test_a_steady_series_is_accepted_and_one_that_drifts_is_not() -> None:
    accepted = sum(steady.steadiness(noisy([1000.0] * 300, seed=seed)).b3 for seed in range(40))
    assert accepted >= 36
    drifting = [1000.0 * (1 - 0.2 * at / 300) for at in range(300)]
    assert not any(steady.steadiness(noisy(drifting, seed=seed)).b3 for seed in range(40))


def test_the_warm_up_is_cut_off_and_what_follows_judged() -> None:
    all_found = [steady.steadiness(noisy([500.0] * 60 + [1000.0] * 240, cv=0.02, seed=seed)) for seed in range(20)]
    assert sum(found.b3 for found in all_found) >= 16
    assert all(60 <= found.cut <= 150 and found.cut_valid for found in all_found)
    assert all(found.mean == pytest.approx(1000, rel=0.01) for found in all_found)


def test_steadiness_that_was_lost_is_told_with_its_time() -> None:
    found = steady.steadiness(noisy([1000.0] * 200 + [600.0] * 100, cv=0.03))
    assert not found.b3
    assert found.change is not None
    assert abs(found.cut + found.change.at - 200) <= 2
    assert found.change.shift == pytest.approx(-0.4, abs=0.03)


def test_a_slow_settling_passes_the_five_rounds_and_not_b3() -> None:
    settling = [1000.0 * (1 + 0.5 * math.exp(-at / 300)) for at in range(300, 600)]
    found = steady.steadiness(settling)
    assert (found.b3, found.snia) == (False, True)


def test_too_short_is_not_judged() -> None:
    found = steady.steadiness([1000.0] * 29)
    assert (found.judged, found.b3) == (False, False)
    assert steady.steadiness([]).length == 0
    assert steady.steadiness([1000.0] * 30).b3


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(0.0, 1e7), min_size=0, max_size=200),
    st.sampled_from([2.0**-40, 0.25, 4.0, 1024.0]),
)
def test_the_unit_changes_nothing(values: list[float], factor: float) -> None:
    """And no series, zeros included, breaks it."""
    one, other = steady.steadiness(values), steady.steadiness([factor * value for value in values])
    assert (one.b3, one.cut, one.cut_valid) == (other.b3, other.cut, other.cut_valid)
    assert not one.b3 or one.half_width <= steady.WITHIN


@given(st.floats(1.0, 1e9), st.integers(60, 400))
def test_a_constant_is_steady_from_its_beginning(level: float, length: int) -> None:
    found = steady.steadiness([level] * length)
    assert (found.b3, found.cut, found.change) == (True, 0, None)
    for rule in ("b3", "snia"):
        settled = steady.accepts(rule, [level] * length)
        assert settled is not None
        assert settled.at == 0


def test_batches_leave_out_what_remains_at_the_end() -> None:
    found = steady.batch_means([float(at) for at in range(40)] + [1000.0] * 19)
    assert found is not None
    assert (found.mean, found.low, found.high) == (19.5, 0.5, 38.5)
    assert steady.batch_means([1.0] * 19) is None


def test_batches_that_lean_on_each_other_widen_the_interval() -> None:
    """Batch means 1 1 ... 1 2 2 ... 2: by hand 4.75 / 5 of the squares are lagged."""
    found = steady.batch_means([1.0] * 10 + [2.0] * 10)
    assert found is not None
    assert found.lag_1 == pytest.approx((9 + 9 - 1) * 0.25 / 5)
    assert found.half_width == pytest.approx(steady.T_19 * math.sqrt(5 / 19 / 20))
    assert found.half_width_inflated == pytest.approx(found.half_width * math.sqrt(1.85 / 0.15))
    apart = steady.batch_means([1.0, 2.0] * 10)  # neighbours that differ do not make it narrower
    assert apart is not None
    assert apart.lag_1 < 0
    assert apart.half_width_inflated == apart.half_width


def test_a_slope_by_hand() -> None:
    assert steady.slope([1.0, 3.0, 5.0, 7.0]) == pytest.approx(2.0)
    assert steady.slope([5.0, 2.0]) == pytest.approx(-3.0)
    assert math.isnan(steady.slope([5.0]))


@pytest.mark.parametrize(
    ("rounds", "at"),
    [
        ([90, 110, 100, 100, 100], 4),  # an excursion of just 20 %
        ([90, 111, 100, 100, 100], None),
        ([95, 97.5, 100, 102.5, 105], 4),  # a drift of just 10 %
        ([94.5, 97.5, 100, 102.5, 105.5], None),
        ([105.5, 102.5, 100, 97.5, 94.5], None),
        ([100, 100, 100, 100], None),
        ([0, 0, 0, 0, 0, 100, 100, 100, 100, 100], 9),
    ],
)
def test_the_limits_of_the_five_rounds(rounds: list[float], at: int | None) -> None:
    assert steady.snia_round(rounds) == at


def test_rounds_are_fifths_of_the_end_of_a_series() -> None:
    assert steady.snia_accepts([1.0, 1000.0, *[100.0] * 5])  # what does not fill five rounds is left out in front
    assert not steady.snia_accepts([100.0, *[1.0, 1000.0] * 2, 100.0, 100.0])
    assert steady.snia_accepts([50.0, 150.0] * 5)  # in rounds of two it is level
    assert not steady.snia_accepts([100.0] * 4)
    assert not steady.snia_accepts([120.0, 80.0, 120.0, 80.0, 100.0])


def test_the_figures_of_a_series_without_an_end_of_its_warm_up() -> None:
    """Down by a fiftieth in the middle: MSER finds the step at half and gives up, so all of it counts."""
    found = steady.steadiness([102.0] * 30 + [100.0] * 30)
    assert (found.length, found.cut, found.cut_valid, found.b3, found.snia) == (60, 0, False, False, True)
    assert (found.mean, found.low, found.high) == (101.0, 100.0, 102.0)
    assert found.halves == pytest.approx(0.02)
    assert found.drift == pytest.approx(-0.029216036, rel=1e-6)
    assert found.lag_1 == pytest.approx(0.85)
    batches = steady.batch_means([102.0] * 30 + [100.0] * 30)
    assert batches is not None
    assert found.half_width == pytest.approx(batches.half_width_inflated / 101)


def test_thirty_intervals_are_the_least() -> None:
    for length, judged in ((29, False), (30, True)):
        found = steady.steadiness([1000.0] * length)
        assert (found.judged, found.b3) == (judged, judged)


def test_what_is_not_known_of_a_short_series_is_no_number() -> None:
    nothing = steady.steadiness([])
    assert (nothing.cut, nothing.cut_valid, nothing.snia, nothing.change) == (0, False, False, None)
    short = steady.steadiness([5.0])
    assert short.mean == 5.0
    for value in (nothing.mean, nothing.halves, nothing.drift, nothing.half_width, nothing.low, nothing.high):
        assert math.isnan(value)
    for value in (short.halves, short.drift, short.half_width, short.lag_1, short.low, short.high):
        assert math.isnan(value)


def test_a_standstill_drifts_by_no_share() -> None:
    still = steady.steadiness([0.0] * 60)
    assert math.isnan(still.drift)
    assert math.isnan(still.halves)
    assert not still.b3


def test_a_rule_says_from_where_on_a_series_is_steady() -> None:
    warm = [500.0] * 50 + [1000.0] * 100
    settled = steady.accepts("b3", warm)
    assert settled is not None
    assert (settled.at, steady.steadiness(warm).cut) == (50, 50)
    assert steady.accepts("snia", warm) is None
    assert steady.accepts("b3", [1000.0 - at for at in range(300)]) is None


@pytest.mark.parametrize("factor", [1e-12, 1.0, 1e30])
def test_the_correlation_of_batches_has_no_unit(factor: float) -> None:
    found = steady.batch_means([1.0 * factor] * 10 + [2.0 * factor] * 10)
    assert found is not None
    assert found.lag_1 == pytest.approx(0.85)


def test_each_rule_refuses_alone() -> None:
    """Level in halves and without drift: the one scatters too much, the other swings too slowly."""
    scattered = steady.steadiness(([880.0] * 15 + [1120.0] * 15) * 10)
    swinging = steady.steadiness([1000.0 + 10 * math.sin(math.pi * at / 50) for at in range(300)])
    for found in (scattered, swinging):
        assert found.cut_valid
        assert abs(found.halves) <= steady.WITHIN
        assert abs(found.drift) <= steady.WITHIN
        assert not found.b3
    assert (scattered.half_width > steady.WITHIN, scattered.lag_1 < steady.LAG_MOST) == (True, True)
    assert swinging.half_width <= steady.WITHIN
    assert swinging.lag_1 >= steady.LAG_MOST


@pytest.mark.parametrize(("length", "batches"), [(4, 0), (5, 1), (9, 1), (10, 2)])
def test_the_warm_up_is_looked_for_in_whole_batches(length: int, batches: int) -> None:
    found = steady.mser5([1.0] * length)
    assert (found.batches, found.cut_batches, math.isnan(found.stat)) == (batches, 0, not batches)


def test_a_warm_up_is_found_in_any_unit() -> None:
    """Of times in seconds as in nanoseconds."""
    warm = noisy([2e6] * 40 + [1e6] * 80)
    cuts = {steady.mser5([unit * each for each in warm]).cut for unit in (1.0, 1e-9, 2.0**-60)}
    assert cuts == {45}, "the first batch after it is a little above the others"


def test_the_last_digit_of_a_figure_is_no_warm_up() -> None:
    above = math.nextafter(1.0, 2.0)
    assert steady.mser5([above] * 5 + [1.0] * 60).cut == 0


@pytest.mark.parametrize(
    ("warm_up", "length", "valid"), [(5, 15, False), (5, 20, True), (5, 25, True), (10, 25, False), (10, 30, True)]
)
def test_a_warm_up_ends_in_the_first_half_or_is_not_known_to_end(warm_up: int, length: int, valid: bool) -> None:
    cut = steady.mser5([500.0] * warm_up + [1000.0] * (length - warm_up))
    assert (cut.cut, cut.valid) == (warm_up, valid)


def test_b3_wants_what_has_settled_to_agree_with_what_was_added() -> None:
    """Steady by every share, and yet its second half is a twentieth below what has settled of the first."""
    levels = noisy([300.0] * 10 + [1000.0] * 110, cv=0.13, seed=501)
    found = steady.steadiness(levels)
    assert (found.b3, found.cut) == (True, 10)
    assert fmean(levels[10:60]) / fmean(levels[60:]) > 1.05
    assert steady.accepts("b3", levels) is None


@pytest.mark.parametrize(("warm_up", "settled"), [(5, True), (10, False)])
def test_ten_intervals_before_the_middle_must_have_settled(warm_up: int, settled: bool) -> None:
    levels = [500.0] * warm_up + [1000.0] * (30 - warm_up)
    assert steady.steadiness(levels).b3
    assert steady.accepts("b3", levels) == (Settled(warm_up, 1000.0, 1000.0) if settled else None)


def test_the_rule_of_five_rounds_takes_all_of_a_series_and_asks_for_no_agreement() -> None:
    warm = [900.0] * 10 + [1000.0] * 90
    assert steady.steadiness(warm).cut == 10
    assert steady.accepts("snia", warm) == Settled(0, 980.0, 1000.0)
    rising = [930.0] * 50 + [1000.0] * 50
    assert steady.accepts("snia", rising) == Settled(0, 930.0, 1000.0)
    assert steady.accepts("b3", rising) is None
