"""Least squares within bounds: the same answer as scipy's, on laws of two and three parameters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

from iocast.analyse.least_squares import Law, least_squares
from iocast.analyse.scalability import scalability

LOADS = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(
    contention=st.floats(0, 0.5),
    crosstalk=st.floats(0, 0.01),
    noise=st.lists(st.floats(-0.05, 0.05), min_size=7, max_size=7),
)
def test_the_scalability_law_is_fitted_as_by_scipy(contention: float, crosstalk: float, noise: list[float]) -> None:
    rates = [
        1000 * n / (1 + contention * (n - 1) + crosstalk * n * (n - 1)) * (1 + miss)
        for n, miss in zip(LOADS, noise, strict=True)
    ]
    law = scalability(LOADS, rates)
    assert law is not None
    n, x = np.asarray(LOADS), np.asarray(rates)

    def misses(parameters: Any) -> Any:
        g, a, b = parameters
        return (g * n / (1 + a * (n - 1) + b * n * (n - 1)) * x[0] - x) / x.max()

    bounds = ((0, 0, 0), (np.inf, 1, np.inf))
    theirs = min(
        (
            scipy.optimize.least_squares(misses, (1.0, a, b), bounds=bounds, xtol=1e-14, ftol=1e-14, gtol=1e-14)
            for a, b in ((0.01, 1e-5), (0.1, 1e-3), (0.3, 1e-2))
        ),
        key=lambda fit: fit.cost,
    )
    ours = 0.5 * float(np.sum(misses((law.single_per_s / x[0], law.contention, law.crosstalk)) ** 2))
    assert ours <= theirs.cost * (1 + 1e-6) + 1e-12


def line_through(*values: float) -> Law:
    """The law of a line, by how far it misses these values at 0, 1, 2 …"""

    def law(parameters: list[float]) -> tuple[list[float], list[list[float]]]:
        rise, start = parameters
        return [start + rise * n - value for n, value in enumerate(values)], [
            [float(n), 1.0] for n in range(len(values))
        ]

    return law


UNBOUND = (-math.inf, -math.inf), (math.inf, math.inf)


@pytest.mark.parametrize("first", [1.0, -1.0, 0.0])
def test_a_parameter_on_its_bound_is_held(first: float) -> None:
    falls, rises = line_through(5, 4, 3, 2, 1), line_through(1, 2, 3, 4, 5)
    fit = least_squares(falls, (first, 0.0), (0.0, -math.inf), (math.inf, math.inf))
    assert fit.parameters == pytest.approx((0.0, 3.0))  # it falls: with no fall allowed, the mean
    assert fit.cost == pytest.approx(5.0)
    fit = least_squares(rises, (first, 0.0), (-math.inf, -math.inf), (0.0, math.inf))
    assert fit.parameters == pytest.approx((0.0, 3.0))


@pytest.mark.parametrize(("low", "high"), [((0.0, -1.0), (math.inf, 2.0)), ((-math.inf, 1.0), (0.0, 2.0))])
def test_a_start_on_a_bound_that_it_wants_to_leave_is_not_held(low: tuple[float, ...], high: tuple[float, ...]) -> None:
    """The line through its values rises, or falls, from 1 or 2 on; it starts level, from the other end."""
    values = (1.0, 3.0, 5.0) if low[0] == 0 else (2.0, 1.0, 0.0)
    fit = least_squares(line_through(*values), (0.0, low[1]), low, high)
    assert fit.parameters == pytest.approx(((2.0, 1.0) if low[0] == 0 else (-1.0, 2.0)), abs=1e-6)


def test_what_the_data_do_not_tell_apart_has_no_covariance() -> None:
    def only_their_sum(parameters: list[float]) -> tuple[list[float], list[list[float]]]:
        return [sum(parameters) - value for value in (2.9, 3.1)], [[1.0, 1.0], [1.0, 1.0]]

    fit = least_squares(only_their_sum, (0.0, 1.0), *UNBOUND)
    assert sum(fit.parameters) == pytest.approx(3.0)
    assert fit.covariance == ((math.inf, math.inf), (math.inf, math.inf))


def test_a_parameter_that_nothing_depends_on_has_no_covariance() -> None:
    def without_the_other(parameters: list[float]) -> tuple[list[float], list[list[float]]]:
        return [parameters[0] - 3.0], [[1.0, 0.0]]

    assert least_squares(without_the_other, (0.0, 1.0), *UNBOUND).covariance == ((math.inf,) * 2,) * 2


def test_a_line_has_the_covariance_of_the_textbook() -> None:
    fit = least_squares(line_through(1, 3, 5, 7, 9), (0.0, 0.0), *UNBOUND)
    assert fit.parameters == pytest.approx((2.0, 1.0))
    assert fit.covariance[0][1] == pytest.approx(-2 / 10)
    assert fit.covariance[0][0] == pytest.approx(1 / 10)  # 1 / sum of (n - 2)^2
    assert fit.covariance[1][1] == pytest.approx(1 / 5 + 4 / 10)


def test_a_curved_valley_is_followed_to_its_end() -> None:
    """Rosenbrock's: whole steps overshoot, so that the damping must grow and fall again."""

    def law(parameters: list[float]) -> tuple[list[float], list[list[float]]]:
        x, y = parameters
        return [10 * (y - x * x), 1 - x], [[-20 * x, 10.0], [-1.0, 0.0]]

    for start in ((-1.2, 1.0), (-30.0, 50.0), (0.0, -100.0)):
        fit = least_squares(law, start, *UNBOUND)
        assert fit.parameters == pytest.approx((1.0, 1.0), abs=1e-6)
        assert fit.cost == pytest.approx(0.0, abs=1e-12)


def test_steps_that_would_only_make_it_worse_end_the_search() -> None:
    """The misses are least at 1, where their slope claims that they still fall."""
    asked = list[float]()

    def law(parameters: list[float]) -> tuple[list[float], list[list[float]]]:
        asked.append(parameters[0])
        return [1 + abs(parameters[0] - 1)], [[1.0]]

    fit = least_squares(law, (1.0,), (-math.inf,), (math.inf,))
    assert (fit.parameters, fit.cost) == ((1.0,), 0.5)
    assert 10 < len(asked) < 30  # a tenth of the step before, each time


def test_a_weak_pull_too_takes_a_parameter_off_its_bound() -> None:
    fit = least_squares(line_through(0.02, 0.01, 0.0), (0.0, 0.02), (-math.inf, -math.inf), (0.0, math.inf))
    assert fit.parameters == pytest.approx((-0.01, 0.02))
    fit = least_squares(line_through(0.0, 0.01, 0.02), (0.0, 0.0), (0.0, -math.inf), (math.inf, math.inf))
    assert fit.parameters == pytest.approx((0.01, 0.0), abs=1e-9)
