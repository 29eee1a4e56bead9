"""The universal scalability law: the design's vectors, and what cannot be fitted."""

from __future__ import annotations

import math

import numpy as np
import pytest

from iocast.analyse.scalability import Scalability, scalability

LOADS = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0]
# Loads, rates, then g, a, b and the load of the peak: usl.fit#1 (the published SDM91 data), #2, #4, #5.
FITS = [
    (
        [1.0, 18.0, 36.0, 72.0, 108.0, 144.0, 216.0],
        [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2],
        (89.99514, 0.027728393, 0.00010436573, 96.51945),
    ),
    (
        LOADS,
        [999.718, 1898.612, 3463.775, 5776.127, 8593.125, 10394.07, 10251.551, 8322.869],
        (1013.8891, 0.052602489, 0.00049121969, 43.916552),
    ),
    (
        LOADS,
        [8942.305, 15788.338, 24522.549, 35562.608, 44383.964, 49993.257, 52741.19, 53278.299],
        (9083.6979, 0.15155834, 0.00010092734, 91.68675),
    ),
    (
        LOADS,
        [80.809, 121.651, 162.355, 191.797, 194.586, 179.023, 141.445, 98.498],
        (80.202473, 0.30673323, 0.0039439288, 13.258233),
    ),
]


@pytest.mark.parametrize(("loads", "rates", "wanted"), FITS)
def test_known_fits(loads: list[float], rates: list[float], wanted: tuple[float, ...]) -> None:
    law = scalability(loads, rates)
    assert law is not None
    assert (law.single_per_s, law.contention, law.crosstalk, law.peak_load) == pytest.approx(wanted, rel=0.002)
    assert law.crosstalk_low < law.crosstalk < law.crosstalk_high


def test_the_law_gives_back_its_points() -> None:
    law = scalability(LOADS, [1000 * n / (1 + 0.05 * (n - 1) + 0.0005 * n * (n - 1)) for n in LOADS])
    assert law is not None
    assert law.rate_per_s(32) == pytest.approx(10505.581, rel=1e-4)
    assert law.peak_load == pytest.approx(43.588989, rel=1e-4)


def test_without_crosstalk_there_is_no_peak_and_few_points_tell_nothing() -> None:
    law = scalability(LOADS, [100 * n for n in LOADS])
    assert law is not None
    assert law.crosstalk_low <= 0 or math.isinf(law.peak_load) or law.peak_load > 1000
    assert scalability([1, 2, 4, 8], [1, 2, 4, 8]) is None
    assert scalability(LOADS, [0.0] * 8) is None


def test_the_interval_of_crosstalk_is_that_of_the_textbook() -> None:
    """Student's t with five degrees of freedom, by the slopes of the law in its own parameters."""
    loads, rates, _ = FITS[1]
    law = scalability(loads, rates)
    assert law is not None
    n, x = np.asarray(loads), np.asarray(rates)
    below = 1 + law.contention * (n - 1) + law.crosstalk * n * (n - 1)
    fitted = law.single_per_s * n / below
    slopes = np.column_stack([n / below, -fitted * (n - 1) / below, -fitted * n * (n - 1) / below])
    variance = float(np.sum((fitted - x) ** 2)) / (len(n) - 3)
    half = 2.570582 * math.sqrt(variance * np.linalg.inv(slopes.T @ slopes)[2][2])
    assert law.crosstalk - law.crosstalk_low == pytest.approx(half, rel=1e-4)
    assert law.crosstalk_high - law.crosstalk == pytest.approx(half, rel=1e-4)


def test_five_points_are_the_least() -> None:
    rates = [1000 * n / (1 + 0.05 * (n - 1)) for n in LOADS]
    assert scalability(LOADS[:5], rates[:5]) is not None
    assert scalability(LOADS[:4], rates[:4]) is None
    assert scalability(LOADS, rates[:7]) is None
    assert scalability(LOADS, [*rates[:7], 0.0]) is None


def test_contention_alone_has_no_peak_and_all_contention_has_it_at_nought() -> None:
    assert Scalability(1.0, 0.5, 0.0, 0.0, 0.0).peak_load == math.inf
    assert Scalability(1.0, 1.0, 0.1, 0.0, 0.0).peak_load == 0.0
    assert Scalability(1.0, 0.75, 0.01, 0.0, 0.0).peak_load == pytest.approx(5.0)


def test_loads_need_not_start_at_one() -> None:
    loads = [2.0, 4.0, 8.0, 16.0, 32.0]
    law = scalability(loads, [1000 * n / (1 + 0.05 * (n - 1) + 0.0005 * n * (n - 1)) for n in loads])
    assert law is not None
    assert (law.single_per_s, law.contention, law.crosstalk) == pytest.approx((1000.0, 0.05, 0.0005), rel=1e-4)


def test_contention_is_no_more_than_all_and_rates_may_be_slow() -> None:
    falls = scalability(LOADS, [0.1 * n / (1 + 1.5 * (n - 1)) for n in LOADS])
    assert falls is not None
    assert falls.contention <= 1.0
