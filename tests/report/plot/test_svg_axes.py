"""Axes: labels that do not lie on each other, ticks inside of the scale, and the room that both take."""

from __future__ import annotations

from msgspec.structs import replace

from iocast.report.plot.axes import Axis, Scale
from iocast.report.plot.svg_axes import Tick, thinned, ticks_of, x_axis, y_axis
from iocast.report.plot.svg_marks import Frame
from iocast.report.plot.theme import LIGHT
from iocast.report.plot.words import FONT_SIZE, width_px

X, Y = Scale(0, 10), Scale(0, 1)
FRAME = Frame(500, 200, X.placing(0, 500), Y.placing(200, 0), LIGHT.ink)


def at(*places: float, wide: float = 20) -> list[Tick]:
    return [Tick(place, f"{place:g}", place - wide / 2, place + wide / 2) for place in places]


def test_labels_that_lie_on_each_other_are_thinned_out_evenly() -> None:
    assert [tick.at for tick in thinned(at(0, 50, 100))] == [0, 50, 100]
    assert [tick.at for tick in thinned(at(*range(0, 100, 10)))] == [0, 40, 80]


def test_on_a_logarithmic_axis_each_label_that_has_room_stays() -> None:
    assert [tick.at for tick in thinned(at(0, 15, 30, 80, 90), log=True)] == [0, 30, 80]


def test_only_ticks_of_the_scale_are_marked_and_all_with_as_many_decimals() -> None:
    assert ticks_of(Axis(X, ticks=[-1, 0, 5, 10, 10.1]), 6) == [(0, "0"), (5, "5"), (10, "10")]
    assert ticks_of(Axis(Y, count=2), 6) == [(0.0, "0.0"), (0.5, "0.5"), (1.0, "1.0")]


def test_a_label_at_an_end_stands_inside() -> None:
    axis = x_axis(Axis(X, ticks=[0, 5, 10]), FRAME, LIGHT)
    left, top, right, bottom = axis.box
    assert (left, top, right) == (0, 0, 500)
    assert bottom > FRAME.height + FONT_SIZE
    assert '<text x="500" y="215" text-anchor="end">10</text>' in axis.svg


def test_a_title_takes_room() -> None:
    bare, titled = (x_axis(Axis(X, title, ticks=[0]), FRAME, LIGHT).box for title in ("", "IOPS"))
    assert titled[3] > bare[3]
    over = x_axis(Axis(X, "IOPS", ticks=[0], top=True), FRAME, LIGHT).box
    assert (over[1], over[3]) == (-42, FRAME.height)


def test_beside_the_plot_there_is_room_for_the_widest_label() -> None:
    axis = Axis(Y, label=lambda value: "1,000,000 s" if value else "0", ticks=[0, 1])
    assert -y_axis(axis, FRAME, LIGHT).box[0] > width_px("1,000,000 s", FONT_SIZE)
    assert y_axis(replace(axis, room=200), FRAME, LIGHT).box[0] == -200


def test_words_are_escaped() -> None:
    svg = x_axis(Axis(X, "<i>", lambda _: "<b>&", [0]), FRAME, LIGHT).svg
    assert "&lt;b&gt;&amp;" in svg
    assert "&lt;i&gt;" in svg
