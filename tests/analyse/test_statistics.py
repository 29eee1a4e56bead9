"""Percentile intervals, Little's law and bucket shares against known answers and laws."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers import card_runs
from msgspec.structs import replace

from iocast.analyse import statistics
from iocast.model.histogram import Histogram, merge
from iocast.model.run import OpSeries
from iocast.model.stated import Bucket, Coarse

VALUES = st.lists(st.integers(0, 10**12), max_size=60)


@pytest.mark.parametrize(
    ("total", "q", "low", "high"),
    [(1000, 0.99, 983, 997), (100, 0.5, 40, 61), (5000, 0.999, 4990, 5000), (10_000, 0.95, 9457, 9543)],
)
def test_ranks_of_known_percentiles(total: int, q: float, low: int, high: int) -> None:
    assert statistics.quantile_ranks(total, q) == (low, high)


@pytest.mark.parametrize(("q", "least"), [(0.95, 72), (0.99, 368), (0.999, 3688), (0.9999, 36_887)])
def test_least_number_of_ios_for_an_upper_bound(q: float, least: int) -> None:
    assert statistics.quantile_ranks(least - 1, q)[1] is None
    assert statistics.quantile_ranks(least, q)[1] == least


def _below(total: int, q: float) -> Iterator[float]:
    """P(Binomial(n, q) <= k) for k = 0, 1, ... by the definition."""
    seen = 0.0
    for k in range(total + 1):
        seen += math.comb(total, k) * q**k * (1 - q) ** (total - k)
        yield seen


@given(st.integers(1, 120), st.floats(0.05, 0.95))
def test_ranks_agree_with_the_binomial_distribution(total: int, q: float) -> None:
    low, high = statistics.quantile_ranks(total, q)
    cumulative = [0.0, *_below(total, q)]  # cumulative[r] = P(Bin <= r - 1)
    if low is not None:
        assert cumulative[low] <= 0.025 + 1e-9
    if high is not None:
        assert cumulative[high] >= 0.975 - 1e-9
        assert cumulative[high - 1] <= 0.975 + 1e-9
    assert cumulative[(low or 0) + 1] >= 0.025 - 1e-9


def test_ranks_do_not_jump_where_the_normal_distribution_takes_over() -> None:
    q = 0.9
    limit = statistics.NORMAL_FROM_VARIANCE / (q * (1 - q))
    for total in (int(limit * 0.999), int(limit * 1.001)):
        low, high = statistics.quantile_ranks(total, q)
        assert low is not None
        assert high is not None
        half = 1.959964 * math.sqrt(total * q * (1 - q))
        assert low == pytest.approx(total * q - half, abs=3)
        assert high == pytest.approx(total * q + half, abs=3)


def test_interval_of_a_percentile_reads_the_values_at_its_ranks() -> None:
    estimate = statistics.quantile_interval(card_runs.histogram(*((us * 1000, 1) for us in range(1, 1001))), 0.99)
    assert estimate.low_ns == pytest.approx(983_000, rel=0.002)
    assert estimate.value_ns == pytest.approx(990_000, rel=0.002)
    assert estimate.high_ns == pytest.approx(997_000, rel=0.002)
    assert estimate.beyond == pytest.approx(10)
    assert estimate.relative_half_width == pytest.approx(7 / 990, rel=0.2)


def test_too_few_ios_have_no_upper_bound() -> None:
    estimate = statistics.quantile_interval(card_runs.histogram((1000, 300)), 0.99)
    assert estimate.high_ns is None
    assert estimate.relative_half_width is None


def test_five_ios_have_no_interval_of_their_median() -> None:
    """All of them lie above it in one case of 32, which is more than 2.5 %."""
    estimate = statistics.quantile_interval(card_runs.histogram((1000, 5)), 0.5)
    assert (estimate.value_ns, estimate.low_ns, estimate.high_ns) == (1000.0, None, None)


def test_nothing_has_no_ranks() -> None:
    assert statistics.quantile_ranks(0, 0.5) == (None, None)


@pytest.mark.parametrize(
    ("population", "rate", "stay_s", "ratio"),
    [(8, 344, 0.0116, 0.4988), (64, 58, 1.05197, 0.95334781), (8, 50, 0.15616, 0.976)],
)
def test_littles_law_on_published_rows(population: float, rate: float, stay_s: float, ratio: float) -> None:
    assert statistics.littles_ratio(rate, stay_s * 1e9, population) == pytest.approx(ratio)


def test_mean_in_flight_is_time_served_over_time_passed() -> None:
    did = card_runs.reads(times=card_runs.histogram((1_000_000, 8000)), users=8).measurement
    assert statistics.in_flight_mean(did) == pytest.approx(8)


@given(VALUES, st.lists(st.integers(1, 10**12), min_size=1, max_size=12, unique=True).map(sorted))
def test_no_io_is_lost_between_buckets(values: list[int], edges: list[int]) -> None:
    histogram = card_runs.histogram(*((value, 1) for value in values))
    counts = statistics.bucket_counts(histogram, edges)
    assert sum(counts) == len(values)
    assert all(count >= 0 for count in counts)
    shares = statistics.bucket_shares(histogram, edges)
    assert math.fsum(shares) == pytest.approx(1.0 if values else 0.0)


def test_an_edge_belongs_to_the_bucket_that_it_ends() -> None:
    histogram = card_runs.histogram((50_000, 3), (900_000, 4), (5_000_000, 1))
    assert statistics.bucket_counts(histogram, (50_000, 1_000_000)) == (3, 4, 1)


def test_an_empty_histogram_has_no_shares() -> None:
    assert statistics.bucket_shares(Histogram(), (1, 2)) == (0.0, 0.0, 0.0)


def test_the_histogram_of_one_part_is_that_part() -> None:
    part = Histogram((5, 9), (2, 1), 19, 131.0, 5, 9)
    assert merge([part]) is part
    assert merge([Histogram(), part, Histogram()]) == part
    assert merge([part, part]) == Histogram((5, 9), (4, 2), 38, 262.0, 5, 9)


def _stated(*weights: float) -> Histogram:
    """Buckets of 1, 1 to 4, and above 4 ms, as another tool states them in per cent; 10 000 I/Os."""
    edges = ((0, 1_000_000), (1_000_000, 4_000_000), (4_000_000, None))
    buckets = tuple(Bucket(low, high, weight) for (low, high), weight in zip(edges, weights, strict=False))
    return Histogram.stated(Coarse(total=10_000, buckets=buckets, whole=100.0))


def test_a_percentile_is_published_with_ten_ios_beyond_it() -> None:
    assert statistics.published(card_runs.histogram((700, 1000)), 0.99) == 700
    assert statistics.published(card_runs.histogram((700, 999)), 0.99) is None
    assert statistics.published(_stated(90.0, 9.0, 1.0), 0.99) is None
    assert statistics.quantile_interval(card_runs.histogram((700, 1000)), 0.99).enough
    assert not statistics.quantile_interval(card_runs.histogram((700, 999)), 0.99).enough


def test_an_interval_in_the_buckets_of_another_tool_goes_from_edge_to_edge() -> None:
    estimate = statistics.quantile_interval(_stated(90.0, 9.0, 1.0), 0.9)
    assert not estimate.known
    assert (estimate.low_ns, estimate.high_ns) == (0.0, 4_000_000.0)
    assert statistics.quantile_interval(_stated(90.0, 9.0, 1.0), 0.99).high_ns is None  # its bucket is open
    assert statistics.quantile_interval(Histogram.stated(Coarse(total=10_000)), 0.5).low_ns is None


def test_less_confidence_makes_a_narrower_interval() -> None:
    times = card_runs.histogram(*((value, 1) for value in range(1, 1001)))
    sure = statistics.quantile_interval(times, 0.5)
    assert (sure.low_ns, sure.high_ns) == (469, 532)  # 500 and 1.96 x 15.8
    assert statistics.quantile_ranks(1000, 0.5, 0.5) == (489, 512)  # 500 and 0.67 x 15.8


@pytest.mark.parametrize("above", [1.001, 1.01, 1.1])
def test_the_normal_distribution_gives_the_ranks_of_the_binomial(above: float, monkeypatch: pytest.MonkeyPatch) -> None:
    total = int(statistics.NORMAL_FROM_VARIANCE * 4 * above)
    normal = statistics.quantile_ranks(total, 0.5)
    monkeypatch.setattr(statistics, "NORMAL_FROM_VARIANCE", math.inf)
    assert normal == statistics.quantile_ranks(total, 0.5)


def test_littles_law_of_a_nanosecond_grid_is_exact() -> None:
    assert statistics.littles_ratio(1.0, 1e9, 1.0) == 1.0
    assert math.isnan(statistics.littles_ratio(1.0, 1e9, 0.0))


def test_nothing_was_in_flight_in_no_time() -> None:
    did = card_runs.reads(times=card_runs.histogram((1_000_000, 8000))).measurement
    assert statistics.in_flight_mean(replace(did, elapsed_ns=0)) == 0.0


def test_stated_shares_count_in_the_bucket_in_which_they_end() -> None:
    shares = statistics.bucket_shares(_stated(90.0, 9.0, 1.0), (1_000_000, 2_000_000, 5_000_000))
    assert shares == pytest.approx((0.9, 0.0, 0.09, 0.01))
    assert statistics.bucket_shares(_stated(90.0), (1_000_000,)) == pytest.approx((0.9, 0.0))  # 10 % are unknown
    assert statistics.bucket_shares(Histogram.stated(Coarse(total=10)), (1, 2)) == (0.0, 0.0, 0.0)


def _series(up_to: tuple[int, ...], ios: tuple[int, ...]) -> OpSeries:
    return OpSeries(op="read", ios=ios, response_ns=tuple(n * 1000 for n in ios), up_to=(up_to,) * 5)


def _effect(series: OpSeries) -> float | None:
    """That of the median."""
    return statistics.design_effect(statistics.design_effects(series), 0.5)


def test_even_intervals_are_independent() -> None:
    assert _effect(_series((50,) * 60, (100,) * 60)) == 1.0


def test_clusters_count_for_less() -> None:
    """All I/Os of every second interval are slow: 100 I/Os say hardly more than one."""
    effect = _effect(_series((100, 0) * 30, (100,) * 60))
    assert effect is not None
    assert effect > 80


def test_long_waves_count_for_less_than_short_ones() -> None:
    short = _effect(_series((60, 40) * 40, (100,) * 80))
    long = _effect(_series(((60,) * 8 + (40,) * 8) * 5, (100,) * 80))
    assert short is not None
    assert long is not None
    assert long > 4 * short


def test_a_short_row_has_no_interval() -> None:
    assert _effect(_series((50,) * 9, (100,) * 9)) is None
    estimate = statistics.quantile_interval(card_runs.histogram((1000, 100), (2000, 100)), 0.5, None)
    assert (estimate.low_ns, estimate.high_ns, estimate.effective) == (None, None, None)
    assert statistics.mean_interval(1500.0, None) == statistics.MeanEstimate(1500.0)


def test_few_independent_ios_bound_a_percentile_from_below_only() -> None:
    times = card_runs.histogram(*((us * 1000, 10) for us in range(1, 1001)))
    estimate = statistics.quantile_interval(times, 0.99, 100.0)
    assert estimate.effective_beyond == pytest.approx(1.0)
    assert estimate.high_ns is None
    assert estimate.low_ns is not None
    assert estimate.low_ns < estimate.value_ns


@given(st.floats(1.0, 1e5), st.floats(0.01, 0.999))
def test_bounds_lie_on_both_sides_of_the_value(effect: float, q: float) -> None:
    times = card_runs.histogram(*((us * 1000, 3) for us in range(1, 1001)))
    estimate = statistics.quantile_interval(times, q, effect)
    assert estimate.low_ns is None or estimate.low_ns <= estimate.value_ns
    assert estimate.high_ns is None or estimate.high_ns >= estimate.value_ns
