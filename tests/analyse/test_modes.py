"""Modes: shapes whose number of peaks is known, and two histograms from Kyle Hailey's slides."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from statistics import stdev

import pytest
from makers import card_runs

from iocast.analyse.modes import GRID, MIN_BANDWIDTH, Mode, coarse_modes, density, modes
from iocast.model.histogram import Histogram, bucket_index, merge
from iocast.model.stated import Bucket, Coarse

SCALE_NS = 1_000_000  # the shapes are in milliseconds
PRODUCTION_US = [10, 50, 100, 200, 500, 1000, 2000, 4000, 8000, 16000, 32000, 64000, 100_000, 500_000]


def splitmix64(seed: int) -> Iterator[float]:
    """Uniform numbers, the same in every language."""
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) & (2**64 - 1)
        mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & (2**64 - 1)
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & (2**64 - 1)
        yield (((mixed ^ (mixed >> 31)) >> 11) + 0.5) / 2**53


def shape(seed: int, *parts: tuple[float, float, float]) -> Histogram:
    """20,000 values of lognormal parts: (weight, median in ms, sigma)."""
    random = splitmix64(seed)
    values = []
    for weight, median, sigma in parts:
        for _ in range(round(weight * 20_000)):
            first, second = next(random), next(random)
            normal = math.sqrt(-2 * math.log(first)) * math.cos(2 * math.pi * second)
            values.append(round(median * math.exp(sigma * normal) * SCALE_NS))
    counts: dict[int, int] = {}
    for value in values:
        counts[bucket_index(value)] = counts.get(bucket_index(value), 0) + 1
    order = sorted(counts)
    return Histogram(tuple(order), tuple(counts[at] for at in order), sum(values), 0.0, min(values), max(values))


@pytest.mark.parametrize(
    ("seed", "parts", "expected"),
    [
        (501, [(1, 1.0, 0.5)], [(0.98552647, 1.0)]),
        (
            502,
            [(0.3, 0.05, 0.25), (0.3, 0.5, 0.3), (0.4, 7, 0.4)],
            [(0.049794917, 0.30001086), (0.49794917, 0.30003148), (6.873612, 0.39995766)],
        ),
        (504, [(0.9, 1, 0.3), (0.1, 4, 0.3)], [(0.97935749, 0.9018107), (3.8988924, 0.098189295)]),
        (
            505,
            [(0.2, 0.015, 0.2), (0.3, 0.25, 0.25), (0.1, 1.2, 0.25), (0.4, 8, 0.4)],
            [(0.014858464, 0.2), (0.25233293, 0.3018), (1.2077413, 0.09815), (7.9794679, 0.40006)],
        ),
        (507, [(0.97, 1, 0.3), (0.03, 10, 0.3)], [(1.0031214, 0.97), (10.74864, 0.03)]),
        (508, [(0.5, 1, 0.2), (0.5, 1.5, 0.2)], [(1.2433227, 1.0)]),
    ],
)
def test_as_many_modes_as_the_shape_has(
    seed: int, parts: list[tuple[float, float, float]], expected: list[tuple[float, float]]
) -> None:
    found = modes(shape(seed, *parts))
    assert [mode.location_ns / SCALE_NS for mode in found] == pytest.approx([at for at, _ in expected], rel=0.08)
    assert [mode.share for mode in found] == pytest.approx([share for _, share in expected], abs=0.03)


def test_one_value_is_one_mode_where_it_stands() -> None:
    (mode,) = modes(Histogram((bucket_index(301_000),), (5000,), 301_000 * 5000, 0.0, 301_000, 301_000))
    assert mode.location_ns == pytest.approx(301_000, rel=0.03)
    assert mode.share == pytest.approx(1)


def test_too_few_values_have_no_modes_but_a_density() -> None:
    few = Histogram((bucket_index(10_000), bucket_index(90_000)), (400, 599), 0, 0.0, 10_000, 90_000)
    assert modes(few) == ()
    found = density(few)
    assert found is not None
    assert sum(found.values) * 0.01 == pytest.approx(1, abs=1e-3)
    assert density(Histogram()) is None


def test_the_slides_histograms_have_the_modes_that_one_sees() -> None:
    production = [4419, 2713, 391, 118, 22189, 2794, 1688, 2003, 11969, 14877, 2003, 105, 3, 3]
    development = [0, 1, 14, 908, 13238, 6900, 9197, 15603, 9056, 265, 26, 12, 12, 0]
    assert _close(coarse_modes(PRODUCTION_US, production), [(10, 0.11525086), (500, 0.38454232), (16000, 0.50020682)])
    assert _close(coarse_modes(PRODUCTION_US, development), [(500, 0.25639122), (4000, 0.74360878)])
    assert coarse_modes(PRODUCTION_US, [0] * 14) == ()


def _close(found: tuple[Mode, ...], expected: list[tuple[float, float]]) -> bool:
    pairs = [(mode.location_ns, mode.share) for mode in found]
    return pairs == [(at, pytest.approx(share, rel=1e-6)) for at, share in expected]


def test_what_another_tool_states_is_a_step_for_each_bucket_with_its_modes() -> None:
    """A cache and a disk, as fio's text would print them."""
    edges = (
        (0, 50, 0.0),
        (50, 100, 60.0),
        (100, 250, 5.0),
        (250, 4000, 5.0),
        (4000, 10_000, 29.0),
        (10_000, None, 1.0),
    )
    buckets = tuple(Bucket(low * 1000, high and high * 1000, share) for low, high, share in edges)
    found = density(Histogram.stated(Coarse(total=20_000, max_ns=12_000_000, buckets=buckets, whole=100.0)))
    assert found is not None
    assert sum(found.values) * GRID == pytest.approx(1, abs=0.03)
    assert [mode.location_ns for mode in found.modes] == pytest.approx([70_711, 6_324_555], rel=1e-3)
    assert [mode.share for mode in found.modes] == pytest.approx([0.65, 0.35], abs=0.06)
    assert density(Histogram.stated(Coarse(total=20_000))) is None


STATED_US = [
    # Buckets in us with their per cents, what else is stated, and: where it begins, how many cells, the first and the
    # last step as (cell, density for a decade), where its mode is.
    ([(1, 10, 60), (10, 100, 40)], {}, 2.99, 203, (1, 0.6), (200, 0.4), 3162.28),
    (
        [(0, 10, 60), (10, None, 40)],
        {"min_ns": 2000, "max_ns": 15_000},
        3.29,
        104,
        (1, 0.8584),
        (100, 1.3288),
        14142.14,
    ),
    ([(0, 10, 60), (10, None, 40)], {"max_ns": 50_000}, 3.68, 104, (2, 1.9932), (101, 0.5723), 7071.07),
    ([(0, 10, 0), (10, 20, 0), (20, None, 100), (1000, None, 0)], {}, 4.29, 34, (1, 3.3219), (30, 3.3219), 28284.27),
]


@pytest.mark.parametrize(("buckets", "more", "low", "cells", "first", "last", "mode"), STATED_US)
def test_steps_of_stated_buckets(
    buckets: list[tuple[int, int | None, float]],
    more: dict[str, int],
    low: float,
    cells: int,
    first: tuple[int, float],
    last: tuple[int, float],
    mode: float,
) -> None:
    """An open bucket ends at the maximum or at twice its start; one from 0 begins at the minimum or half its end."""
    parts = tuple(Bucket(start * 1000, end and end * 1000, share) for start, end, share in buckets)
    found = density(Histogram.stated(Coarse(total=1000, buckets=parts, whole=100.0, **more)))
    assert found is not None
    steps = [(at, round(value, 4)) for at, value in enumerate(found.values) if value]
    assert (round(found.low, 9), len(found.values)) == (low, cells)
    assert (steps[0], steps[-1]) == (first, last)
    assert [(each.location_ns, each.share) for each in found.modes] == [(pytest.approx(mode), 1.0)]
    few = density(Histogram.stated(Coarse(total=999, buckets=parts, whole=100.0, **more)))
    assert few is not None
    assert few.modes == (), "peaks of few I/Os are chance"


@pytest.mark.parametrize("seed", range(3))
def test_buckets_as_narrow_as_our_own_are_smoothed_as_ours(seed: int) -> None:
    """fio's json+ has 64 buckets an octave: of ten thousand I/Os each holds so few that neighbours differ by chance."""
    random = Random(seed)
    counts: Counter[int] = Counter()
    for _ in range(10_000):
        octave, step = divmod(int(64 * math.log2(random.lognormvariate(math.log(600_000), 0.5))), 64)
        counts[round(2 ** (octave + step / 64))] += 1
    buckets = tuple(Bucket(at, round(at * 2 ** (1 / 64)), count) for at, count in sorted(counts.items()))
    stated = Coarse(total=10_000, buckets=buckets, whole=10_000.0)
    found = density(Histogram.stated(stated))
    assert found is not None
    assert [each.share for each in found.modes] == [pytest.approx(1)]


def test_one_stated_value_has_no_density() -> None:
    buckets = (Bucket(0, 10_000, 60.0),)
    assert density(Histogram.stated(Coarse(total=1, buckets=buckets, whole=60.0))) is None
    assert density(Histogram.stated(Coarse(total=2, buckets=buckets, whole=60.0))) is not None
    assert density(Histogram.stated(Coarse(total=9, buckets=(Bucket(0, 10_000, 0.0),), whole=60.0))) is None


@pytest.mark.parametrize(("count", "expected"), [(1000, 1), (2000, 2)])
def test_a_valley_parts_peaks_where_chance_alone_makes_none_so_deep(count: int, expected: int) -> None:
    """A tenth at 2.15 times the time of the others, a valley of two thirds: 2.0 and 2.85 standard deviations deep."""
    parts = [card_runs.lognormal(round(0.9 * count), 1e6, 0.2), card_runs.lognormal(round(0.1 * count), 2.15e6, 0.15)]
    assert len(modes(merge(parts))) == expected


def test_a_small_peak_far_from_a_wide_one_is_no_chance() -> None:
    parts = [card_runs.lognormal(1000, 1e5, 1.0), card_runs.lognormal(60, 1e9, 0.3)]
    found = [(mode.location_ns, mode.share) for mode in modes(merge(parts))]
    assert found == [(pytest.approx(1e5, rel=0.03), 1000 / 1060), (pytest.approx(1e9, rel=0.03), 60 / 1060)]


@pytest.mark.parametrize("seed", range(601, 621))
def test_the_thin_tail_of_a_narrow_peak_is_no_row_of_peaks(seed: int) -> None:
    """Nine in ten at 585 us, the others exponential with 6 ms: what a fast tier and disks behind it make of a scan."""
    random = splitmix64(seed)
    values = [585_000 + round(2_000 * next(random)) for _ in range(2_050)]
    values += [585_000 + round(-6 * SCALE_NS * math.log(next(random))) for _ in range(250)]
    counts: dict[int, int] = {}
    for value in values:
        counts[bucket_index(value)] = counts.get(bucket_index(value), 0) + 1
    order = sorted(counts)
    found = modes(
        Histogram(tuple(order), tuple(counts[at] for at in order), sum(values), 0.0, min(values), max(values))
    )
    assert len(found) <= 2, found


def _held(values: list[int]) -> Histogram:
    """The histogram of some values in ns."""
    counts: dict[int, int] = {}
    for value in values:
        counts[bucket_index(value)] = counts.get(bucket_index(value), 0) + 1
    order = sorted(counts)
    return Histogram(tuple(order), tuple(counts[at] for at in order), sum(values), 0.0, min(values), max(values))


def _kernels(values: list[int]) -> tuple[float, Callable[[float], float]]:
    """Silverman's width of some values over log10, and the density by its definition: a Gaussian for each value."""
    logs = sorted(math.log10(value) for value in values)
    middle = (logs[math.ceil(0.75 * len(logs)) - 1] - logs[math.ceil(0.25 * len(logs)) - 1]) / 1.349
    width = max(MIN_BANDWIDTH, 0.9 * min(stdev(logs), middle) / len(logs) ** 0.2)

    def density_at(place: float) -> float:
        sums = math.fsum(math.exp(-(((place - each) / width) ** 2) / 2) for each in logs)
        return sums / (len(logs) * width * math.sqrt(2 * math.pi))

    return width, density_at


def _normals(count: int, middle_ns: float, sigma: float, seed: int) -> list[int]:
    random = Random(seed)
    return [round(middle_ns * math.exp(sigma * random.gauss(0, 1))) for _ in range(count)]


@pytest.mark.parametrize(
    ("values", "narrow"),
    [
        (_normals(300, 2e6, 1.0, 1), False),
        (_normals(100, 1e5, 1.2, 2) + _normals(100, 1e6, 0.4, 3), False),  # its quarters are further apart
        (_normals(300, 1e6, 0.5, 4) + _normals(20, 1e8, 2.0, 5), False),  # its tail is
        (_normals(500, 3e5, 0.05, 6), True),
        ([400_000, 500_000], False),
        ([300_000, 400_000, 500_000], False),
        ([100_000, 200_000, 220_000, 10_000_000], False),  # the third of four ends the third quarter
    ],
)
def test_a_density_is_a_kernel_for_each_value(values: list[int], narrow: bool) -> None:
    width, expected = _kernels(values)
    assert (width == MIN_BANDWIDTH) == narrow
    found = density(_held(values))
    assert found is not None
    assert found.modes == (), "too few for modes"
    places = [found.low + at * GRID for at in range(len(found.values))]
    # Four widths beyond the values, and no more than the grid makes of it.
    assert -4 * GRID < places[0] - (math.log10(min(values)) - 4 * width) < GRID
    assert -GRID < places[-1] - (math.log10(max(values)) + 4 * width) < 4 * GRID
    exact = [expected(place) for place in places]
    assert list(found.values) == pytest.approx(exact, abs=0.015 * max(exact))


def test_a_thousand_values_are_enough_for_modes_and_none_have_none() -> None:
    for count, found in ((999, 0), (1000, 1)):
        assert len(modes(_held([250_000] * count))) == found
    assert modes(Histogram()) == ()
    assert modes(Histogram.stated(Coarse(total=20_000))) == (), "no buckets are stated"


def test_a_time_of_no_length_is_drawn_at_a_nanosecond() -> None:
    (mode,) = modes(_held([0] * 1000))
    assert mode.location_ns == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("counts", "counted", "found"),
    [
        ((100, 80, 100), False, [(1, 100), (4, 180)]),  # a valley belongs to its right
        ((100, 81, 100), False, [(1, 281)]),  # too shallow, and of equal peaks the first remains
        ((100, 85, 95, 10, 50), False, [(1, 280), (16, 60)]),
        ((95, 85, 100, 10, 50), False, [(4, 280), (16, 60)]),
        ((100, 10, 50, 45, 60), False, [(1, 100), (16, 165)]),
        ((990, 0, 10), False, [(1, 990), (4, 10)]),  # a hundredth of all is a peak
        ((1000, 0, 10), False, [(1, 1010)]),
        ((10, 0, 1000, 0, 990), False, [(4, 1010), (16, 990)]),
        ((50, 100, 100, 50), False, [(2, 300)]),  # a level top is one, at its first point
        ((100, 50, 50, 100), False, [(1, 100), (8, 200)]),
        ((100, 100), False, [(1, 200)]),
        ((495, 405, 495), False, [(1, 1395)]),
        ((495, 405, 495), True, [(1, 495), (4, 900)]),  # deeper by just three standard deviations of both counts
        ((494, 405, 495), True, [(4, 1394)]),
        ((7,), False, [(1, 7)]),
        ((0, 0, 7), False, [(4, 7)]),
        ((0, 0, 1), False, [(4, 1)]),
    ],
)
def test_peaks_of_few_buckets_by_hand(counts: tuple[int, ...], counted: bool, found: list[tuple[int, int]]) -> None:
    """Each bucket an octave wide."""
    uppers = [2**at for at in range(len(counts))]
    peaks = [
        (mode.location_ns, round(mode.share * sum(counts))) for mode in coarse_modes(uppers, counts, counted=counted)
    ]
    assert peaks == found


def test_wide_buckets_count_for_their_width() -> None:
    assert [mode.location_ns for mode in coarse_modes([10, 40, 80], [100, 100, 100])] == [10, 80]
    assert [mode.location_ns for mode in coarse_modes([10, 20, 40], [100, 100, 100])] == [10]
    assert len(coarse_modes([1, 2, 4], [495, 405, 495])) == 1, "nothing says that the source counted"


def test_where_the_source_counts_a_shallow_valley_parts_and_where_it_rounds_it_does_not() -> None:
    """495, 405 and 495 of 1395 I/Os, an octave each."""
    edges = (500, 1000, 2000, 4000)
    for whole, parted in ((None, 2), (100.0, 1)):
        weights = [each * (1 if whole is None else whole / 1395) for each in (495, 405, 495)]
        buckets = tuple(Bucket(low, high, weight) for low, high, weight in zip(edges, edges[1:], weights, strict=False))
        stated = Coarse(total=1395, buckets=buckets, whole=1395.0 if whole is None else whole)
        found = density(Histogram.stated(stated))
        assert found is not None
        assert stated.holds_counts == (whole is None)
        assert len(found.modes) == parted


@pytest.mark.parametrize(
    ("edges", "weights", "mode"),
    [
        # A rising density of 9, 20 and 35 for an octave has one mode; of 30, 20 and 35 it had two.
        ((1000, 10_000, 20_000, 40_000), (30.0, 20.0, 35.0), 28_284.27),
        ((1000, 2000, 4000), (40.0, 45.0), 2828.427),
    ],
)
def test_the_first_of_stated_buckets_is_as_wide_as_it_is_and_no_octave(
    edges: tuple[int, ...], weights: tuple[float, ...], mode: float
) -> None:
    buckets = tuple(Bucket(low, high, weight) for low, high, weight in zip(edges, edges[1:], weights, strict=False))
    found = density(Histogram.stated(Coarse(total=1000, buckets=buckets, whole=85.0)))
    assert found is not None
    assert [(each.location_ns, each.share) for each in found.modes] == [(pytest.approx(mode), pytest.approx(1.0))]


def test_a_stated_bucket_narrower_than_the_grid_has_one_cell_and_one_of_no_width_none() -> None:
    narrow = density(Histogram.stated(Coarse(total=9, buckets=(Bucket(1000, 1005, 9.0),), whole=9.0)))
    assert narrow is not None
    assert [value > 0 for value in narrow.values].count(True) == 1
    assert density(Histogram.stated(Coarse(total=9, buckets=(Bucket(0, 1, 9.0),), whole=9.0))) is None
