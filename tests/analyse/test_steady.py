"""Steadiness: the published answers to the digit, and properties that no series may break."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iocast.analyse import steady

VECTORS: dict[str, Any] = json.loads((Path(__file__).parent / "steady_vectors.json").read_text())


def _vectors(function: str) -> list[Any]:
    return [pytest.param(each, id=name) for name, each in VECTORS.items() if name.startswith(function)]


def noisy(levels: list[float], *, cv: float = 0.05, seed: int = 1) -> list[float]:
    """A series around these levels."""
    dice = random.Random(seed)
    return [level * max(0.01, 1 + cv * dice.gauss(0, 1)) for level in levels]


@pytest.mark.parametrize("vector", _vectors("stats.mser5"))
def test_mser5(vector: Any) -> None:
    cut = steady.mser5(vector["y"])
    assert (cut.batches, cut.cut_batches, cut.cut, cut.valid) == (
        vector["batches"],
        vector["cut_batches"],
        vector["cut_samples"],
        vector["valid"],
    )
    assert cut.stat == pytest.approx(vector["stat"], rel=1e-6)


@pytest.mark.parametrize("vector", _vectors("stats.batch_means"))
def test_batch_means(vector: Any) -> None:
    found = steady.batch_means(vector["y"])
    assert found is not None
    assert found.mean == pytest.approx(vector["mean"], rel=1e-7)
    assert found.half_width == pytest.approx(vector["half_width"], rel=1e-6)
    assert found.lag_1 == pytest.approx(vector["r1"], rel=1e-6)
    assert found.half_width_inflated == pytest.approx(vector["half_width_inflated"], rel=1e-6)


@pytest.mark.parametrize(
    ("rounds", "at"),
    [
        ([120, 110, 104, 101, 100, 99, 100, 101], 6),
        ([100, 112, 95, 108, 91, 103, 99], 6),
        ([100, 100, 125, 100, 100, 100, 100, 99], 7),
        ([80, 100, 80, 100, 80, 100, 80], None),
        ([0, 0, 0, 0, 0], None),
    ],
)
def test_the_rule_of_five_rounds(rounds: list[float], at: int | None) -> None:
    assert steady.snia_round(rounds) == at


@pytest.mark.parametrize(
    ("values", "deviation", "each", "window"),
    [
        ([100, 101, 99, 100, 102, 98, 100, 100, 101, 99], 2.0, -0.048484848, -0.43636364),
        ([100, 99, 98, 97, 96, 95, 94, 93, 92, 91], 4.7120419, -1.0471204, -9.4240838),
    ],
)
def test_what_fio_calls_steady(values: list[float], deviation: float, each: float, window: float) -> None:
    """Its slope is an interval's: the whole window drifts nine times as far."""
    assert 100 * steady.fio_deviation(values) == pytest.approx(deviation)
    assert 100 * steady.fio_slope(values) == pytest.approx(each)
    assert 100 * steady.fio_slope(values) * (len(values) - 1) == pytest.approx(window)


def test_a_steady_series_is_accepted_and_one_that_drifts_is_not() -> None:
    accepted = sum(steady.steadiness(noisy([1000.0] * 300, seed=seed)).b3 for seed in range(40))
    assert accepted >= 36
    drifting = [1000.0 * (1 - 0.2 * at / 300) for at in range(300)]
    assert not any(steady.steadiness(noisy(drifting, seed=seed)).b3 for seed in range(40))


def test_the_warm_up_is_cut_off_and_what_follows_judged() -> None:
    all_found = [steady.steadiness(noisy([500.0] * 60 + [1000.0] * 240, cv=0.02, seed=seed)) for seed in range(20)]
    assert sum(found.b3 for found in all_found) >= 16
    assert all(60 <= found.cut <= 150 and found.cut_valid for found in all_found)
    assert all(found.mean == pytest.approx(1000, rel=0.01) for found in all_found)


def test_steadiness_that_was_lost_is_told_with_its_time() -> None:
    found = steady.steadiness(noisy([1000.0] * 200 + [600.0] * 100, cv=0.03))
    assert not found.b3
    assert found.change is not None
    assert abs(found.cut + found.change.at - 200) <= 2
    assert found.change.shift == pytest.approx(-0.4, abs=0.03)


def test_a_slow_settling_passes_the_five_rounds_and_not_b3() -> None:
    settling = [1000.0 * (1 + 0.5 * math.exp(-at / 300)) for at in range(300, 600)]
    found = steady.steadiness(settling)
    assert (found.b3, found.snia) == (False, True)


def test_too_short_is_not_judged() -> None:
    found = steady.steadiness([1000.0] * 29)
    assert (found.judged, found.b3) == (False, False)
    assert steady.steadiness([]).length == 0
    assert steady.steadiness([1000.0] * 30).b3


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(0.0, 1e7), min_size=0, max_size=200),
    st.sampled_from([0.25, 4.0, 1024.0]),
)
def test_the_unit_changes_nothing(values: list[float], factor: float) -> None:
    """And no series, zeros included, breaks it."""
    one, other = steady.steadiness(values), steady.steadiness([factor * value for value in values])
    assert (one.b3, one.cut, one.cut_valid) == (other.b3, other.cut, other.cut_valid)
    assert not one.b3 or one.half_width <= steady.WITHIN


@given(st.floats(1.0, 1e9), st.integers(60, 400))
def test_a_constant_is_steady_from_its_beginning(level: float, length: int) -> None:
    found = steady.steadiness([level] * length)
    assert (found.b3, found.cut, found.change) == (True, 0, None)
    for rule in ("b3", "snia"):
        settled = steady.accepts(rule, [level] * length)
        assert settled is not None
        assert settled.at == 0
