"""Axes: labels that do not lie on each other, ticks inside of the scale, and the room that both take."""

from __future__ import annotations

from iocast.report.charts.drawing.parts import FONT_SIZE
from iocast.report.charts.drawing.theme import LIGHT
from iocast.report.charts.svg.letter_widths import width_px
from iocast.report.charts.svg.svg_axes import Tick, thinned, ticks_of, x_axis, y_axis
from iocast.report.charts.svg.svg_marks import Plot
from iocast.report.charts.svg.svg_scales import Scale

PLOT = Plot(500, 200, Scale(0, 10, 0, 500), Scale(0, 1, 200, 0), LIGHT.ink)


def at(*places: float, wide: float = 20) -> list[Tick]:
    return [Tick(place, f"{place:g}", place - wide / 2, place + wide / 2) for place in places]


def test_labels_that_lie_on_each_other_are_thinned_out_evenly() -> None:
    assert [tick.at for tick in thinned(at(0, 50, 100))] == [0, 50, 100]
    assert [tick.at for tick in thinned(at(*range(0, 100, 10)))] == [0, 40, 80]


def test_on_a_logarithmic_axis_each_label_that_has_room_stays() -> None:
    assert [tick.at for tick in thinned(at(0, 15, 30, 80, 90), log=True)] == [0, 30, 80]


def test_only_ticks_of_the_scale_are_marked_and_all_with_as_many_decimals() -> None:
    assert ticks_of({"values": [-1, 0, 5, 10, 10.1]}, PLOT.x, 6) == [(0, "0"), (5, "5"), (10, "10")]
    assert ticks_of({"tickCount": 2}, PLOT.y, 6) == [(0.0, "0.0"), (0.5, "0.5"), (1.0, "1.0")]


def test_a_label_at_an_end_stands_inside() -> None:
    axis = x_axis({"values": [0, 5, 10], "title": None}, PLOT, LIGHT)
    left, top, right, bottom = axis.box
    assert (left, top, right) == (0, 0, 500)
    assert bottom > PLOT.height + FONT_SIZE
    assert '<text x="500" y="215" text-anchor="end">10</text>' in axis.svg


def test_a_title_takes_room() -> None:
    bare, titled = (x_axis({"values": [0], "title": title}, PLOT, LIGHT).box for title in (None, "IOPS"))
    assert titled[3] > bare[3]
    over = x_axis({"values": [0], "title": "IOPS", "orient": "top"}, PLOT, LIGHT).box
    assert (over[1], over[3]) == (-42, PLOT.height)


def test_beside_the_plot_there_is_room_for_the_widest_label() -> None:
    axis = {"values": [0, 1], "label": lambda value: "1,000,000 s" if value else "0", "title": None}
    assert -y_axis(axis, PLOT, LIGHT).box[0] > width_px("1,000,000 s", FONT_SIZE)
    assert y_axis({**axis, "minExtent": 200}, PLOT, LIGHT).box[0] == -200


def test_words_are_escaped() -> None:
    axis = {"values": [0], "label": lambda _: "<b>&", "title": "<i>"}
    svg = x_axis(axis, PLOT, LIGHT).svg
    assert "&lt;b&gt;&amp;" in svg
    assert "&lt;i&gt;" in svg
