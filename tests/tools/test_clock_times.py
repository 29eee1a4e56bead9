"""Times of day and dates of other tools, and what is none."""

from __future__ import annotations

import pytest

from iocast.tools.foreign_numbers import day_of, second_of_day, since_1970


@pytest.mark.parametrize(
    ("stamp", "second"),
    [
        ("10:00:01", 36_001),
        ("2026-11-24 23.59.59,25", 86_399.25),
        ("11/24/26 12:00:01 AM", 1),
        ("11/24/26 12:00:01.5 pm", 43_201.5),
        ("24-NOV-26 01.02.03 PM", 46_923),
        ("1:02", None),
        ("\u0661\u0660:\u0660\u0660:\u0660\u0661", None),
        ("", None),
    ],
)
def test_the_second_of_a_day(stamp: str, second: float | None) -> None:
    assert second_of_day(stamp) == second


@pytest.mark.parametrize(
    "stamp", ["2026-11-24 10:00:01", "2026-11-24T10:00:01", "24-NOV-26 10:00:01", "24-Nov-2026 10"]
)
def test_one_day_has_one_number(stamp: str) -> None:
    assert day_of(stamp) == 739_944


@pytest.mark.parametrize(
    "stamp", ["11/24/26 10:00:01", "2026-13-24 1", "0000-01-01 1", "31-FEB-26 1", "24-XXX-26 1", ""]
)
def test_a_date_that_does_not_say_which_day_has_none(stamp: str) -> None:
    assert day_of(stamp) is None


def test_seconds_since_1970_stand_alone() -> None:
    assert since_1970("1795442280.5") == 1_795_442_280.5
    assert [since_1970(each) for each in ("17954", "1795442280x", "9" * 400, "10:00:01")] == [None] * 4
