"""The curve through open-loop points: the truth of simulated queues inside its interval, and every refusal."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from makers.forecast_vectors import vectors

from iocast.forecast.hockey_stick import Point, fit_hockey_stick
from iocast.forecast.laws.open_queues import mmc

LOADS = (0.2, 0.35, 0.5, 0.65, 0.75, 0.85, 0.92)


def points(servers: int, service_s: float, loads: tuple[float, ...] = LOADS, noise: float = 0.01) -> list[Point]:
    """Open-loop measurements of a known queue, with noise."""
    draw = random.Random(servers)
    limit = servers / service_s
    return [
        Point(limit * load, mmc(limit * load, service_s, servers).response_s * math.exp(draw.gauss(0, noise)), noise)
        for load in loads
    ]


@pytest.mark.parametrize("vector", vectors("knee.fit_open"))
def test_vectors(vector: dict[str, Any]) -> None:
    asked, wanted = vector["in"], vector["out"]
    rows = zip(asked["lambda_per_s"], asked["R_ms"], asked["rel_se"], strict=True)
    found = fit_hockey_stick([Point(rate, ms / 1e3, error) for rate, ms, error in rows])
    if wanted["refused"]:
        assert (found.curve, found.refusal) == (None, "few_rates")
        return
    assert found.curve is not None
    assert found.curve.limit_per_s == pytest.approx(wanted["Xmax"], rel=0.05)
    assert found.curve.limit_low_per_s < wanted["Xmax"] < found.curve.limit_high_per_s


def test_the_limit_of_queues_lies_in_its_interval() -> None:
    covered = []
    for servers in range(1, 11):
        curve = fit_hockey_stick(points(servers, 0.002)).curve
        assert curve is not None, servers
        covered.append(curve.limit_low_per_s <= servers / 0.002 <= curve.limit_high_per_s)
        middle = servers / 0.002 * 0.7
        assert curve.response_s(middle) == pytest.approx(mmc(middle, 0.002, servers).response_s, rel=0.07)
        assert curve.response_s(curve.limit_per_s) == math.inf
    assert sum(covered) >= 9


def test_refusals() -> None:
    assert fit_hockey_stick(points(1, 0.01)[:5]).refusal == "few_rates"
    assert fit_hockey_stick(points(16, 0.01, (0.1, 0.2, 0.3, 0.4, 0.5, 0.55))).refusal == "no_bend"
    light = fit_hockey_stick(points(1, 0.01, (0.05, 0.1, 0.15, 0.2, 0.3, 0.4))).refusal
    assert light in ("limit_unknown", "light_load")
    jumps = [Point(rate, 0.001 * (1 + (rate > 300) * 9 + (rate == 500) * 90), 0.001) for rate in range(100, 1100, 100)]
    assert fit_hockey_stick(jumps).refusal in ("misfit", "limit_unknown", "light_load")


def exact(limit: float, growth: float, loads: tuple[float, ...], error: float = 0.01) -> list[Point]:
    """Points that lie on a curve of 1 ms at rest."""
    return [Point(limit * u, 0.001 * (1 + u**growth / (1 - u)), error) for u in loads]


def wavering(points: list[Point], share: float) -> list[Point]:
    """The same, by turns a share above and below."""
    ways = (1 - share, 1 + share)
    return [point._replace(response_s=point.response_s * ways[at % 2]) for at, point in enumerate(points)]


def test_points_on_a_curve_give_that_curve() -> None:
    curve = fit_hockey_stick(exact(1000.0, 2.0, LOADS)[::-1]).curve
    assert curve is not None
    assert (curve.idle_s, curve.rise_s, curve.limit_per_s, curve.growth, curve.largest_per_s) == pytest.approx(
        (0.001, 0.001, 1000.0, 2.0, 920.0), rel=1e-4
    )
    assert curve.misfit == pytest.approx(0.0, abs=1e-6)
    assert curve.response_s(500.0) == pytest.approx(0.0015, rel=1e-4)
    assert curve.response_s(1001.0) == math.inf
    assert curve.limit_low_per_s * curve.limit_high_per_s == pytest.approx(curve.limit_per_s**2)


def test_a_limit_is_as_sure_as_its_points() -> None:
    """No point counts for more than a hundredth allows, and a curve that misses is no surer than one that does not."""
    widths = []
    for error in (0.02, 0.01, 0.0001, 0.0):
        curve = fit_hockey_stick(exact(1000.0, 2.0, LOADS, error)).curve
        assert curve is not None
        widths.append(math.log(curve.limit_high_per_s / curve.limit_low_per_s))
    assert widths[0] / widths[3] == pytest.approx(math.sqrt(5), rel=1e-3)
    assert widths[1] / widths[3] == pytest.approx(math.sqrt(2), rel=1e-3)
    assert widths[2] == pytest.approx(widths[3], rel=1e-3)
    off = wavering(exact(1000.0, 2.0, LOADS), 0.02)
    curve = fit_hockey_stick(off).curve
    assert curve is not None
    assert curve.misfit > 1
    assert math.log(curve.limit_high_per_s / curve.limit_low_per_s) > 1.2 * widths[1]


def test_six_different_rates_are_the_least() -> None:
    found = exact(1000.0, 1.0, LOADS[1:])
    assert fit_hockey_stick(found).curve is not None
    assert fit_hockey_stick([*found[:5], *found[:5]]).refusal == "few_rates"


def test_each_refusal_has_its_limit() -> None:
    bends = [Point(100.0 * at, 0.001 * (1.49 if at == 7 else 1.0), 0.01) for at in range(1, 8)]
    assert fit_hockey_stick(bends).refusal == "no_bend"
    light = exact(1000.0, 1.0, (0.05, 0.2, 0.3, 0.4, 0.5, 0.6, 0.69), 0.0)
    assert fit_hockey_stick(light).refusal == "light_load"
    assert fit_hockey_stick(exact(1000.0, 1.0, (0.05, 0.2, 0.3, 0.4, 0.5, 0.6, 0.71), 0.0)).curve is not None
    unsure = exact(1000.0, 1.0, (0.05, 0.1, 0.2, 0.3, 0.4, 0.5), 0.3)
    assert fit_hockey_stick(unsure).refusal == "limit_unknown"
    missing = wavering(exact(1000.0, 1.0, tuple(n / 50 for n in range(2, 50)), 0.0), 0.2)
    assert fit_hockey_stick(missing).refusal == "misfit"


def log_response(parameters: Any, rates: Any) -> Any:
    """The logarithm of the curve, by the logarithms of R0, B and the limit, and by g."""
    idle, rise, limit, growth = parameters
    used = rates / math.exp(limit)
    return np.log(math.exp(idle) + math.exp(rise) * used**growth / (1 - used))


@pytest.mark.parametrize("share", [0.0, 0.02])
def test_the_interval_of_the_limit_is_that_of_the_textbook(share: float) -> None:
    """Student's t with three degrees of freedom, by differences; no narrower where the points lie closer by chance."""
    measured = wavering(exact(1000.0, 2.0, LOADS), share)
    curve = fit_hockey_stick(measured).curve
    assert curve is not None
    rates = np.asarray([point.rate_per_s for point in measured])
    at = np.asarray([math.log(curve.idle_s), math.log(curve.rise_s), math.log(curve.limit_per_s), curve.growth])
    step = 1e-6 * np.eye(4)
    weight = 1 / math.hypot(0.01, 0.01)
    slopes = np.column_stack(
        [weight * (log_response(at + by, rates) - log_response(at - by, rates)) / 2e-6 for by in step]
    )
    misses = weight * (log_response(at, rates) - np.log([point.response_s for point in measured]))
    assert curve.misfit == pytest.approx(float(np.sum(misses**2)) / 3, rel=1e-6, abs=1e-9)
    covariance = np.linalg.inv(slopes.T @ slopes) * max(1.0, curve.misfit)
    half = 3.182446 * math.sqrt(covariance[2][2])
    assert math.log(curve.limit_high_per_s / curve.limit_per_s) == pytest.approx(half, rel=1e-3)
