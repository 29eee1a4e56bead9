"""Comparison of groups of runs: known vectors, the published pairs of trials, and what must always hold."""

from __future__ import annotations

import math
import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.model_vectors import vectors_of
from msgspec.structs import replace

from iocast.analyse.comparison import (
    MARGIN,
    QUANTILES,
    Bounds,
    Ratio,
    ab_ratio,
    accuracy,
    any_time_half,
    difference,
    fold,
    holm,
    median_of,
    overlap,
    quantile_bounds,
    rate_bounds,
    relative,
    rising,
    shift,
    single_ratio,
    variation,
)
from iocast.analyse.statistics import Rule, design_effect, design_effects, quantile_interval
from iocast.model.histogram import Histogram, bucket_index, merge
from iocast.model.run import MARKS, OpSeries, Series
from iocast.model.stated import Coarse, Quantile

above_zero = st.floats(1e-6, 1e9)
runs = st.lists(above_zero, min_size=2, max_size=8)


def _histogram(values: list[int]) -> Histogram:
    held = Counter(map(bucket_index, values))
    order = tuple(sorted(held))
    return Histogram(
        order,
        tuple(held[index] for index in order),
        sum(values),
        float(sum(v * v for v in values)),
        min(values),
        max(values),
    )


@pytest.mark.parametrize(
    ("a", "b", "ratio", "ci95", "ci90", "degrees", "verdict"),
    [
        (
            [1.02, 0.98, 1.05],
            [1.11, 1.2, 1.15],
            1.1343024,
            (1.0427786, 1.2338591),
            (1.0634503, 1.2098749),
            3.9443144,
            "small_difference",
        ),
        (
            [12.543, 12.6, 12.4],
            [13.02, 12.9, 13.1],
            1.0393443,
            (1.0206364, 1.0583952),
            (1.0249555, 1.0539351),
            3.9843773,
            "equivalent",
        ),
        (
            [2.0, 2.2, 1.9, 2.1, 2.05],
            [2.15, 2.2, 2.1, 2.3, 2.05],
            1.0540872,
            (0.97983043, 1.1339715),
            (0.99390005, 1.1179191),
            7.6670892,
            "inconclusive",
        ),
    ],
)
def test_known_ratios(a, b, ratio, ci95, ci90, degrees, verdict) -> None:
    got = ab_ratio(a, b)
    assert got.ratio == pytest.approx(ratio, rel=1e-6)
    assert (got.low, got.high) == pytest.approx(ci95, rel=1e-6)
    assert (got.low90, got.high90) == pytest.approx(ci90, rel=1e-6)
    assert got.degrees == pytest.approx(degrees, rel=1e-6)
    assert got.verdict == verdict


@pytest.mark.parametrize("vector", vectors_of("stats.ab_ratio"))
def test_the_ratios_of_the_design(vector: dict[str, Any]) -> None:
    given_, out = vector["in"], vector["out"]
    got = ab_ratio(given_["a_per_run"], given_["b_per_run"], given_["margin"])
    assert [got.ratio, got.low, got.high, got.low90, got.high90, got.degrees] == pytest.approx(
        [out["ratio"], *out["ci95"], *out["ci90"], out["df"]], rel=1e-4
    )
    assert got.verdict == out["verdict"]


@pytest.mark.parametrize("vector", vectors_of("stats.percent_difference"))
def test_the_differences_of_the_design(vector: dict[str, Any]) -> None:
    out, one = vector["out"], difference(vector["in"]["a"], vector["in"]["b"])
    assert 100 * one.of_first == pytest.approx(out["pct_of_a"], rel=1e-6)
    assert 100 * one.symmetric == pytest.approx(out["symmetric_pct"], rel=1e-6)
    assert one.log_ratio == pytest.approx(out["log_ratio"], rel=1e-6)


@pytest.mark.parametrize("vector", vectors_of("stats.two_sample"))
def test_the_overlaps_of_the_design(vector: dict[str, Any]) -> None:
    scaled = [[int(value * 10) for value in vector["in"][side]] for side in "ab"]  # small enough to be exact
    found = overlap(_histogram(scaled[0]), _histogram(scaled[1]))
    assert found.ks == pytest.approx(vector["out"]["ks_D"])
    assert found.cliffs_delta == pytest.approx(vector["out"]["cliffs_delta_b_minus_a"])


@given(runs, runs)
def test_the_ratio_turns_round_with_its_sides(a: list[float], b: list[float]) -> None:
    there, back = ab_ratio(a, b), ab_ratio(b, a)
    assert there.ratio * back.ratio == pytest.approx(1)
    assert there.verdict == back.verdict
    assert there.low is not None
    assert there.high is not None
    assert there.low <= there.ratio * (1 + 1e-9)
    assert there.ratio <= there.high * (1 + 1e-9)


def test_single_runs_have_a_ratio_and_no_verdict() -> None:
    got = ab_ratio([2.0], [4.0, 4.1])
    assert got.low is None
    assert got.verdict == "inconclusive"


def test_runs_without_any_scatter_are_judged_by_the_ratio_alone() -> None:
    assert ab_ratio([2.0, 2.0], [2.0, 2.0]).verdict == "equivalent"
    assert ab_ratio([2.0, 2.0], [4.0, 4.0]).verdict == "different"


@pytest.mark.parametrize("sides", [([], [1.0]), ([1.0], []), ([0.0], [1.0])])
def test_nothing_to_compare_is_refused(sides) -> None:
    with pytest.raises(ValueError, match="above 0"):
        ab_ratio(*sides)


def test_published_pairs_of_trials_to_the_digit() -> None:
    """Trial pairs of the study of 2012: what it printed was (first - second) / first."""
    printed = [round(100 * difference(a, b).of_first, 2) for a, b in ((158, 146), (193, 169), (103, 195))]
    assert printed == [7.59, 12.44, -89.32]
    symmetric = [round(abs(100 * difference(a, b).symmetric), 3) for a, b in ((158, 146), (193, 169), (103, 195))]
    assert symmetric == [7.895, 13.260, 61.745]


BARE = (370, 12_543, 1_270, 117_042, 75_959)
VIRTUAL = {
    "physical RDM": ((520, 12_912, 1_361, 116_721, 71_784), (71.2, 97.1, 93.3, 99.7, 94.5)),
    "indep. virtual RDM": ((521, 14_044, 1_320, 116_710, 62_708), (71.0, 89.3, 96.2, 99.7, 82.6)),
    "virtual RDM": ((518, 13_020, 1_265, 116_580, 70_380), (71.4, 96.3, 100.4, 99.6, 92.7)),
    "indep. VMFS": ((518, 13_442, 1_276, 116_628, 67_208), (71.4, 93.3, 99.5, 99.6, 88.5)),
    "snapshot VMFS": ((519, 13_537, 1_277, 116_673, 72_206), (71.3, 92.7, 99.5, 99.7, 95.1)),
}


@pytest.mark.parametrize("name", VIRTUAL)
def test_relative_performance_of_the_virtualisation_study(name: str) -> None:
    """Three latencies (bare over virtual), two throughputs (virtual over bare), in per cent."""
    values, printed = VIRTUAL[name]
    got = [
        round(100 * relative(bare, value, more_is_better=at >= 3), 1)
        for at, (bare, value) in enumerate(zip(BARE, values, strict=True))
    ]
    assert got == list(printed)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_never_lowers_a_p_value_and_keeps_the_order(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(after >= before for before, after in zip(p_values, adjusted, strict=True))
    ranked = [after for _, after in sorted(zip(p_values, adjusted, strict=True))]
    assert ranked == sorted(ranked)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_the_shift_function_tells_which_percentiles_moved() -> None:
    a = [_histogram([100] * 95 + [1000 + run] * 5) for run in range(5)]
    b = [_histogram([100] * 95 + [2000 + run] * 5) for run in range(5)]
    rows = {row.q: row for row in shift(a, b)}
    assert rows[0.5].ratio.verdict == "equivalent"
    assert rows[0.99].ratio.verdict == "different"
    assert rows[0.99].p_value is not None
    assert rows[0.99].p_value < 0.001
    assert rows[0.5].p_value == 1.0


def test_repeats() -> None:
    assert variation([1.0]) is None
    assert variation([9.0, 10.0, 11.0]) == pytest.approx(0.1)
    assert median_of([3.0, 1.0, 2.0, 4.0]) == 2.0
    assert median_of([5.0, 3.0, 1.0, 2.0, 4.0]) == 3.0
    assert math.isclose(overlap(_histogram([5]), _histogram([5])).ks, 0.0)


def test_groups_of_unequal_size_each_weigh_by_their_own() -> None:
    """Welch by hand: logarithms 0 and 0.2 against 1, 1.1, 1.2, 1.3 and 1.4."""
    a, b = [math.exp(x) for x in (0.0, 0.2)], [math.exp(x) for x in (1.0, 1.1, 1.2, 1.3, 1.4)]
    found = ab_ratio(a, b)
    of_a, of_b = 0.02 / 2, 0.025 / 5  # variance of the mean of each side
    degrees = (of_a + of_b) ** 2 / (of_a**2 / 1 + of_b**2 / 4)
    assert found.ratio == pytest.approx(math.exp(1.1))
    assert found.degrees == pytest.approx(degrees)
    assert found.low is not None
    assert found.high is not None
    assert math.sqrt(found.low * found.high) == pytest.approx(found.ratio)
    # Student's t of 97.5 % between 2 degrees (4.303) and 2.25 of this pair (3.876, from tables by interpolation).
    half = (math.log(found.high) - math.log(found.low)) / 2
    assert 3.182 < half / math.sqrt(of_a + of_b) < 4.303


def test_the_sides_of_unequal_groups_may_change_places() -> None:
    a, b = [100.0, 104.0], [90.0, 91.0, 95.0, 89.0]
    there, back = ab_ratio(a, b), ab_ratio(b, a)
    assert there.ratio * back.ratio == pytest.approx(1.0)
    assert there.degrees == pytest.approx(back.degrees)  # type: ignore[arg-type]
    assert there.low * back.high == pytest.approx(1.0)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("a", "b", "margin", "verdict"),
    [
        ([100.0, 101.0], [50.0, 51.0], 0.10, "different"),  # far below, and
        ([50.0, 51.0], [100.0, 101.0], 0.10, "different"),  # far above
        ([100.0, 101.0, 100.5], [93.0, 94.0, 93.5], 0.05, "different"),
        ([93.0, 94.0, 93.5], [100.0, 101.0, 100.5], 0.05, "different"),
        ([100.0, 101.0, 100.5], [93.0, 94.0, 93.5], 0.20, "equivalent"),
        ([93.0, 94.0, 93.5], [100.0, 101.0, 100.5], 0.20, "equivalent"),
        ([100.0, 101.0, 100.5], [93.0, 94.0, 93.5], 0.06, "small_difference"),
        ([93.0, 94.0, 93.5], [100.0, 101.0, 100.5], 0.06, "small_difference"),
    ],
)
def test_the_margin_decides_between_equal_and_different(
    a: list[float], b: list[float], margin: float, verdict: str
) -> None:
    assert ab_ratio(a, b, margin).verdict == verdict


def test_one_run_on_a_side_gives_the_ratio_of_the_geometric_means() -> None:
    for a, b, ratio in (([2.0], [3.0, 12.0], 3.0), ([3.0, 12.0], [2.0], 1 / 3)):
        got = ab_ratio(a, b)
        assert got.ratio == pytest.approx(ratio)
        assert (got.low, got.high, got.low90, got.high90, got.degrees) == (None,) * 5


def test_a_difference_is_symmetric_as_a_logarithm_only() -> None:
    there, back = difference(2.0, 8.0), difference(8.0, 2.0)
    assert there.log_ratio == pytest.approx(math.log(4))
    assert there.log_ratio == -back.log_ratio
    assert (there.of_first, back.of_first) == (-3.0, 0.75)


def test_two_runs_have_a_variation() -> None:
    assert variation([9.0, 11.0]) == pytest.approx(math.sqrt(2) / 10)
    assert variation([-1.0, 1.0]) is None


def _steps(values: list[int]) -> list[Histogram]:
    return [_histogram([value] * 100) for value in values]


def test_the_p_value_of_one_percentile_is_that_of_welchs_test() -> None:
    """Of the logarithms of 100, 110, 120 and of 120, 130, 140: t = 2.43449, 3.89226 degrees of freedom."""
    rows = shift(_steps([100, 110, 120]), _steps([120, 130, 140]))
    row = rows[QUANTILES.index(0.5)]
    assert (row.q, row.a_ns, row.b_ns) == (0.5, 110, 130)
    assert row.p_value == pytest.approx(len(rows) * 0.07339199828525128, rel=1e-6)  # Holm: all are alike


def test_single_runs_have_no_p_value_and_constant_ones_a_certain_one() -> None:
    single = shift(_steps([100]), _steps([120]))[0]
    assert (single.p_value, single.ratio.ratio) == (None, pytest.approx(1.2))
    same, moved = (shift(_steps([100, 100]), _steps([at, at]))[0] for at in (100, 120))
    assert (same.p_value, moved.p_value) == (1.0, 0.0)


def test_a_percentile_that_one_tool_does_not_state_is_left_out() -> None:
    states = Histogram.stated(Coarse(total=100, quantiles=(Quantile(0.5, 120),)))
    for sides in ((_steps([100]), [states]), ([states], _steps([100]))):
        assert [row.q for row in shift(*sides)] == [0.5]


def test_the_overlap_of_two_sets_by_hand() -> None:
    """1 2 3 4 against 3 4 5 6: 12 of 16 pairs more are slower than faster, half of them lies apart."""
    a, b = _histogram([1, 2, 3, 4]), _histogram([3, 4, 5, 6])
    there, back = overlap(a, b), overlap(b, a)
    assert there is not None
    assert back is not None
    assert (there.ks, there.cliffs_delta, back.ks, back.cliffs_delta) == (0.5, 0.75, 0.5, -0.75)


def test_the_overlap_of_sets_of_unequal_size_by_hand() -> None:
    """1 2 against 2 3 4 5: of 8 pairs 7 are slower, one is a tie; at 2 the curves stand at 1 and 1/4."""
    found = overlap(_histogram([1, 2]), _histogram([2, 3, 4, 5]))
    assert found is not None
    assert (found.ks, found.cliffs_delta) == (0.75, 0.875)


def test_no_overlap_with_the_buckets_of_another_tool() -> None:
    ours, theirs = _histogram([1]), Histogram.stated(Coarse(total=1, min_ns=1, max_ns=1))
    assert overlap(ours, theirs) is None
    assert overlap(theirs, ours) is None


def test_folding_shares_values_out_over_edges() -> None:
    times = _histogram([100, 100, 300, 900])
    assert fold(times, (100, 200, 500)) == (0.5, 0.0, 0.25, 0.25)  # an edge belongs to the part that it ends
    assert fold(_histogram([2046]), (2046.4, 2047)) == (0.0, 1.0, 0.0)  # the middle of 2046 and 2047
    assert fold(times, ()) == (1.0,)


@pytest.mark.parametrize(
    ("values", "found"),
    [([1, 2, 3], True), ([1, 2], False), ([1, 3, 2], False), ([1, 1, 2], False), ([1, 2, 2], False)],
)
def test_a_drift_rises_each_time(values: list[float], found: bool) -> None:
    assert rising(values) is found


ROUNDS = (0.0, 0.21, -0.12, 0.08, 0.30)  # what the hour does to both sides, as logarithms
OWN = ((0.004, -0.006, 0.002, 0.005, -0.003), (-0.002, 0.005, 0.004, -0.006, 0.001))


def _rounds(shift_by: float) -> tuple[list[float], list[float]]:
    a = [1000 * math.exp(common + own) for common, own in zip(ROUNDS, OWN[0], strict=True)]
    b = [1000 * math.exp(common + own + shift_by) for common, own in zip(ROUNDS, OWN[1], strict=True)]
    return a, b


def test_a_tenth_that_the_hour_hides_is_found_in_the_rounds() -> None:
    alone, together = ab_ratio(*_rounds(math.log(1.1))), ab_ratio(*_rounds(math.log(1.1)), matched=True)
    assert (alone.verdict, alone.paired) == ("inconclusive", False)
    assert (together.verdict, together.paired, together.degrees) == ("small_difference", True, 4.0)
    assert together.ratio == alone.ratio
    assert ab_ratio(*_rounds(0.0), matched=True).verdict == "equivalent"


def test_rounds_that_share_nothing_are_judged_as_before() -> None:
    a, b = [1000.0, 1100.0, 900.0, 1050.0], [1000.0, 930.0, 1080.0, 1010.0]
    assert ab_ratio(a, b, matched=True) == ab_ratio(a, b)


@pytest.mark.parametrize(
    ("factor", "verdict"), [(1.0, "equivalent"), (1.03, "equivalent"), (1.1, "small_difference"), (1.2, "different")]
)
def test_a_tenth_that_is_well_known_is_a_difference(factor: float, verdict: str) -> None:
    """It lies within the margin of equivalence, and yet it is known to 1 %."""
    a = [1000.0, 1003.0, 998.0, 1001.0, 999.0]
    assert ab_ratio(a, [factor * each for each in reversed(a)]).verdict == verdict


def _run_of(*seconds: list[int]) -> tuple[Histogram, Series]:
    """Response times in ns of reads, second by second."""
    times = _histogram([value for second in seconds for value in second])
    ios, sums = tuple(map(len, seconds)), tuple(map(sum, seconds))
    marks = [bucket_index(int(times.quantile_ns(q))) for q in MARKS]
    up_to = tuple(tuple(sum(bucket_index(ns) <= mark for ns in second) for second in seconds) for mark in marks)
    reads = OpSeries(op="read", ios=ios, response_ns=sums, up_to=up_to)
    return times, Series(interval_ns=10**9, ios=ios, bytes=ios, response_ns=sums, ops=(reads,))


def _even(draw: random.Random, each_ns: int, count: int, seconds: int) -> tuple[Histogram, Series]:
    return _run_of(*([round(draw.gauss(each_ns, each_ns / 20)) for _ in range(count)] for _ in range(seconds)))


def _verdicts(*runs: tuple[Histogram, Series]) -> list[str]:
    (a_times, a), (b_times, b) = runs
    rates = [rate_bounds(sum(each.ios) / len(each.ios), each) for each in (a, b)]
    percentiles = [(quantile_bounds(a_times, a, q), quantile_bounds(b_times, b, q)) for q in (0.5, 0.95, 0.99)]
    return [single_ratio(*pair).verdict for pair in ((rates[0], rates[1]), *percentiles)]


@pytest.mark.parametrize("seconds", [3, 12])
def test_single_runs_that_are_far_apart_differ_here(seconds: int) -> None:
    draw = random.Random(1)
    fast, slow = _even(draw, 10**6, 1000 + seconds, seconds), _even(draw, 10**9, 500, seconds)
    assert _verdicts(fast, slow) == _verdicts(slow, fast) == ["different_here"] * 4
    assert _verdicts(fast, _even(draw, 10**6, 1000, seconds)) == ["inconclusive"] * 4


def test_two_intervals_tell_nothing_of_chance() -> None:
    draw = random.Random(1)
    fast, slow = _even(draw, 10**6, 1000, 2), _even(draw, 10**9, 500, 2)
    assert rate_bounds(1000.0, fast[1]) == Bounds(1000.0, None, None)
    assert quantile_bounds(*fast, 0.5).high is None
    assert _verdicts(fast, slow) == ["inconclusive"] * 4


def test_a_percentile_of_few_slow_ios_is_bounded_by_the_mean() -> None:
    """All I/Os beyond the p99 lie in one second of twelve; Markov's inequality still tells it from one far away."""
    draw = random.Random(2)

    def clustered(slow_ns: int) -> tuple[Histogram, Series]:
        calm = [[round(draw.gauss(10**6, 10**5)) for _ in range(1000)] for _ in range(11)]
        return _run_of(*calm, [*calm[0][:700], *([slow_ns] * 300)])

    bounds = quantile_bounds(*clustered(10**7), 0.99)
    assert bounds.high is not None
    assert bounds.high > 100 * 10**6, "the mean is above 1 ms"
    far = quantile_bounds(*_even(draw, 10**10, 1000, 12), 0.99)
    assert single_ratio(bounds, far).verdict == "different_here"
    near = quantile_bounds(*_even(draw, 10**8, 1000, 12), 0.99)
    assert single_ratio(bounds, near).verdict == "inconclusive"


def test_a_percentile_of_few_ios_is_no_less_than_the_fastest_of_them() -> None:
    """Three seconds of a disk against three of flash: 500 times as long is no chance, however few I/Os there are."""
    draw = random.Random(4)
    disk = _run_of(*([round(draw.gauss(5 * 10**7, 10**7)) for _ in range(each)] for each in (76, 90, 72)))
    flash = _even(draw, 10**5, 5000, 3)
    for q in (0.5, 0.95):
        bounds = quantile_bounds(*disk, q)
        assert bounds.low is not None
        assert single_ratio(quantile_bounds(*flash, q), bounds).verdict == "different_here"
    wandering = _run_of([10**7, *[9 * 10**7] * 20], [5 * 10**7] * 21, [6 * 10**7] * 21)
    assert quantile_bounds(*wandering, 0.5).low == 10**7


def test_what_operations_have_in_common_counts_for_both() -> None:
    """Reads and writes slow down in the same seconds: together they are known no better than each alone."""
    draw = random.Random(3)
    seconds = [[round(draw.gauss(10**6 * (1 + at % 2 / 20), 10**5)) for _ in range(200)] for at in range(12)]
    times, series = _run_of(*seconds)
    both = replace(series, ops=(*series.ops, replace(series.ops[0], op="write")))
    alone, together = quantile_bounds(times, series, 0.5), quantile_bounds(merge([times, times]), both, 0.5)
    assert (together.low, together.high) == pytest.approx((alone.low, alone.high), rel=0.001)
    lost = quantile_bounds(times, replace(series, ops=()), 0.5)
    assert (lost.low, lost.high) == (None, None), "not known how they depend on each other"


def _shared(own: float, rounds: tuple[float, ...], apart: tuple[float, ...]) -> tuple[list[float], list[float]]:
    """Rounds that scatter alike on both sides, but for what is `apart`, so many times `own`."""
    a = [1000 * math.exp(common) for common in rounds]
    return a, [before * math.exp(math.log(1.1) + own * each) for before, each in zip(a, apart, strict=True)]


@pytest.mark.parametrize(
    ("sides", "deviation", "t"),
    [
        (_shared(0.01, (-0.2, 0.0, 0.2), (1, -2, 1)), 0.01 * math.sqrt(3), (4.302652730, 2.919985580)),
        (_shared(0.08, (-0.2, -0.1, 0.0, 0.1, 0.2), (1, -1, 1, -1, 0)), 0.08, (2.776445105, 2.131846786)),
    ],
)
def test_the_interval_of_rounds_is_that_of_their_ratios(
    sides: tuple[list[float], list[float]], deviation: float, t: tuple[float, float]
) -> None:
    """By hand: Student's t of 95 % and of 90 %, times the standard deviation of the logarithms over the root of n."""
    found, count = ab_ratio(*sides, matched=True), len(sides[0])
    error = deviation / math.sqrt(count)
    assert (found.paired, found.degrees, found.ratio) == (True, count - 1, pytest.approx(1.1))
    assert (found.low, found.high) == pytest.approx(
        (1.1 * math.exp(-t[0] * error), 1.1 * math.exp(t[0] * error)), rel=1e-6
    )
    assert (found.low90, found.high90) == pytest.approx(
        (1.1 * math.exp(-t[1] * error), 1.1 * math.exp(t[1] * error)), rel=1e-6
    )


def test_rounds_are_used_where_they_halve_the_interval() -> None:
    """Of 0.08 apart the interval is 0.44 of Welch's, of 0.1 it is 0.54."""
    for own, paired in ((0.08, True), (0.1, False)):
        sides = _shared(own, (-0.2, -0.1, 0.0, 0.1, 0.2), (1, -1, 1, -1, 0))
        assert ab_ratio(*sides, matched=True).paired == paired


def test_percentiles_of_rounds_are_compared_round_by_round() -> None:
    a, b = _steps([100, 200, 400]), _steps([110, 220, 440])
    assert [row.ratio.paired for row in shift(a, b, matched=True)] == [True] * len(QUANTILES)
    assert [row.ratio.paired for row in shift(a, b)] == [False] * len(QUANTILES)


def test_the_throughput_of_a_single_run_by_hand() -> None:
    """Three intervals of 54, 46 and 50 I/Os: Student's t of 99 % and two degrees, and wider for there being so few."""
    series = Series(interval_ns=10**9, ios=(54, 46, 50), bytes=(0,) * 3, response_ns=(0,) * 3)
    error = 9.924843201 * math.sqrt(48) * (1 + 4 * 3 / 60 / 3)
    found = rate_bounds(50.0, series)
    assert (found.value, found.low, found.high) == pytest.approx(
        (50.0, 50 * math.exp(-error / 150), 50 * math.exp(error / 150)), rel=1e-6
    )


def test_a_percentile_of_a_single_run_has_its_interval_of_99_percent() -> None:
    times, series = _even(random.Random(6), 10**6, 1000, 12)
    effect = design_effect(design_effects(series.ops[0], Rule(confidence=0.99, least_intervals=3)), 0.5)
    expected = quantile_interval(times, 0.5, effect, 0.99)
    assert expected.low_ns is not None
    assert expected.low_ns > times.least_ns
    assert quantile_bounds(times, series, 0.5) == Bounds(expected.value_ns, expected.low_ns, expected.high_ns)
    assert quantile_interval(times, 0.5, effect).low_ns != expected.low_ns


def test_the_ratio_of_single_runs_is_the_second_over_the_first() -> None:
    found = single_ratio(Bounds(2.0, 1.9, 2.1), Bounds(6.0, 5.7, 6.3))
    assert found == Ratio(3.0, None, None, None, None, None, "different_here")


@pytest.mark.parametrize(
    ("a", "b", "differ"),
    [
        # Each is known to a factor of 2, so their ratio to one of 2.66 (of logarithms the squares add up).
        (Bounds(1.0, 0.5, 2.0), Bounds(4.0, 2.0, 8.0), True),
        (Bounds(1.0, 0.5, 2.0), Bounds(2.6, 1.3, 5.2), False),
        (Bounds(1.0, 0.5, 2.0), Bounds(2.9, 1.45, 5.8), False),  # more, and within the margin
        (Bounds(1.0, 0.5, 2.0), Bounds(3.0, 1.5, 6.0), True),
        # What is not bounded on the side of the other may be anything there.
        (Bounds(1.0, None, None), Bounds(100.0, 90.0, 110.0), False),
        (Bounds(1.0, 0.9, None), Bounds(100.0, 90.0, 110.0), False),
        (Bounds(1.0, 0.9, 1.1), Bounds(100.0, None, 110.0), False),
        (Bounds(1.0, 0.9, 1.1), Bounds(100.0, 0.0, 110.0), False),
        (Bounds(1.0, None, 1.1), Bounds(100.0, 90.0, None), True),
    ],
)
def test_single_runs_differ_beyond_what_is_known_of_both_and_the_margin(a: Bounds, b: Bounds, differ: bool) -> None:
    for sides in ((a, b), (b, a)):
        assert single_ratio(*sides).verdict == ("different_here" if differ else "inconclusive")


def _first_seen(effect: float, scatter: float, rounds: int, seed: int) -> int:
    """The round in which an interval that is looked at after each first leaves out 0; 0: never."""
    drawn = random.Random(seed)
    values = [drawn.gauss(effect, scatter), drawn.gauss(effect, scatter)]
    for count in range(3, rounds + 1):
        values.append(drawn.gauss(effect, scatter))
        half = any_time_half(values, 0.95)
        if half is not None and abs(math.fsum(values) / count) > half:
            return count
    return 0


def test_who_looks_after_each_round_is_wrong_no_more_often() -> None:
    """200 series of pairs that are equal; the interval of a number that is fixed is wrong in a quarter of such."""
    assert sum(_first_seen(0, 0.05, 30, seed) > 0 for seed in range(200)) <= 10


def test_ten_percent_are_seen_within_eight_rounds() -> None:
    assert sum(_first_seen(math.log(1.1), 0.04, 8, seed) > 0 for seed in range(200)) >= 180


def test_what_runs_know_of_a_figure_holds_as_often_as_it_says() -> None:
    """In 95 of 100 series of a fixed length, and in at least as many that stop once the figure is known to 10 %."""
    fixed = sure = runs = 0
    for seed in range(400):
        drawn = random.Random(seed)
        values = [math.exp(drawn.gauss(0, 0.06)) for _ in range(30)]
        typical = math.exp(math.fsum(map(math.log, values[:5])) / 5)
        share = accuracy(values[:5])
        assert share is not None
        fixed += 1 / (1 + share) <= typical <= 1 + share
        for count in range(3, 31):
            share = accuracy(values[:count], any_time=True)
            if share is not None and share <= MARGIN:
                sure += abs(math.fsum(map(math.log, values[:count])) / count) <= math.log1p(share)
                runs += count
                break
    assert 370 <= fixed <= 390
    assert sure >= 390
    assert runs < 400 * 10, "runs that scatter by 6 % need few"


def test_one_run_and_runs_with_nothing_in_common_know_nothing() -> None:
    assert accuracy([100.0]) is None
    assert accuracy([100.0, 101.0, 99.0], any_time=True) is None, "three are too few to stop at"
    assert accuracy([10.0, 1000.0]) is None
    assert accuracy([100.0, 100.0, 100.0]) == 0.0


def test_pairs_until_sure_have_wider_intervals_and_none_while_they_are_few() -> None:
    drawn = random.Random(5)
    a = [drawn.gauss(100, 2) for _ in range(8)]
    b = [value * drawn.gauss(1.2, 0.01) for value in a]
    known, whenever = ab_ratio(a, b, matched=True), ab_ratio(a, b, matched=True, any_time=True)
    assert known.low is not None
    assert whenever.low is not None
    assert whenever.low < known.low < known.ratio == pytest.approx(whenever.ratio)
    assert (whenever.verdict, whenever.paired) == ("different", True)
    few = ab_ratio(a[:3], b[:3], matched=True, any_time=True)
    assert (few.low, few.verdict) == (None, "inconclusive")
    assert ab_ratio(a, b, any_time=True).verdict == "inconclusive", "no pairs"
