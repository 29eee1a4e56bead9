"""Histogram: every figure is that of the plain list of the values it holds."""

from __future__ import annotations

import math
import statistics
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers import card_runs

from iocast.model.histogram import Histogram, bucket_bounds_ns, bucket_index, merge
from iocast.model.stated import Coarse

EXACT = st.lists(st.integers(0, 1023), min_size=1, max_size=40)  # below 1024 ns each value has its own bucket
ANY = st.lists(st.integers(1, 10**12), min_size=1, max_size=40)


def of(values: list[int]) -> Histogram:
    return card_runs.histogram(*((value, 1) for value in values))


@pytest.mark.parametrize(
    ("value_ns", "index", "low", "high"),
    [
        (0, 0, 0, 0),
        (511, 511, 511, 511),
        (512, 512, 512, 512),
        (1023, 1023, 1023, 1023),
        (1025, 1024, 1024, 1025),
        (1026, 1025, 1026, 1027),
        (2047, 1535, 2046, 2047),
        (2048, 1536, 2048, 2051),
        (1_000_000, 6096, 999_424, 1_000_447),
    ],
)
def test_buckets_are_those_of_the_core(value_ns: int, index: int, low: int, high: int) -> None:
    assert bucket_index(value_ns) == index
    assert bucket_bounds_ns(index) == (low, high)


@given(st.integers(1, 17_407))
def test_buckets_follow_each_other_without_gaps(index: int) -> None:
    low, high = bucket_bounds_ns(index)
    assert low == bucket_bounds_ns(index - 1)[1] + 1
    assert bucket_index(low) == bucket_index(high) == index


@given(EXACT)
def test_mean_and_deviation_are_exact(values: list[int]) -> None:
    histogram = of(values)
    assert histogram.total == len(values)
    assert (histogram.least_ns, histogram.most_ns) == (min(values), max(values))
    assert histogram.mean_ns == pytest.approx(statistics.fmean(values))
    wanted = math.sqrt(statistics.variance(map(Fraction, values))) if len(values) > 1 else 0.0
    assert histogram.stdev_ns == pytest.approx(wanted, abs=1e-3)


@given(EXACT, st.integers(0, 100))
def test_a_quantile_is_the_value_of_its_rank(values: list[int], percent: int) -> None:
    rank = max(1, -(-percent * len(values) // 100))
    assert of(values).quantile_ns(percent / 100) == sorted(values)[rank - 1]


@given(EXACT, st.integers(0, 1100))
def test_counts_are_those_of_the_values(values: list[int], edge: int) -> None:
    histogram = of(values)
    up_to = sum(value <= edge for value in values)
    assert histogram.count_up_to(edge) == up_to
    assert histogram.share_up_to(edge) == pytest.approx(up_to / len(values))
    assert histogram.count_below(edge) == sum(value < edge for value in values)


@given(ANY, ANY)
def test_merging_is_counting_all(one: list[int], other: list[int]) -> None:
    both, all_of_them = merge([of(one), of(other)]), of(one + other)
    assert (both.index, both.count, both.sum_ns) == (all_of_them.index, all_of_them.count, all_of_them.sum_ns)
    assert (both.min_ns, both.max_ns) == (min(one + other), max(one + other))
    assert both.sum_squares == pytest.approx(all_of_them.sum_squares)


def test_a_quantile_is_never_above_the_largest_value() -> None:
    histogram = of([1_000_003, 5_000_017])
    assert histogram.quantile_ns(1.0) == 5_000_017
    assert of([1_000_003]).quantile_ns(0.0) == 1_000_003
    assert histogram.quantile_bounds_ns(0.5) == (histogram.quantile_ns(0.5), histogram.quantile_ns(0.5))


def test_nothing_has_no_figures_but_counts() -> None:
    nothing = Histogram()
    for value in (nothing.mean_ns, nothing.stdev_ns, nothing.least_ns, nothing.most_ns, nothing.quantile_ns(0.5)):
        assert math.isnan(value)
    assert nothing.quantile_bounds_ns(0.5) is None
    assert (nothing.total, nothing.count_up_to(5), nothing.share_up_to(5), nothing.count_below(5)) == (0, 0, 0.0, 0)
    assert not nothing.spread_known
    assert of([5]).spread_known
    assert merge([]) == nothing


def test_rounding_makes_no_negative_spread() -> None:
    assert Histogram((700,), (3,), 2100, 1_469_999.9, 700, 700).stdev_ns == 0.0


def test_what_another_tool_states_is_handed_on() -> None:
    states = Histogram.stated(Coarse(total=3, mean_ns=2.5, stdev_ns=1.5, min_ns=1, max_ns=4))
    assert (states.total, states.sum_ns, states.min_ns, states.max_ns) == (3, 8, 1, 4)
    assert (states.mean_ns, states.stdev_ns, states.least_ns, states.most_ns) == (2.5, 1.5, 1.0, 4.0)
    silent = Histogram.stated(Coarse(total=3))
    assert (silent.sum_ns, silent.min_ns, silent.max_ns) == (0, 0, 0)


def test_with_anothers_figures_the_ends_and_the_spread_of_both_remain() -> None:
    states = Histogram.stated(Coarse(total=2, mean_ns=300.0, stdev_ns=0.0, min_ns=300, max_ns=300))
    both = merge([of([100, 200]), states])
    assert (both.total, both.mean_ns, both.least_ns, both.most_ns) == (4, 225.0, 100.0, 300.0)
    assert both.stdev_ns == pytest.approx(statistics.stdev([100, 200, 300, 300]))
