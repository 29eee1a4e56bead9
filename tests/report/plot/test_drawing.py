"""Marks and drawings: where things stand, what has something to say, what is unknown, and how large it all is."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET

import pytest

from iocast.report.plot.axes import Axis, Scale
from iocast.report.plot.drawing import Drawing, below_each_other, drawing_of, file_svg, page_svg
from iocast.report.plot.marks import (
    Areas,
    Band,
    Bars,
    Box,
    Boxes,
    Dots,
    Levels,
    Lines,
    Mark,
    Plot,
    Point,
    Range,
    Rings,
    Rules,
    Ticks,
    Uprights,
    Word,
    Words,
)
from iocast.report.plot.theme import LIGHT

X, Y = Scale(0, 10), Scale(0, 100)


def plot(*marks: Mark, x: Scale = X, height: int = 100) -> Plot:
    """A plot of 100 pixels across whose axes are not shown."""
    return Plot(100, height, x, Y, marks)


def drawn(mark: Mark, x: Scale = X) -> str:
    """A mark on a plot of 100 x 100 pixels."""
    return drawing_of(plot(mark, x=x), LIGHT, "k").svg


def paths(svg: str) -> list[str]:
    return re.findall(r' d="([^"]*)"', svg)


def test_a_line_breaks_where_a_value_is_unknown() -> None:
    line = [Point(0, 0), Point(5, 50), Point(6, None), Point(8, 80), Point(10, 100)]
    assert paths(drawn(Lines([line]))) == ["M0 100L50 50M80 20L100 0"]


@pytest.mark.parametrize("unknown", [None, math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("x", [X, Scale(1, 10, log=True, clamp=True)], ids=["linear", "clamped"])
def test_what_has_no_place_is_not_drawn(unknown: float | None, x: Scale) -> None:
    if x.clamp and unknown in (math.inf, -math.inf):
        return  # that is beyond an end, and stands there
    points = [Point(unknown, 1), Point(1, None)]
    boxes = [Box(unknown, 1, 1, 2), Box(1, 1, unknown, 2), Box(1, None, 1, 2), Box(1, 1, 1, None)]
    words = [Word(unknown, 1, "a"), Word(1, None, "b"), Word(1, 1, "")]
    ranges, bands = [Range(unknown, 1, 1), Range(1, 1, None)], [Band(unknown, 1, 1), Band(1, None, 1)]
    marks = (Dots(points), Rings(points), Lines([points]), Ticks(points, 1, 1), Rules(boxes), Boxes(boxes))
    for mark in (*marks, Words(words), Bars(ranges, 1), Areas([bands]), Uprights([unknown]), Levels([None])):
        assert drawn(mark, x) == ""


def test_a_logarithmic_axis_has_no_place_for_zero() -> None:
    found = re.findall(r'cx="([^"]*)"', drawn(Dots([Point(x, 0) for x in (0, 1, 10, 100)]), Scale(1, 100, log=True)))
    assert found == ["0", "50", "100"]
    clamped = drawn(Dots([Point(x, 0) for x in (0, 1000)]), Scale(1, 100, log=True, clamp=True))
    assert re.findall(r'cx="([^"]*)"', clamped) == ["0", "100"]


def test_a_line_goes_from_point_to_point_and_may_fold_back() -> None:
    assert paths(drawn(Lines([[Point(2, 0), Point(8, 50), Point(5, 100)]]))) == ["M20 100L80 50L50 0"]


def test_each_line_has_its_own_colour() -> None:
    lines = [[Point(0, 0), Point(1, 0)]] * 3
    svg = drawn(Lines(lines, colours=["red", "blue", "red"]))
    assert re.findall(r'<path stroke="(\w+)"', svg) == ["red", "blue", "red"]


def test_steps_go_along_first() -> None:
    assert paths(drawn(Lines([[Point(0, 0), Point(5, 50)]], steps=True))) == ["M0 100H50V50"]


def test_an_area_goes_there_and_back() -> None:
    assert paths(drawn(Areas([[Band(0, 10, 0), Band(10, 20, 10)]]))) == ["M0 90L100 80L100 90L0 100Z"]


def test_what_says_something_is_an_element_of_its_own_and_escaped() -> None:
    boxes = [Box(1, 1, 2, 2), Box(3, 1, 4, 2)]
    svg = drawn(Boxes(boxes, tips=['a "<b>', "b"], opacity=0))
    assert re.findall(r'aria-label="([^"]*)"', svg) == ["a &quot;&lt;b&gt;", "b"]
    assert 'fill-opacity="0"' in svg
    assert "pointer-events" not in svg
    silent = drawn(Boxes(boxes))
    assert paths(silent) == ["M10 98h10v1h-10zM30 98h10v1h-10z"]
    assert 'pointer-events="none"' in silent


def test_what_is_not_drawn_leaves_the_others_their_own() -> None:
    """The second of three is unknown: the third keeps its own colour and tip."""
    svg = drawn(
        Dots([Point(1, 1), Point(None, 1), Point(3, 1)], colours=["red", "blue", "green"], tips=["a", "b", "c"])
    )
    assert re.findall(r'<circle fill="(\w+)" aria-label="(\w)"', svg) == [("red", "a"), ("green", "c")]


def test_how_dense_a_mark_is_stays_exact() -> None:
    assert 'fill-opacity="0.18"' in drawn(Areas([[Band(0, 1, 0), Band(1, 1, 0)]], opacity=0.18))


def test_a_rule_with_one_axis_crosses_the_plot() -> None:
    assert paths(drawn(Uprights([5]))) == ["M50 0L50 100"]
    assert paths(drawn(Levels([50]))) == ["M0 50L100 50"]


def test_a_bar_has_its_own_height_about_its_place() -> None:
    assert paths(drawn(Bars([Range(0, 5, 50)], 6))) == ["M0 47h50v6h-50z"]


def test_what_is_cut_off_refers_to_its_own_box() -> None:
    svg = page_svg(plot(Lines([[Point(0, 0), Point(20, 0)]], clip=True)), LIGHT, "8k-p99")
    assert re.findall(r"url\(#([^)]*)\)", svg) == re.findall(r' id="([^"]*)"', svg) == ["8k-p99-clip"]


def test_words_beyond_the_plot_make_the_drawing_larger() -> None:
    words = Words([Word(10, 50, "a long name")], "left", dx=5, size=10)
    left, top, right, bottom = drawing_of(plot(words), LIGHT, "k").box
    assert (left, top, bottom) == (0, 0, 100)
    assert 140 < right < 180


def test_a_word_says_for_itself_to_which_side_it_goes() -> None:
    svg = drawn(Words([Word(5, 50, "there", dx=-9, align="right")], "left"))
    assert '<text x="41" y="50" text-anchor="end">there</text>' in svg


def test_a_rim_stands_behind_the_same_words() -> None:
    svg = drawn(Words([Word(5, 50, "there")], rim="white", colours=["red"]))
    behind, front = re.findall(r"<g[^>]*><text[^>]*>", svg)
    assert 'stroke="white"' in behind
    assert "red" not in behind
    assert 'fill="red"' in front
    assert "stroke" not in front


def test_a_scale_alone_is_an_axis_that_is_not_shown() -> None:
    shown = drawing_of(Plot(100, 100, Axis(X), Axis(Y), ()), LIGHT, "k")
    assert shown.svg.count('class="axis"') == 2
    assert drawing_of(plot(), LIGHT, "k").svg == ""


def test_a_file_is_whole_and_a_page_gives_size_and_font_itself() -> None:
    dot = plot(Dots([Point(1, 1)]), height=50)
    alone = ET.fromstring(file_svg(drawing_of(dot, LIGHT, "k"), "#ffffff"))
    assert (alone.get("width"), alone.get("height"), alone.get("viewBox")) == ("108", "58", "-4 -4 108 58")
    assert "Liberation Sans" in (alone.get("font-family") or "")
    placed = page_svg(dot, LIGHT, "k")
    assert " width=" not in placed.partition(">")[0]
    assert "font-family" not in placed


def test_drawings_stand_below_each_other_on_one_line() -> None:
    whole = below_each_other([Drawing("a", (-10, -5, 100, 50)), Drawing("b", (-30, 0, 90, 20))], 10)
    assert whole.box == (-30, 0, 100, 85)
    assert whole.svg == '<g transform="translate(0 5)">a</g><g transform="translate(0 65)">b</g>'
