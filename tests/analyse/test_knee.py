"""Knees of ladders whose law is known: a shared device, striped queues, and one that was measured."""

from __future__ import annotations

import pytest

from iocast.analyse.knee import closed_ladder

LOADS = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]
SHARED = [1.0, 2.0, 4.0, 8.0, 8.0, 8.0, 8.0]
STRIPED = [8 * n / (n + 7) for n in LOADS]
MEASURED = [22_000.0, 43_000.0, 83_000.0, 150_000.0, 210_000.0, 215_000.0]


@pytest.mark.parametrize(
    ("rates", "power", "chord", "distance", "least"),
    [(SHARED, 8, 8, 0.88888889, 8.0), (STRIPED, 8, 16, 0.49689441, 8.0), (MEASURED, 8, 16, 0.4902223, 10.011086)],
)
def test_knees(rates: list[float], power: float, chord: float, distance: float, least: float) -> None:
    knee = closed_ladder(LOADS[: len(rates)], rates)
    assert knee is not None
    assert (knee.max_power_load, knee.chord_load, knee.saturated) == (power, chord, True)
    assert knee.chord_distance == pytest.approx(distance, rel=1e-6)
    assert knee.least_load == pytest.approx(least, rel=1e-6)


def test_a_ladder_that_still_gains_is_not_saturated() -> None:
    knee = closed_ladder([1, 2, 4], [100.0, 199.0, 395.0])
    assert knee is not None
    assert not knee.saturated


def test_wide_steps_are_judged_by_doublings() -> None:
    # From 4 to 32 is three doublings: 15 % over all of them is less than a tenth for each.
    knee = closed_ladder([1, 4, 32], [100.0, 390.0, 390.0 * 1.15])
    assert knee is not None
    assert knee.saturated


def test_a_limit_is_never_below_what_was_reached() -> None:
    knee = closed_ladder([1, 2, 4], [100.0, 190.0, 150.0])
    assert knee is not None
    assert knee.limit_per_s == 190.0


def test_no_ladder_no_knee() -> None:
    assert closed_ladder([1, 2], [10.0, 20.0]) is None
    assert closed_ladder([1, 2, 4], [10.0, 0.0, 20.0]) is None


def test_a_ladder_that_gains_nothing_has_its_knee_at_its_start() -> None:
    knee = closed_ladder([2, 4, 8], [100.0, 100.0, 100.0])
    assert knee is not None
    assert (knee.max_power_load, knee.chord_load, knee.chord_distance) == (2, 2, 0.0)
    assert (knee.least_load, knee.limit_per_s, knee.saturated) == (2.0, 100.0, True)


def test_a_ladder_that_doubles_with_its_load_has_no_limit_yet() -> None:
    knee = closed_ladder([1, 2, 4], [100.0, 200.0, 400.0])
    assert knee is not None
    assert (knee.limit_per_s, knee.saturated) == (400.0, False)


@pytest.mark.parametrize(("loads", "gain", "saturated"), [((1, 2, 4), 1.15, False), ((1, 4, 16), 1.15, True)])
def test_a_tenth_for_a_doubling(loads: tuple[int, int, int], gain: float, saturated: bool) -> None:
    knee = closed_ladder(loads, [100.0, 150.0, 150.0 * gain])
    assert knee is not None
    assert knee.saturated is saturated


def test_the_last_step_alone_is_judged() -> None:
    """From 4 to 8 a fifth is gained: more than a tenth, though little against the first load."""
    knee = closed_ladder([1, 4, 8], [100.0, 150.0, 180.0])
    assert knee is not None
    assert not knee.saturated


def test_lists_of_different_lengths_are_no_ladder() -> None:
    assert closed_ladder([1, 2, 4, 8], [10.0, 20.0, 30.0]) is None
    assert closed_ladder([1, 2, 4], [10.0, -1.0, 20.0]) is None


def test_of_equal_knees_the_first_is_told() -> None:
    knee = closed_ladder([1, 4, 16], [100.0, 200.0, 400.0])
    assert knee is not None
    assert knee.max_power_load == 1


@pytest.mark.parametrize(("gain", "saturated"), [(1.0999, True), (1.1001, False)])
def test_a_doubling_that_gains_a_tenth_ends_no_ladder(gain: float, saturated: bool) -> None:
    knee = closed_ladder([1, 2, 4], [100.0, 150.0, 150.0 * gain])
    assert knee is not None
    assert knee.saturated is saturated


def test_where_the_last_two_points_tend() -> None:
    """X = 1000 n / (n + 7): of the first load the two last points tell nothing."""
    rates = [50.0, *(1000 * n / (n + 7) for n in (4, 8, 16))]
    knee = closed_ladder([1, 4, 8, 16], rates)
    assert knee is not None
    assert (knee.limit_per_s, knee.least_load) == pytest.approx((1000.0, 20.0))


@pytest.mark.parametrize(("gain", "saturated"), [(1.07, True), (1.08, False)])
def test_a_step_of_half_as_much_again_is_judged_as_a_doubling_would_be(gain: float, saturated: bool) -> None:
    """A gain of 8 % for half as much again would be 10.7 % for a doubling."""
    knee = closed_ladder([1, 2, 3], [100.0, 150.0, 150.0 * gain])
    assert knee is not None
    assert knee.saturated is saturated
