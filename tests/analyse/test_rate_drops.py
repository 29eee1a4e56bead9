"""A fall of the rate for good: its place, its levels, and what is none."""

from __future__ import annotations

import pytest

from iocast.analyse.changepoint import change_points
from iocast.analyse.rate_drops import Drop, drop
from iocast.model.run import Series


def _drop(*ios: int) -> Drop | None:
    series = Series(
        interval_ns=250_000_000, ios=ios, bytes=tuple(8192 * each for each in ios), response_ns=(1,) * len(ios)
    )
    return drop(series, change_points(series.rates_per_s), 0.3)


def test_where_it_fell_and_how_much_was_done_by_then() -> None:
    found = _drop(*[760, 764] * 7, 368, *[192, 188, 192] * 10)
    assert found is not None
    assert (found.at_ns, found.ios) == (14 * 250_000_000, 7 * 1524)
    assert found.before_per_s == pytest.approx(762 * 4)
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
    ],
    ids=["level", "a little", "comes back", "rises", "short", "nothing"],
)
def test_what_is_no_fall_for_good(ios: tuple[int, ...]) -> None:
    assert _drop(*ios) is None
