"""Marks and drawings: where things stand, what has something to say, what is unknown, and how large it all is."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from iocast.report.charts.drawing.parts import OWN_COLOUR, Spec, chart, each_by, layer, quantitative
from iocast.report.charts.drawing.theme import LIGHT
from iocast.report.charts.svg.svg_drawing import Drawing, below_each_other, drawing_of, file_svg, page_svg

X = quantitative("x", {"domain": [0, 10]})
Y = quantitative("y", {"domain": [0, 100]})
PLACE: Spec = {"x": X, "y": Y}


def drawn(mark: str | Spec, rows: list[Spec], encoding: Spec, **about: Any) -> str:
    """The marks of one layer on a plot of 100 x 100 pixels."""
    return drawing_of(chart(100, 100, [layer(mark, rows, encoding, **about)]), LIGHT, "k").svg


def paths(svg: str) -> list[str]:
    return re.findall(r' d="([^"]*)"', svg)


def test_a_line_is_sorted_and_breaks_where_a_value_is_unknown() -> None:
    rows = [{"x": 5, "y": 50}, {"x": 0, "y": 0}, {"x": 6, "y": None}, {"x": 8, "y": 80}, {"x": 10, "y": 100}]
    assert paths(drawn("line", rows, PLACE)) == ["M0 100L50 50M80 20L100 0"]


@pytest.mark.parametrize("unknown", [None, math.nan, math.inf, -math.inf])
def test_what_has_no_place_is_not_drawn(unknown: float | None) -> None:
    rows = [{"x": unknown, "y": 1}, {"x": 1, "y": unknown}]
    for mark in ("circle", "line", "rule"):
        assert drawn(mark, rows, PLACE) == ""


def test_a_logarithmic_axis_has_no_place_for_zero() -> None:
    log: Spec = {"x": quantitative("x", {"type": "log", "domain": [1, 100]}), "y": Y}
    found = re.findall(r'cx="([^"]*)"', drawn("circle", [{"x": x, "y": 0} for x in (0, 1, 10, 100)], log))
    assert found == ["0", "50", "100"]
    clamped: Spec = {"x": quantitative("x", {"type": "log", "domain": [1, 100], "clamp": True}), "y": Y}
    found = re.findall(r'cx="([^"]*)"', drawn("circle", [{"x": x, "y": 0} for x in (0, 1000)], clamped))
    assert found == ["0", "100"]


def test_in_its_own_order_a_line_may_fold_back() -> None:
    rows = [{"x": 2, "y": 0, "o": 0}, {"x": 8, "y": 50, "o": 1}, {"x": 5, "y": 100, "o": 2}]
    assert paths(drawn("line", rows, {**PLACE, "order": {"field": "o"}})) == ["M20 100L80 50L50 0"]


def test_there_is_a_line_for_each_value_and_each_colour() -> None:
    lines = (("a", "red"), ("a", "blue"), ("b", "red"))
    rows = [{"x": x, "y": 0, "row": row, "c": colour} for row, colour in lines for x in (0, 1)]
    svg = drawn("line", rows, {**PLACE, **each_by("row"), "color": OWN_COLOUR})
    assert re.findall(r'<path stroke="(\w+)"', svg) == ["red", "blue", "red"]


def test_steps_go_along_first() -> None:
    rows = [{"x": 0, "y": 0}, {"x": 5, "y": 50}]
    assert paths(drawn({"type": "line", "interpolate": "step-after"}, rows, PLACE)) == ["M0 100H50V50"]


def test_an_area_goes_there_and_back() -> None:
    rows = [{"x": 0, "y": 10, "y2": 0}, {"x": 10, "y": 20, "y2": 10}]
    assert paths(drawn("area", rows, {**PLACE, "y2": {"field": "y2"}})) == ["M0 90L100 80L100 90L0 100Z"]


def test_what_says_something_is_an_element_of_its_own_and_escaped() -> None:
    rows = [{"x": 1, "y": 1, "x2": 2, "y2": 2, "tip": 'a "<b>'}, {"x": 3, "y": 1, "x2": 4, "y2": 2, "tip": "b"}]
    boxes: Spec = {**PLACE, "x2": {"field": "x2"}, "y2": {"field": "y2"}}
    svg = drawn("rect", rows, boxes, silent=False, opacity=0)
    assert re.findall(r'aria-label="([^"]*)"', svg) == ["a &quot;&lt;b&gt;", "b"]
    assert 'fill-opacity="0"' in svg
    assert "pointer-events" not in svg
    silent = drawn("rect", rows, boxes)
    assert paths(silent) == ["M10 98h10v1h-10zM30 98h10v1h-10z"]
    assert 'pointer-events="none"' in silent


def test_how_dense_a_mark_is_stays_exact() -> None:
    assert 'fill-opacity="0.18"' in drawn("area", [{"x": 0, "y": 1}, {"x": 1, "y": 1}], PLACE, opacity=0.18)


def test_a_rule_with_one_axis_crosses_the_plot() -> None:
    assert paths(drawn("rule", [{"x": 5}], {"x": X})) == ["M50 0L50 100"]
    assert paths(drawn("rule", [{"y": 50}], {"y": Y})) == ["M0 50L100 50"]


def test_a_bar_begins_at_nothing_and_has_its_own_height() -> None:
    assert paths(drawn({"type": "bar", "height": 6}, [{"x": 5, "y": 50}], PLACE)) == ["M0 47h50v6h-50z"]


def test_what_is_cut_off_refers_to_its_own_box() -> None:
    spec = chart(100, 100, [layer("line", [{"x": 0, "y": 0}, {"x": 20, "y": 0}], PLACE, clip=True)])
    svg = page_svg(spec, LIGHT, "8k-p99")
    assert re.findall(r"url\(#([^)]*)\)", svg) == re.findall(r' id="([^"]*)"', svg) == ["8k-p99-clip"]


def test_words_beyond_the_plot_make_the_drawing_larger() -> None:
    mark = {"type": "text", "align": "left", "dx": 5, "fontSize": 10}
    spec = chart(100, 100, [layer(mark, [{"x": 10, "y": 50, "t": "a long name"}], {**PLACE, "text": {"field": "t"}})])
    left, top, right, bottom = drawing_of(spec, LIGHT, "k").box
    assert (left, top, bottom) == (0, 0, 100)
    assert 140 < right < 180


def test_a_row_says_for_itself_to_which_side_its_words_go() -> None:
    rows = [{"x": 5, "y": 50, "t": "there", "align": "right", "dx": -9}]
    svg = drawn({"type": "text", "align": "left", "dx": 9}, rows, {**PLACE, "text": {"field": "t"}})
    assert '<text x="41" y="50" text-anchor="end">there</text>' in svg


def test_without_a_domain_the_axis_reaches_from_nothing_to_beyond_the_most() -> None:
    spec = chart(100, 100, [layer("circle", [{"x": 1, "y": 61}], {"x": X, "y": quantitative("y")})])
    assert re.findall(r'cy="([^"]*)"', drawing_of(spec, LIGHT, "k").svg) == ["12.9"]  # of 70


def test_a_file_is_whole_and_a_page_gives_size_and_font_itself() -> None:
    spec = chart(100, 50, [layer("circle", [{"x": 1, "y": 1}], PLACE)])
    alone = ET.fromstring(file_svg(drawing_of(spec, LIGHT, "k"), "#ffffff"))
    assert (alone.get("width"), alone.get("height"), alone.get("viewBox")) == ("108", "58", "-4 -4 108 58")
    assert "Liberation Sans" in (alone.get("font-family") or "")
    placed = page_svg(spec, LIGHT, "k")
    assert " width=" not in placed.partition(">")[0]
    assert "font-family" not in placed


def test_drawings_stand_below_each_other_on_one_line() -> None:
    whole = below_each_other([Drawing("a", (-10, -5, 100, 50)), Drawing("b", (-30, 0, 90, 20))], 10)
    assert whole.box == (-30, 0, 100, 85)
    assert whole.svg == '<g transform="translate(0 5)">a</g><g transform="translate(0 65)">b</g>'
