"""Least squares within bounds: the same answer as scipy's, on laws of two and three parameters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

from iocast.analyse.least_squares import least_squares
from iocast.analyse.scalability import scalability

LOADS = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]


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


def test_a_parameter_on_its_bound_is_held() -> None:
    def law(parameters: list[float]) -> tuple[list[float], list[list[float]]]:
        rise, start = parameters
        return [start + rise * n - (5 - n) for n in range(5)], [[float(n), 1.0] for n in range(5)]

    fit = least_squares(law, (1.0, 0.0), (0.0, -math.inf), (math.inf, math.inf))
    assert fit.parameters == pytest.approx((0.0, 3.0))  # it falls: with no fall allowed, the mean


def test_a_line_has_the_covariance_of_the_textbook() -> None:
    def law(parameters: list[float]) -> tuple[list[float], list[list[float]]]:
        rise, start = parameters
        return [start + rise * n - (2 * n + 1) for n in range(5)], [[float(n), 1.0] for n in range(5)]

    fit = least_squares(law, (0.0, 0.0), (-math.inf, -math.inf), (math.inf, math.inf))
    assert fit.parameters == pytest.approx((2.0, 1.0))
    assert fit.covariance[0][0] == pytest.approx(1 / 10)  # 1 / sum of (n - 2)^2
    assert fit.covariance[1][1] == pytest.approx(1 / 5 + 4 / 10)
