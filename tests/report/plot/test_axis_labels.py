"""Numbers at axes, as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iocast.report.plot.axis_labels import (
    Label,
    alike,
    binary_size,
    clock,
    figures,
    one_of,
    prefixed,
    response_time,
)


@pytest.mark.parametrize(
    ("label", "value", "written"),
    [
        (figures, 0, "0"),
        (figures, 1500, "1,500"),
        (figures, 0.25, "0.25"),
        (figures, -0.1 - 0.2, "-0.3"),
        (figures, 1e-7, "0.0000001"),
        (prefixed, 0, "0"),
        (prefixed, 800, "800"),
        (prefixed, 1500, "1.5k"),
        (prefixed, 20e6, "20M"),
        (response_time, 300e3, "300 µs"),
        (response_time, 1, "1 ns"),
        (response_time, 1e6 - 1, "1 ms"),
        (response_time, 7e9, "7 s"),
        (clock, 0, "0 s"),
        (clock, 0.25, "250 ms"),
        (clock, 100, "100 s"),
        (clock, 150, "2.5 min"),
        (clock, 7200, "2 h"),
        (binary_size, 512, "0.5 KiB"),
        (binary_size, 8192, "8 KiB"),
        (binary_size, 3 << 30, "3 GiB"),
        (one_of(["a", "b"], first=1), 2.0, "b"),
    ],
)
def test_a_number_is_written_short(label: Label, value: float, written: str) -> None:
    assert label(value) == written


def test_neighbours_have_the_same_decimals() -> None:
    values = [0.0, 0.5, 1.0]
    assert [*map(alike(values), values)] == ["0.0", "0.5", "1.0"]
    assert alike([1000.0, 2000.0])(1000.0) == "1,000"


@given(st.floats(1e-9, 1e15))
def test_six_figures_say_what_the_number_is(value: float) -> None:
    assert float(figures(value).replace(",", "")) == pytest.approx(value, rel=5.1e-6)
