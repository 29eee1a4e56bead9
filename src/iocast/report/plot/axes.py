"""Axes: which values stand from where to where, which are marked, and how they are written."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from iocast.report.plot.axis_labels import Label, one_of, response_time

LABEL_ROOM = 66  # beside a plot, for labels in whatever font the page has in the end
ROW_HEIGHT = 24


class Scale(Struct, frozen=True):
    """A range of values, linear or logarithmic; a clamped one keeps what lies beyond at its ends."""

    low: float
    high: float
    log: bool = False
    clamp: bool = False

    def placing(self, start: float, end: float) -> Callable[[float], float]:
        """The function from a value to its pixel between those of both ends, NaN for what a logarithmic axis has no
        place for."""
        low, high = (math.log10(self.low), math.log10(self.high)) if self.log else (self.low, self.high)
        factor = (end - start) / (high - low) if high != low else 0.0
        least, most = sorted((self.low, self.high))
        log10 = math.log10
        if self.log and self.clamp:
            return lambda value: start + factor * (log10(min(most, max(least, value))) - low)
        if self.log:
            return lambda value: start + factor * (log10(value) - low) if value > 0 else math.nan
        if self.clamp:
            return lambda value: start + factor * (min(most, max(least, value)) - low)
        return lambda value: start + factor * (value - low)


class Axis(Struct, frozen=True):
    """A scale with ticks: those that are named, else about `count` round ones."""

    scale: Scale
    title: str = ""
    label: Label | None = None  # None: numbers with as many decimals as one of them needs
    ticks: Sequence[float] | None = None
    count: int | None = None  # None: as many as usual on its side
    least_step: float = 0.0
    grid: bool = True  # a line across the plot at each tick
    top: bool = False  # above the plot instead of below
    room: int = 0  # pixels beside the plot, more where its labels need them
    each_label: bool = False  # also where labels lie on each other


def time_axis(
    low_ns: float, high_ns: float, title: str = "", *, grid: bool = True, top: bool = False, room: int = 0
) -> Axis:
    """A logarithmic axis of times in ns, with the ticks that fit."""
    low, high = max(low_ns, 1.0), max(high_ns, 2.0)
    scale = Scale(low, high, log=True, clamp=True)
    return Axis(scale, title, response_time, _times(low, high), grid=grid, top=top, room=room)


def _times(low: float, high: float) -> list[float]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7), (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9)):
        values = [step * 10.0**decade for decade in decades for step in steps]
        inside = [tick for tick in values if low * 0.999 <= tick <= high * 1.001]
        if len(inside) >= 3:
            return inside
    return [low, high]


def names_axis(names: Sequence[str], low: float, high: float, title: str = "", *, room: int = 0) -> Axis:
    """Equal steps: a name at 0, 1, 2, ..."""
    return Axis(Scale(low, high), title, one_of(names), [*range(len(names))], grid=False, room=room, each_label=True)


def rows_axis(names: Sequence[str], above: float = 0.55, below: float = 0.45) -> Axis:
    """Rows from top to bottom at 0, 1, 2, ..., with room for the longest name in whatever font the page has."""
    room = round(7.4 * max(len(name) for name in names)) + 8
    return names_axis(names, len(names) - below, -above, room=room)


def known(values: Iterable[float | None]) -> list[float]:
    """Those that are numbers."""
    return [float(value) for value in values if value is not None and not math.isnan(value)]


def padded(low: float, high: float, share: float = 0.06, least: float = 0.25) -> tuple[float, float]:
    """Bounds of a logarithmic axis with room at both ends, at least `least` decades wide on either side of a point."""
    wide = math.log10(high / low) if high > low else 0.0
    room = 10 ** max(wide * share, (2 * least - wide) / 2 if wide < 2 * least else 0.0)
    return low / room, high * room


def padded_times(times: Sequence[float], share: float = 0.06) -> tuple[float, float]:
    """The same around times in ns. One of 0, as tools state it that count microseconds, stands at 1 ns."""
    return padded(max(1.0, min(times)), max(1.0, *times), share)
