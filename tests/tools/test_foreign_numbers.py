"""Text and values of others become numbers that nothing can overflow with, or are refused."""

from __future__ import annotations

import math
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iocast.errors import SourceError
from iocast.tools.foreign_numbers import (
    LARGEST_NUMBER,
    LAST_NS,
    bounded,
    moment_ns,
    number,
    number_of,
    whole,
    whole_of,
)

TEXTS = (
    *("", " ", "x", "-", "1_000", "1.5.2", "0x1f", "\u0663", "\u00b2", "null", "1e308", "-1e308", "1e999", "1e-320"),
    *("nan", "inf", "-inf", "infinity", "9" * 19, "9" * 30, "9" * 400, "9" * 4_400, "0" * 4_400, "-9" * 400),
)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x", '"x", not a number'),
        ("1_000", '"1_000", not a number'),
        ("\u0663", "not a number"),
        ("nan", "nan: the tool measured nothing there"),
        ("-inf", "-inf: the tool measured nothing there"),
        ("-1", "below 0: the file is damaged"),
        ("1e308", "larger than any counter"),
        ("1e999", "larger than any counter"),
        ("9" * 4_400, "larger than any counter"),
    ],
)
def test_what_is_no_number_of_a_tool_is_refused_with_its_line(text: str, says: str) -> None:
    with pytest.raises(SourceError, match=r"^a\.txt:7: the time is ") as refused:
        number("a.txt", 7, text, "the time")
    assert says in refused.value.message


@pytest.mark.parametrize("text", ["1.0", "-1", "1e3", "1_000", "\u0663", "0x1f", "", "9" * 20, "9" * 4_400])
def test_what_is_no_whole_number_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(SourceError, match=r'^a\.txt:7: the count is ".*", not a whole number$'):
        whole("a.txt", 7, text, "the count")


def test_numbers_of_tools_are_read_as_they_stand() -> None:
    assert number("a.txt", 1, " 12.50 ", "x") == 12.5
    assert number("a.txt", 1, "18446744073709551616", "x") == LARGEST_NUMBER
    assert number("a.txt", 1, "1e-320", "x") == 0
    assert whole("a.txt", 1, " 0018446744073709551615 ", "x") == 2**64 - 1
    assert (whole_of("0x1f", 16), whole_of("-5"), whole_of("-5", signed=True), whole_of("--5", signed=True)) == (
        *(31, None),
        *(-5, None),
    )
    assert (number_of(Decimal("1.5")), number_of(True), number_of(None), number_of([])) == (1.5, 1, None, None)
    assert bounded("a.txt", 1, 2**64 - 1, "x") == 2**64 - 1


@pytest.mark.parametrize(
    ("value", "unit_ns", "at_ns"), [("1.5", 10**9, 15 * 10**8), (1795442280123457, 1000, 1795442280123457000)]
)
def test_a_moment_is_exact(value: object, unit_ns: int, at_ns: int) -> None:
    assert moment_ns(value, unit_ns) == at_ns


@pytest.mark.parametrize("value", [*TEXTS, None, -1, 1e308, math.inf, math.nan, 2**63, 9.3e9, Decimal("sNaN")])
def test_a_moment_that_no_clock_says_is_none(value: object) -> None:
    assert moment_ns(value) == 0


@given(st.one_of(st.sampled_from(TEXTS), st.text(max_size=30), st.floats(), st.integers(), st.decimals()))
def test_whatever_a_row_holds_is_within_bounds_or_none(value: object) -> None:
    for found in (number_of(value), whole_of(value), whole_of(value, signed=True)):
        assert found is None or abs(found) <= LARGEST_NUMBER
    assert 0 <= moment_ns(value) <= LAST_NS


@given(st.lists(st.floats(allow_nan=False).map(repr), min_size=15, max_size=15))
def test_no_product_and_no_quotient_of_fifteen_overflows(texts: list[str]) -> None:
    values = [abs(found) for text in texts if (found := number_of(text))]
    assert math.isfinite(math.prod(values))
    assert all(round(before / after) >= 0 for before, after in pairwise(values))
    assert math.isfinite(1 / (math.prod(values) or 1))
