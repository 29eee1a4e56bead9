"""The verdict on a forecast, line by line of its table."""

from __future__ import annotations

from typing import Any

import pytest
from makers.forecast_vectors import vectors
from msgspec.structs import replace

from iocast.forecast.outlook import Outlook, verdict

FINE = Outlook(low_s=0.002, base_s=0.003, high_s=0.004, limit_s=0.010, utilisation_high=0.55)


@pytest.mark.parametrize("vector", vectors("verdict"))
def test_vectors(vector: dict[str, Any]) -> None:
    asked = vector["in"]
    outlook = Outlook(
        low_s=asked["p99_low_ms"] / 1e3,
        base_s=asked["p99_ms"] / 1e3,
        high_s=asked["p99_high_ms"] / 1e3,
        limit_s=asked["slo_ms"] / 1e3,
        utilisation_high=asked["U_peak_high"],
        overloaded=asked["refusal"] == "over",
        believed=asked["refusal"] in (None, "over"),
    )
    assert verdict(outlook).upper() == vector["out"]["verdict"]


@pytest.mark.parametrize(
    ("change", "answer"),
    [
        ({}, "ok"),
        ({"high_s": 0.010, "utilisation_high": 0.70}, "ok"),
        ({"sure": False}, "marginal"),
        ({"utilisation_high": 0.71}, "marginal"),
        ({"high_s": 0.011}, "marginal"),
        ({"base_s": 0.010, "high_s": 0.011}, "marginal"),
        ({"utilisation_high": 0.85}, "marginal"),
        ({"low_s": 0.010, "base_s": 0.011, "high_s": 0.012}, "at_risk"),
        ({"utilisation_high": 0.86}, "at_risk"),
        ({"base_s": 0.011, "high_s": 0.012}, "at_risk"),
        ({"low_s": 0.011, "base_s": 0.012, "high_s": 0.013}, "not_ok"),
        ({"overloaded": True}, "not_ok"),
        ({"overloaded": True, "believed": False}, "not_ok"),
        ({"believed": False}, "unknown"),
    ],
)
def test_each_line_of_the_table(change: dict[str, Any], answer: str) -> None:
    assert verdict(replace(FINE, **change)) == answer
