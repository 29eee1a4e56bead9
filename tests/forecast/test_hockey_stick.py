"""The curve through open-loop points: the truth of simulated queues inside its interval, and every refusal."""

from __future__ import annotations

import math
import random
from typing import Any

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
