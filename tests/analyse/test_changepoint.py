"""Change points: series with one change or none, and what is asked of a series before it is judged."""

from __future__ import annotations

import json
import math
import random
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from iocast.analyse.changepoint import MOST, Change, ChangePoints, change_points, one_change

VECTORS = json.loads((Path(__file__).parent / "steady_vectors.json").read_text())
LEVELS = [pytest.param(each, id=name) for name, each in VECTORS.items() if name.startswith("stats.changepoint")]
SERIES = json.loads((Path(__file__).parent / "changing_series.json").read_text())


@pytest.mark.parametrize("series", SERIES, ids=lambda series: series["about"].split(" splitmix")[0])
def test_the_changes_that_are_there_and_no_other(series: dict[str, Any]) -> None:
    found = change_points(series["levels"])
    assert found is not None
    assert [change.at for change in found.changes] == series["changes"]
    assert [change.shift for change in found.changes] == pytest.approx(series["shifts"], rel=1e-4)
    assert found.correlation == pytest.approx(series["correlation"], rel=1e-4)
    assert found.variance == pytest.approx(series["variance"], rel=1e-4)
    assert found.penalty == pytest.approx(series["penalty"], rel=1e-4)


def test_two_changes_back_and_forth() -> None:
    wobble = [1.0, 1.02, 0.99, 1.01, 0.98, 1.0, 1.03, 0.97]
    levels = (
        [100 * each for each in wobble * 4] + [50 * each for each in wobble * 2] + [100 * each for each in wobble * 4]
    )
    found = change_points(levels)
    assert found is not None
    assert [change.at for change in found.reported] == [32, 48]
    assert [change.shift for change in found.reported] == pytest.approx([-0.5, 1.0], rel=0.02)


def test_a_small_shift_is_found_but_not_reported() -> None:
    wobble = [1.0, 1.002, 0.999, 1.001, 0.998]
    found = change_points([100 * each for each in wobble * 8] + [105 * each for each in wobble * 8])
    assert found is not None
    assert 40 in [change.at for change in found.changes]
    assert found.reported == ()


def test_a_flat_series_does_not_change() -> None:
    found = change_points([5.0] * 40)
    assert found is not None
    assert (found.changes, found.correlation) == ((), 0.0)


@pytest.mark.parametrize("levels", [[1.0] * 9, [*[1.0] * 20, 0.0]])
def test_too_short_or_with_a_standstill_is_not_judged(levels: list[float]) -> None:
    assert change_points(levels) is None


def test_a_long_series_is_looked_at_in_means() -> None:
    """Five and a half hours, second by second, took ten minutes and more."""
    wobble = [1.0, 1.02, 0.99, 1.01, 0.98, 1.0, 1.03, 0.97]
    levels = [100 * each for each in wobble * 1251] + [60 * each for each in wobble * 1249]
    assert len(levels) == 20_000
    found = change_points(levels)
    assert found is not None
    assert [change.at for change in found.reported] == [10_008]
    assert found.reported[0].shift == pytest.approx(-0.4, abs=0.01)
    assert change_points([100 * each for each in wobble * 2500]).reported == ()  # type: ignore[union-attr]


@pytest.mark.parametrize("to", [96.0, 60.0, 10.0, 3.0])
@pytest.mark.parametrize(("length", "at"), [(2000, 1001), (2000, 1002), (20_000, 10_003), (20_000, 10_008)])
def test_in_a_long_series_one_change_is_one_wherever_it_falls(length: int, at: int, to: float) -> None:
    """The mean of the neighbours among which it falls is of neither level: it made a change of its own."""
    dice = random.Random(1)
    levels = [(100 if n < at else to) * math.exp(dice.gauss(0, 0.005)) for n in range(length)]
    found = change_points(levels)
    assert found is not None
    assert found.changes == (Change(at, pytest.approx(to / 100 - 1, abs=1e-3)),)


@pytest.mark.parametrize("vector", LEVELS)
def test_one_change_of_level(vector: Any) -> None:
    found = one_change(vector["y"])
    if not vector["changepoints"]:
        assert found is None
    else:
        assert found is not None
        assert [found.at] == vector["changepoints"]
        assert found.shift == pytest.approx(vector["relative_shifts"][0], rel=1e-6)


@pytest.mark.parametrize("lengths", [(2, 3, 3, 3), (3, 3, 3, 2), (1, 5, 3, 3), (3, 3, 6, 1)])
def test_a_stretch_that_stood_still_for_half_of_its_time_has_the_level_of_the_other_half(
    lengths: tuple[int, ...],
) -> None:
    """Nothing lay near its median, and the card of a run with such a row ended in an error."""
    levels = [1000.0 * (1 - at % 2) for at, length in enumerate(lengths) for _ in range(length)]
    for series in (levels, [1000.0 - level for level in levels]):
        assert one_change(series) is None
    assert one_change([0.0] + [1000.0] * 4 + [0.0] * 5 + [300.0] * 5) == Change(5, pytest.approx(-0.7))


def test_one_change_counts_a_standstill() -> None:
    """Several changes are not looked for where nothing came back; one is."""
    found = one_change([100.0, 102.0, 98.0, 101.0] * 5 + [0.0] * 10)
    assert found is not None
    assert (found.at, found.shift < -0.9) == (20, True)


def test_both_ways_to_look_see_the_same_single_change() -> None:
    levels = [100.0, 103.0, 97.0, 101.0, 99.0] * 6 + [80.0, 82.0, 78.0, 81.0, 79.0] * 6
    several, one = change_points(levels), one_change(levels)
    assert several is not None
    assert [one] == list(several.reported)


def test_ten_levels_are_the_least() -> None:
    levels = [100.0] * 5 + [50.0] * 5
    found = change_points(levels)
    assert found is not None
    assert found.changes == (Change(5, pytest.approx(-0.5)),)
    assert change_points(levels[1:]) is None


def test_a_change_has_stayed_after_twice_the_least() -> None:
    levels = [100.0] * 5 + [50.0] * 10
    assert one_change(levels) == Change(5, pytest.approx(-0.5))
    assert one_change(levels[:-5]) is None


def test_a_tenth_up_or_down_is_reported() -> None:
    changes = (Change(5, 0.1), Change(10, 0.0999), Change(15, -0.1), Change(20, -0.0999))
    assert ChangePoints(0.0, 0.0, 0.0, changes).reported == (Change(5, 0.1), Change(15, -0.1))


@pytest.mark.parametrize("factor", [1.12, 1.08, 0.88, 0.92])
def test_one_change_is_told_when_it_is_a_tenth(factor: float) -> None:
    found = one_change([100.0, 100.1, 99.9] * 10 + [100.0 * factor, 100.1 * factor, 99.9 * factor] * 10)
    if abs(factor - 1) < 0.1:
        assert found is None
    else:
        assert found == Change(30, pytest.approx(factor - 1, rel=1e-6))


def test_one_change_needs_something_and_is_not_at_the_ends() -> None:
    assert one_change([0.0] * 20) is None
    assert one_change([100.0] * 20) is None
    assert one_change([1000.0] * 4 + [100.0] * 20) == Change(5, pytest.approx(10**-0.8 - 1))


def test_only_a_series_above_the_most_is_averaged() -> None:
    """A mean of two has half the variance."""
    dice = random.Random(1)
    levels = [math.exp(dice.gauss(5, 0.1)) for _ in range(2 * MOST)]
    at_most, above = change_points(levels[:MOST]), change_points(levels)
    assert at_most is not None
    assert above is not None
    assert at_most.variance == pytest.approx(0.01, rel=0.2)
    assert above.variance == pytest.approx(0.005, rel=0.2)


@pytest.mark.parametrize("length", [MOST, 2 * MOST])
def test_independent_levels_are_taken_for_independent_however_many(length: int) -> None:
    dice, level, levels = random.Random(1), 0.0, list[float]()
    for _ in range(length):
        level = 0.95 * level + dice.gauss(0, 0.05)
        levels.append(math.exp(level))
    dependent, independent = change_points(levels), change_points(levels, independent=True)
    assert dependent is not None
    assert independent is not None
    assert dependent.correlation > 0.5
    assert independent.correlation == 0.0


@pytest.mark.parametrize("dip", [1, 2, 4])
def test_no_stretch_is_shorter_than_the_least(dip: int) -> None:
    dice = random.Random(2)
    levels = [(10 if 40 <= n < 40 + dip else 100) * math.exp(dice.gauss(0, 0.02)) for n in range(80 + dip)]
    found = change_points(levels)
    assert found is not None
    places = [0, *(change.at for change in found.changes), len(levels)]
    assert min(after - before for before, after in pairwise(places)) >= 5


def test_the_noise_of_independent_levels_is_half_that_of_their_differences() -> None:
    dice = random.Random(3)
    found = change_points([math.exp(dice.gauss(5, 0.1)) for _ in range(MOST)], independent=True)
    assert found is not None
    assert found.variance == pytest.approx(0.01, rel=0.15)


def test_of_nothing_and_next_to_nothing_there_is_no_change() -> None:
    for length in range(10):
        assert one_change([100.0] * length) is None


STEADY = [100.0, 102.0, 98.0, 101.0, 99.0]


@pytest.mark.parametrize(
    "levels",
    [
        STEADY * 11 + [*STEADY[:4], 0.0],  # a stall of a second that the row ended with
        [0.0, *STEADY[1:]] + STEADY * 11,
        STEADY * 7 + [0.0, 0.0, 0.0, 40.0, 99.0] + STEADY * 4,
        STEADY * 8 + [30.0, 31.0, 29.0, 30.0, 32.0] * 3 + STEADY * 5,  # a quarter of a minute, and back
        STEADY * 11 + [0.0] * 5,  # stopped right before the end: whether for good is unknown
    ],
)
def test_what_came_back_did_not_stay(levels: list[float]) -> None:
    assert one_change(levels) is None


def test_a_stall_beside_a_change_does_not_hide_it_nor_add_to_it() -> None:
    found = one_change(STEADY * 6 + [70.0, 71.0, 69.0, 70.0, 70.5] * 5 + [70.0, 69.0, 71.0, 70.0, 0.0])
    assert found is not None
    assert (found.at, found.shift) == (30, pytest.approx(-0.3, abs=0.01))


@pytest.mark.long
def test_the_noise_of_a_long_series_is_that_of_the_means_of_its_neighbours() -> None:
    dice = random.Random(5)
    levels = [math.exp(dice.gauss(5, 0.1)) for _ in range(3 * MOST - 1)]
    found, of_means = change_points(levels), change_points([fmean(levels[at : at + 3]) for at in range(0, 2999, 3)])
    assert found is not None
    assert of_means is not None
    assert found == of_means, "without a change"


@pytest.mark.parametrize("at", [200, 1800])
def test_in_a_long_series_what_explains_more_than_its_penalty_stays(at: int) -> None:
    """A shift by half of the noise, a tenth from either end; its size is that of the means before and after it."""
    dice = random.Random(1)
    levels = [math.exp(dice.gauss(5, 0.05) + (0.025 if n >= at else 0)) for n in range(2000)]
    found = change_points(levels)
    assert found is not None
    (change,) = found.changes
    assert abs(change.at - at) < 40
    assert change.shift == pytest.approx(fmean(levels[change.at :]) / fmean(levels[: change.at]) - 1, rel=1e-9)
    short = min(change.at, 2000 - change.at)
    gain = math.log1p(change.shift) ** 2 / (1 / short + 1 / (2000 - short))
    assert 1.2 < gain / (2 * found.penalty) < 1.8


@pytest.mark.parametrize(("intervals", "told"), [(5, False), (6, True)])
def test_a_change_has_stayed_when_most_of_the_last_ten_intervals_are_on_the_new_level(
    intervals: int, told: bool
) -> None:
    found = one_change([100.0] * 30 + [50.0] * intervals)
    assert found == (Change(30, pytest.approx(-0.5)) if told else None)
