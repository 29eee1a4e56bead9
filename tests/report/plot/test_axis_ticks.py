"""Ticks: round, inside of the range, about as many as were asked for; instants are round times of a calendar."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iocast.report.plot.axis_ticks import instants, round_ticks, rounded_out

START = datetime(2026, 11, 24, 22, 30, tzinfo=UTC)


def test_ticks_are_multiples_of_one_two_or_five() -> None:
    assert round_ticks(0, 10, 5) == [0, 2, 4, 6, 8, 10]
    assert round_ticks(0, 1, 5) == [0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert round_ticks(0, 3.3, 6, least_step=1) == [0, 1, 2, 3]
    assert round_ticks(7, 7, 5) == [7]


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9), st.integers(2, 12))
def test_about_as_many_as_were_asked_for_stand_inside(low: float, wide: float, about: int) -> None:
    high = low + wide
    if not high > low:
        return
    ticks = round_ticks(low, high, about)
    room = 1e-6 * wide + 1e-9 * abs(low)
    assert all(low - room <= tick <= high + room for tick in ticks)
    assert len(ticks) <= 2 * about + 1
    least, most = rounded_out(low, high, about)
    assert least <= low + room
    assert most >= high - room


@pytest.mark.parametrize(
    ("span", "first", "count"),
    [
        (timedelta(seconds=40), "22:30:00", 9),
        (timedelta(hours=3), "22:30", 7),
        (timedelta(days=2), "25 Nov", 8),
        (timedelta(days=14), "25 Nov", 7),
        (timedelta(days=300), "Jan 2027", 3),
        (timedelta(days=3000), "Jan 2028", 4),
    ],
)
def test_instants_are_round_times(span: timedelta, first: str, count: int) -> None:
    low, high = START.timestamp() * 1000, (START + span).timestamp() * 1000
    ticks, written = instants(low, high, 8)
    assert all(low <= tick <= high for tick in ticks)
    assert all(written[one] != written[other] for one, other in pairwise(ticks))
    assert written[ticks[0]] == first
    assert len(ticks) == count
