"""Percentiles from a ladder: exact where theory is, slower never than the curve allows, and mixtures that add up."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.left_out import long_after

from iocast.forecast.flow_equivalent import ladder
from iocast.forecast.laws.open_queues import mmc, mmc_quantile_s
from iocast.forecast.response_law import GRID, Law, Mixture, cv2_of, least_between, mixed

LOADS = (1, 2, 4, 8, 16, 32, 64)
MOST = 0.99999  # where a distribution without an end is cut off


@pytest.mark.parametrize("utilisation", long_after(1, [0.3, 0.6, 0.8]))
def test_percentiles_of_one_server_are_those_of_theory(utilisation: float) -> None:
    """M/M/1: whoever finds n takes the sum of n + 1 exponential times."""
    from scipy.stats import gamma

    loads = tuple(range(1, 65))
    times = tuple(tuple(float(gamma.ppf(min(q, MOST), users)) for q in GRID) for users in loads)
    law = Law(ladder(loads, [1.0] * len(loads)), times)
    found = law.mixture(utilisation, 1.0, 0.0)
    assert found.mean_s == pytest.approx(mmc(utilisation, 1.0, 1).response_s, rel=1e-3)
    for q in (0.5, 0.95, 0.99):
        assert found.quantile_s(q) == pytest.approx(mmc_quantile_s(utilisation, 1.0, 1, q), rel=0.01)


def test_a_curve_that_bends_upwards_is_met_from_below() -> None:
    """Of M/M/8 the loads 1 and 32 alone: at 8 the truth is 1, the straight line says 1.7."""
    coarse = ladder((1, 32, 64), (1.0, 8.0, 8.0))
    _, least = least_between(coarse, 8)
    assert coarse.at(8) == pytest.approx(1.68, abs=0.01)
    assert least == pytest.approx(1.0)
    place, at_load = least_between(coarse, 32)
    assert (place, at_load) == (32.0, 4.0)
    for users in range(1, 65):
        assert least_between(coarse, users)[1] <= max(1.0, users / 8) + 1e-9


def test_mixtures() -> None:
    fast, slow = ((1.0,) * len(GRID), (3.0,) * len(GRID))
    one = Mixture(((1.0, fast),), 1.0, 0.5)
    both = mixed([(3.0, one), (1.0, Mixture(((1.0, slow),), 3.0, 0.0))])
    assert both.mean_s == pytest.approx(1.5)
    assert both.share_up_to(2.0) == pytest.approx(0.75)
    assert both.quantile_s(0.5) == pytest.approx(1.0, rel=1e-3)
    assert both.quantile_s(0.9) == pytest.approx(3.0, rel=1e-3)


def _over_grid(points: list[float]) -> tuple[float, ...]:
    """Times at the shares of GRID, with straight lines between so many points; equal ones are a jump."""
    points = sorted(points)
    steps = [at * (len(points) - 1) / (len(GRID) - 1) for at in range(len(GRID) - 1)]
    between = [points[int(at)] + (at - int(at)) * (points[int(at) + 1] - points[int(at)]) for at in steps]
    return (*between, points[-1])


POINTS = st.lists(st.sampled_from((0.0, 1e-4, 2e-4, 1e-3)) | st.floats(1e-6, 1.0), min_size=2, max_size=12)


@given(st.lists(st.tuples(st.floats(0.01, 1.0), POINTS.map(_over_grid)), min_size=2, max_size=5))
def test_several_distributions_as_one_have_their_percentiles(parts: list[tuple[float, tuple[float, ...]]]) -> None:
    total = math.fsum(mass for mass, _ in parts)
    several = Mixture(tuple((mass / total, times) for mass, times in parts), 1.0, 0.5)
    one = several.as_one()
    ((mass, times_s),) = one.parts
    assert (mass, one.mean_s, one.idle) == (1.0, 1.0, 0.5)
    assert list(times_s) == sorted(times_s)
    for share, time_s in zip(GRID, times_s, strict=True):
        assert several.share_up_to(time_s * (1 - 1e-9) - 1e-9) <= share + 1e-9
        assert several.share_up_to(time_s * (1 + 1e-9)) >= share - 1e-9


def test_how_much_a_distribution_varies() -> None:
    assert cv2_of([2.0] * len(GRID)) == 0
    assert cv2_of([-math.log1p(-min(q, MOST)) for q in GRID]) == pytest.approx(1.0, rel=0.02)


def test_a_row_that_is_slower_slows_only_what_depends_on_it() -> None:
    law = Law(ladder(LOADS, [min(each, 8) for each in LOADS]), tuple((float(at),) * len(GRID) for at in range(1, 8)))
    slower = law.scaled(6, 1.5)
    light, heavy = (law.mixture(rate, 1.0, 0.0).mean_s for rate in (2.0, 7.5))
    assert slower.mixture(2.0, 1.0, 0.0).mean_s == pytest.approx(light, rel=1e-6)
    assert slower.mixture(7.5, 1.0, 0.0).mean_s > heavy * 1.01
