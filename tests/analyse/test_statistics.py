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
from iocast.model.run import MARKS, OpSeries
from iocast.model.stated import Bucket, Coarse, Quantile

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


@pytest.mark.parametrize(("counted", "total", "known"), [(True, 999, False), (True, 1000, True), (False, 3, True)])
def test_a_stated_percentile_is_published_unless_too_few_ios_are_counted(
    counted: bool, total: int, known: bool
) -> None:
    stated = Histogram.stated(Coarse(total=total, counted=counted, quantiles=(Quantile(0.99, 700),)))
    assert statistics.published(stated, 0.99) == (700 if known else None)
    assert statistics.published(stated, 0.5) is None, "it is not stated"


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
    assert (estimate.q, estimate.value_ns, estimate.total) == (0.5, 1000, 200)
    assert statistics.mean_interval(1500.0, None) == statistics.MeanEstimate(1500.0)
    assert statistics.mean_interval(1500.0, _series((50,) * 9, (100,) * 9)) == statistics.MeanEstimate(1500.0)


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


# Student's t, both sides of 95 %, by degrees of freedom (tables).
T95 = {
    2: 4.302652730,
    3: 3.182446305,
    4: 2.776445105,
    5: 2.570581836,
    9: 2.262157163,
    10: 2.228138852,
    119: 1.980099876,
}


@pytest.mark.parametrize(
    ("parts", "error"),
    [
        # One by one ten intervals have a variance of 1000 x 10/9, in pairs of none: they are independent.
        ((60, 40) * 5, T95[9] * math.sqrt(1000 * 10 / 9) * (1 + 4 * 10 / 60 / 10)),
        # In pairs twelve have one of 2400 x 6/5, and one by one of 1200 x 12/11: they say as much as 5.45.
        ((60, 60, 40, 40) * 3, T95[4] * math.sqrt(2400 * 6 / 5) * (1 + 4 * 12 / 60 / (60 / 11))),
        # The same, and one that is in no pair: what the pairs say is of 12 of 13.
        (
            ((60, 60, 40, 40) * 3 + (50,)),
            T95[4] * math.sqrt(2400 * 6 / 5 * 13 / 12) * (1 + 4 * 13 / 60 / (13 * 1300 / 3120)),
        ),
        (((60, 40) * 5 + (50,)), T95[10] * math.sqrt(1000 * 11 / 10) * (1 + 4 * 11 / 60 / 11)),
        # Five pairs are enough to see it.
        (
            (60, 60, 40, 40, 50, 50, 60, 60, 40, 40),
            T95[3] * math.sqrt(1600 * 5 / 4) * (1 + 4 * 10 / 60 / (10 * 800 * 10 / 9 / 2000)),
        ),
        # Five batches of eight vary most, and hardly more than the intervals do: of so few batches little is known.
        (
            ((65, 45) * 4 + (55, 35) * 4) * 2 + (60, 40) * 4,
            T95[4] * math.sqrt(6400 * 5 / 4) * (1 + 4 * 40 / 60 / (40 * (4800 * 40 / 39) / 8000)),
        ),
        # From 60 intervals on it is not widened further.
        ((60, 40) * 60, T95[119] * math.sqrt(12_000 * 120 / 119) * (1 + 4 / 120)),
        ((50,) * 10, 0.0),
    ],
)
def test_how_far_a_sum_may_be_from_what_was_seen_by_hand(parts: tuple[int, ...], error: float) -> None:
    """Of 100 I/Os each: half of them, and ten more or less."""
    weights, whole = (100,) * len(parts), float(sum(parts))
    bounds = (math.exp(-error / whole), math.exp(error / whole))
    assert statistics.share_bounds(parts, weights, whole) == pytest.approx(bounds, rel=1e-6)
    series = OpSeries(op="read", ios=weights, response_ns=parts, up_to=(parts,) * 5)
    mean = statistics.mean_interval(0.5, series)
    assert (mean.value_ns, mean.low_ns, mean.high_ns) == pytest.approx(
        (0.5, 0.5 * bounds[0], 0.5 * bounds[1]), rel=1e-6
    )
    # Independent I/Os, half of which are slow, have a variance of a quarter each.
    effect = max(1.0, (error / 1.959963985) ** 2 / (len(parts) * 25))
    assert statistics.design_effects(series) == pytest.approx((effect,) * 5, rel=1e-6)


def test_three_intervals_are_enough_where_the_rule_says_so() -> None:
    parts, weights = (54, 46, 50), (100,) * 3
    assert statistics.share_bounds(parts, weights, 150.0) == (None, None)
    for confidence, t in ((0.95, T95[2]), (0.99, 9.924843201)):
        rule = statistics.Rule(confidence=confidence, least_intervals=3)
        error = t * math.sqrt(48) * (1 + 4 * 3 / 60 / 3)
        bounds = (math.exp(-error / 150), math.exp(error / 150))
        assert statistics.share_bounds(parts, weights, 150.0, rule) == pytest.approx(bounds, rel=1e-6)
        series = OpSeries(op="read", ios=weights, response_ns=parts, up_to=(parts,) * 5)
        mean = statistics.mean_interval(0.5, series, rule)
        assert (mean.low_ns, mean.high_ns) == pytest.approx((0.5 * bounds[0], 0.5 * bounds[1]), rel=1e-6)
        normal = {0.95: 1.959963985, 0.99: 2.575829304}[confidence]
        effect = max(1.0, (error / normal) ** 2 / (300 * 0.25))
        assert statistics.design_effects(series, rule) == pytest.approx((effect,) * 5, rel=1e-6)
    two = statistics.Rule(least_intervals=3)
    assert statistics.share_bounds((60, 40), (100, 100), 100.0, two) == (None, None)


def test_what_may_be_off_by_all_of_it_has_no_upper_bound() -> None:
    parts, weights = (60, 40) * 5, (100,) * 10
    error = T95[9] * math.sqrt(1000 * 10 / 9) * (1 + 4 * 10 / 60 / 10)
    assert statistics.share_bounds(parts, weights, 80.0) == (pytest.approx(math.exp(-error / 80)), None)
    in_another_unit = statistics.share_bounds([part / 1e6 for part in parts], weights, 81.0 / 1e6)
    assert in_another_unit == pytest.approx((math.exp(-error / 81), math.exp(error / 81)), rel=1e-6)
    low, high = statistics.share_bounds(parts, weights, 81.0)
    assert (low, high) == pytest.approx((math.exp(-error / 81), math.exp(error / 81)), rel=1e-6)
    for whole in (0.0, -1.0, math.nan):
        assert statistics.share_bounds(parts, weights, whole) == (None, None)
    assert statistics.share_bounds(parts, (0,) * 10, 500.0) == (None, None)
    for value_ns in (0.0, math.nan):
        series = OpSeries(op="read", ios=weights, response_ns=parts, up_to=(parts,) * 5)
        mean = statistics.mean_interval(value_ns, series)
        assert (mean.low_ns, mean.high_ns) == (None, None)


def test_an_operation_of_which_nothing_is_seen_has_no_effect() -> None:
    assert statistics.design_effects(None) is None
    assert statistics.design_effects(_series((0,) * 60, (0,) * 60)) is None
    assert statistics.design_effects(_series((100,) * 60, (100,) * 60)) == (1.0,) * 5, "all are alike"
    lacks_one = replace(_series((100, 0) * 30, (100,) * 60), up_to=((100, 0) * 30,) * 4)
    assert statistics.design_effects(lacks_one) is None


@pytest.mark.parametrize(
    ("q", "effect"),
    [(0.3, 1.0), (0.5, 1.0), (0.7, 3.0), (0.9, 3.0), (0.92, 9.0), (0.95, 9.0), (0.97, 4.0), (0.99, 4.0), (0.9999, 5.0)],
)
def test_the_effect_of_a_quantile_is_the_worst_of_its_neighbours_and_of_the_clear_ones_below(
    q: float, effect: float
) -> None:
    assert statistics.design_effect((1.0, 3.0, 9.0, 4.0, 5.0), q) == effect
    assert statistics.design_effect((7.0, 3.0, 2.0, 4.0, 5.0), q) == 7.0
    assert statistics.design_effect(None, q) is None


def test_ios_that_depend_on_each_other_have_the_ranks_of_fewer() -> None:
    """A thousand of which ten say as much as one: of a hundred the median lies between ranks 40 and 61."""
    times = card_runs.histogram(*((value, 10) for value in range(1, 101)))
    found = statistics.quantile_interval(times, 0.5, 10.0)
    assert (found.q, found.value_ns, found.low_ns, found.high_ns) == (0.5, 50.0, 40.0, 61.0)
    assert (found.total, found.effective, found.effective_beyond) == (1000, 100.0, 50.0)
    sure = statistics.quantile_interval(times, 0.5, 10.0, 0.99)
    assert (sure.low_ns, sure.high_ns) == (37.0, 64.0)
    few = statistics.quantile_interval(times, 0.5, 2000.0)
    assert (few.low_ns, few.high_ns, few.effective) == (None, None, 0.5)
    one = statistics.quantile_interval(times, 0.1, 2000.0)
    assert (one.low_ns, one.high_ns) == (None, None), (
        "of two the larger would bound the 10th percentile, of one none does"
    )
    nothing = statistics.quantile_interval(Histogram(), 0.5, 2.0)
    assert (nothing.low_ns, nothing.high_ns, nothing.total, nothing.effective) == (None, None, 0, 0.0)


def test_a_rule_leaves_half_of_the_rest_on_either_side() -> None:
    assert statistics.Rule(confidence=0.9).two_sided == pytest.approx(0.95)
    assert statistics.PRINTED.two_sided == pytest.approx(0.975)


def test_the_range_of_a_percentile_is_that_of_its_intervals() -> None:
    """One interval is all quick and one all slow: no range is narrower."""
    apart = OpSeries(op="read", ios=(100,) * 2, response_ns=(1,) * 2, up_to=((100, 0), *((100, 100),) * 4))
    low, high = statistics.interval_range(card_runs.histogram((1e6, 100), (9e6, 100)), 0.99, apart)
    assert low == pytest.approx(1e6, rel=0.01)
    assert high == pytest.approx(9e6, rel=0.01)


@pytest.mark.long
@given(
    st.lists(st.lists(st.integers(1, 50), min_size=12, max_size=40), min_size=2, max_size=6),
    st.sampled_from([0.5, 0.9, 0.95]),
)
def test_every_interval_has_its_percentile_within_the_range(intervals: list[list[int]], q: float) -> None:
    every = sorted(ms for each in intervals for ms in each)
    marks = [every[math.ceil(mark * len(every)) - 1] for mark in MARKS]
    series = OpSeries(
        op="read",
        ios=tuple(map(len, intervals)),
        response_ns=(1,) * len(intervals),
        up_to=tuple(tuple(sum(ms <= mark for ms in each) for each in intervals) for mark in marks),
    )
    low, high = statistics.interval_range(
        card_runs.histogram(*((ms * 1e6, every.count(ms)) for ms in set(every))), q, series
    )
    assert low is not None
    assert high is not None
    for each in intervals:
        own = sorted(each)[math.ceil(q * len(each)) - 1] * 1e6
        assert low * 0.99 <= own <= high * 1.01


def test_how_small_an_estimated_variance_is_by_chance() -> None:
    """Chi-square with 30 degrees of freedom is below 11.59 once in 1,000 times."""
    assert statistics.least_by_chance(30) == pytest.approx(11.588 / 30, rel=0.01)
    assert statistics.least_by_chance(0.5) == statistics.least_by_chance(0) == 0, "nothing is known of it"
    assert statistics.least_by_chance(1e9) == pytest.approx(1, rel=1e-3)
