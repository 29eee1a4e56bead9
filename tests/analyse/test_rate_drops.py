"""A fall of the rate for good: its place, its levels, and what is none."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from iocast.analyse.changepoint import Change, ChangePoints, change_points
from iocast.analyse.rate_drops import Drop, EarlyFall, SlowPart, drop, early_fall, short_drop, short_step, slow_part
from iocast.analyse.steady import steadiness
from iocast.model.run import OpSeries, Series

BURSTS = [*[144, 140, 144] * 3, 96, 32, 24, 20, 28, 16, *[144, 140, 144] * 3, 100, 32, 28, 16, 28, 116]
BURSTS += [140, 144, 144, 144, 136, 144, 144, 140, 144, 108, 28, 24, 16, 16, 12, 48]


def _drop(*ios: int) -> Drop | None:
    series = Series(
        interval_ns=250_000_000, ios=ios, bytes=tuple(8192 * each for each in ios), response_ns=(1,) * len(ios)
    )
    return drop(series, change_points(series.rates_per_s))


def test_where_it_fell_and_how_much_was_done_by_then() -> None:
    found = _drop(*[760, 764] * 7, 368, *[192, 188, 192] * 10)
    assert found is not None
    into_it = (368 - 190.7) / (762 - 190.7)  # of the interval of 368, at the rate before
    assert found.at_ns == pytest.approx((14 + into_it) * 250_000_000, rel=1e-3)
    assert found.ios == pytest.approx(7 * 1524 + into_it * 762, abs=3)
    assert found.bytes == pytest.approx(8192 * found.ios, abs=8192)
    assert found.before_per_s == pytest.approx(762 * 4, rel=1e-3)
    assert found.after_per_s == pytest.approx(191 * 4, rel=0.01)
    assert found.constant < 0.02


@pytest.mark.parametrize(
    "ios",
    [
        (760, 764) * 20,
        (*(100, 101) * 10, *(90, 91) * 10),
        (*(100, 101) * 10, *(40, 41) * 10, *(100, 101) * 10),
        (*(40, 41) * 10, *(100, 101) * 10),
        (100, 40, 40),
        (0,) * 20,
        (*(144, 140) * 5, *(32, 24) * 3, *(144, 140) * 5, *(32, 24) * 3, *(144, 140) * 5, *(32, 24) * 3),
        tuple(BURSTS),
        (*(100, 101) * 10, 20, 22, 21, 20, 1),
    ],
    ids=[
        "level",
        "a little",
        "comes back",
        "rises",
        "short",
        "nothing",
        "bursts",
        "bursts of a neighbour",
        "at its end",
    ],
)
def test_what_is_no_fall_for_good(ios: tuple[int, ...]) -> None:
    assert _drop(*ios) is None


def _slow(*up_to: tuple[int, ...], ios: int = 1000, change: int | None = None) -> SlowPart | None:
    length = len(up_to[0])
    series = OpSeries(op="read", ios=(ios,) * length, response_ns=(1,) * length, up_to=up_to)
    changes = () if change is None else (Change(3, -0.5), Change(5, 1.0), Change(change, -0.5))
    return slow_part(series, ChangePoints(0.0, 0.0, 0.0, changes))


def test_the_most_constant_of_the_slow_parts_is_told() -> None:
    """8 to 12 of 1,000 I/Os are beyond one mark, 97 to 103 beyond the other: less for their number."""
    few, many = (992, 988) * 10, (903, 897) * 10
    found = _slow(few, many)
    assert found is not None
    assert (found.ios_per_interval, found.share, found.constant) == pytest.approx((100.0, 0.1, 0.03))
    assert found.by_chance == pytest.approx(0.3 / 0.9**0.5)  # all are 1,000: a tenth taken by chance scatters less
    alone = _slow(few)
    assert alone is not None
    assert (alone.ios_per_interval, alone.share, alone.constant) == pytest.approx((10.0, 0.01, 0.2))


def test_a_slow_part_is_that_since_the_last_change() -> None:
    """The interval of the change itself is of neither level."""
    found = _slow((*(500,) * 20, 0, *(990,) * 15), change=20)
    assert found is not None
    assert (found.ios_per_interval, found.share, found.constant) == pytest.approx((10.0, 0.01, 0.0))
    assert _slow((*(500,) * 20, 0, *(990,) * 14), change=20) is None  # too few intervals
    assert _slow((999,) * 15) is not None
    assert _slow((999,) * 14 + (1000,)) is None  # less than one in each interval


def _fall(before: int, after: int) -> Drop | None:
    ios = (before,) * 20 + (after,) * 20
    series = Series(interval_ns=10**9, ios=ios, bytes=tuple(4096 * each for each in ios), response_ns=(1,) * 40)
    return drop(series, ChangePoints(0.0, 0.0, 0.0, (Change(20, after / before - 1),)))


def test_a_fall_is_told_from_its_least_share_on() -> None:
    found = _fall(100, 70)
    assert found == Drop(
        at_ns=20 * 10**9, before_per_s=100.0, after_per_s=70.0, ios=2000, bytes=2000 * 4096, constant=0.0
    )
    assert _fall(100, 71) is None
    standstill = _fall(100, 0)
    assert standstill is not None
    assert (standstill.after_per_s, standstill.constant) == (0.0, 0.0)


def test_a_rate_that_comes_back_half_of_the_way_has_not_fallen_for_good() -> None:
    for highest, told in ((85, True), (86, False)):
        ios = (100,) * 20 + (50,) * 10 + (highest,) + (50,) * 19
        series = Series(interval_ns=10**9, ios=ios, bytes=ios, response_ns=(1,) * 50)
        found = drop(series, ChangePoints(0.0, 0.0, 0.0, (Change(20, -0.5),)))
        assert (found is not None) == told


def test_of_two_falls_the_deeper_one_is_told_with_the_level_at_the_end() -> None:
    ios = (100,) * 10 + (60,) * 10 + (20,) * 10 + (19,) * 10
    series = Series(interval_ns=10**9, ios=ios, bytes=ios, response_ns=(1,) * 40)
    changes = (Change(10, -0.4), Change(20, -0.667), Change(30, -0.11))
    found = drop(series, ChangePoints(0.0, 0.0, 0.0, changes))
    assert found is not None
    assert (found.at_ns, found.before_per_s, found.after_per_s, found.ios) == (20 * 10**9, 60.0, 19.0, 1600)


def test_the_level_after_a_fall_begins_behind_the_interval_in_which_it_fell() -> None:
    def found(*ios: int) -> Drop | None:
        series = Series(interval_ns=10**9, ios=ios, bytes=ios, response_ns=(1,) * len(ios))
        return drop(series, ChangePoints(0.0, 0.0, 0.0, (Change(20, -0.4),)))

    scattered = found(*(100,) * 20, 75, *(40, 80) * 10)
    assert scattered is not None
    assert (scattered.after_per_s, scattered.constant) == pytest.approx((60.0, 1 / 3))
    assert found(*(100,) * 20, 90, *(50,) * 20) is not None  # it fell within it
    assert found(*(100,) * 20, 75, 50, 95, *(50,) * 18) is None


def _found(*ios: int) -> Drop:
    series = Series(interval_ns=10**9, ios=ios, bytes=tuple(4096 * each for each in ios), response_ns=(1,) * len(ios))
    found = drop(series, change_points(series.rates_per_s))
    assert found is not None
    return found


@pytest.mark.parametrize("fast", [3, 4, 7, 12])
@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.8])
def test_a_fall_is_where_it_was_however_few_intervals_came_before_it(fast: int, share: float) -> None:
    """A change point lies five intervals from the start at least, and so beside an earlier fall."""
    found = _found(*(1000,) * fast, round(100 + share * 900), *[100, 101, 99] * 8)
    assert found.at_ns / 1e9 == pytest.approx(fast + share, abs=0.01)
    assert (found.before_per_s, found.in_first) == (1000.0, False)
    assert found.after_per_s == pytest.approx(100.0, rel=0.01)
    assert found.ios == pytest.approx((fast + share) * 1000, abs=5)


def test_what_fell_in_the_first_interval_had_fallen_by_its_end() -> None:
    found = _found(1950, *[152, 153] * 10)
    assert (found.before_per_s, found.in_first) == (1950.0, True)
    assert found.ios == pytest.approx(1950, abs=1)
    assert found.at_ns == pytest.approx(10**9, rel=1e-3)
    assert found.after_per_s == pytest.approx(152.5, rel=0.01)
    two = _found(1950, 900, *[152, 153] * 10)
    assert (two.before_per_s, two.in_first) == (1950.0, False)
    assert two.at_ns / 1e9 == pytest.approx(1 + (900 - 152.5) / (1950 - 152.5), rel=1e-3)


def test_a_rate_that_rose_to_where_it_fell_from_came_back() -> None:
    rose = [*[40, 41] * 8, *[220, 225] * 12, *[95, 96] * 6]
    series = Series(interval_ns=10**9, ios=tuple(rose), bytes=tuple(rose), response_ns=(1,) * len(rose))
    changes = change_points(series.rates_per_s)
    assert changes is not None
    assert len(changes.reported) == 2
    assert drop(series, changes) is None
    below = _found(*[200, 201] * 8, *[220, 225] * 12, *[95, 96] * 6)  # it had never been as low
    assert (round(below.before_per_s), round(below.after_per_s)) == (222, 96)


@pytest.mark.parametrize(
    ("early", "share"),
    [((1000,) * 10, 0.7), ((1000, 400, 300, 300, 300), 0.7), ((420,) * 10, None)],
    ids=["after ten", "after one", "a little"],
)
def test_a_warm_up_that_was_far_faster_is_a_fall(early: tuple[int, ...], share: float | None) -> None:
    series = Series(interval_ns=500_000_000, ios=(*early, *(300,) * 60))
    found = early_fall(series, replace(steadiness(series.rates_per_s), cut=len(early), mean=600.0))
    fell = EarlyFall(len(early) * 500_000_000, pytest.approx(share)) if share else None
    assert found == fell
    assert early_fall(series, replace(steadiness(series.rates_per_s), cut=0)) is None


def _short(*ios: int) -> Drop | None:
    return short_drop(
        Series(
            interval_ns=1_000_000_000, ios=ios, bytes=tuple(8192 * each for each in ios), response_ns=(1,) * len(ios)
        )
    )


def test_a_fall_in_a_row_of_three_seconds() -> None:
    found = _short(1000, 430, 50)
    assert found is not None
    into_it = (430 - 50) / (1000 - 50)
    assert found.at_ns == pytest.approx((1 + into_it) * 1e9)
    assert found.ios == 1000 + round(into_it * 430)
    assert (found.before_per_s, found.after_per_s, found.in_first) == (1000, 50, False)
    first = _short(1000, 52, 50)
    assert first is not None
    assert first.in_first


@pytest.mark.parametrize(
    "ios", [(80, 79, 81), (80, 75, 50), (80, 20, 81), (0, 0, 0), (80, 40, 0), (9, 4), (80, 60, 40, 20)]
)
def test_what_is_no_fall_in_a_short_row(ios: tuple[int, ...]) -> None:
    assert _short(*ios) is None


@pytest.mark.parametrize(
    ("rates", "head", "factor"), [((80, 40, 27), 1, 27 / 80), ((27, 27, 80), 2, 80 / 27), ((80, 79, 50), 2, 50 / 79.5)]
)
def test_a_step_in_a_short_row(rates: tuple[float, ...], head: int, factor: float) -> None:
    found = short_step(rates)
    assert found is not None
    assert (found.head, found.factor) == (head, pytest.approx(factor))


def test_no_step_in_a_short_row_that_wanders() -> None:
    assert short_step((80, 70, 90)) is None
    assert short_step((80, 27, 81, 27)) is None
