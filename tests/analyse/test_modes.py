"""Modes: shapes whose number of peaks is known, and two histograms from Kyle Hailey's slides."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest

from iocast.analyse.modes import GRID, Mode, coarse_modes, density, modes
from iocast.model.histogram import Histogram, bucket_index
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
    ([(0, 10, 60), (10, None, 40)], {"min_ns": 2000, "max_ns": 15_000}, 3.29, 104, (1, 0.8584), (100, 1.3288), 4472.14),
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


def test_one_stated_value_has_no_density() -> None:
    buckets = (Bucket(0, 10_000, 60.0),)
    assert density(Histogram.stated(Coarse(total=1, buckets=buckets, whole=60.0))) is None
    assert density(Histogram.stated(Coarse(total=2, buckets=buckets, whole=60.0))) is not None
    assert density(Histogram.stated(Coarse(total=9, buckets=(Bucket(0, 10_000, 0.0),), whole=60.0))) is None


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
