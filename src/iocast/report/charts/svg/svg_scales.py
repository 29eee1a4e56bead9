"""Scales: where a value stands on the plot, in pixels, on a linear or a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from msgspec import Struct

from iocast.report.charts.drawing.axis_ticks import rounded_out
from iocast.report.charts.drawing.parts import Spec

ABOUT = {"x": 10, "y": 6}  # ticks, where an axis does not say how many


class Scale(Struct, frozen=True):
    """A range of values and the pixels of both ends; a clamped one keeps what lies beyond at its ends."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False
    clamp: bool = False

    def placing(self) -> Callable[[float], float]:
        """The function from a value to its pixel, NaN for what a logarithmic axis has no place for."""
        low, high = (math.log10(self.low), math.log10(self.high)) if self.log else (self.low, self.high)
        factor = (self.end - self.start) / (high - low) if high != low else 0.0
        least, most = sorted((self.low, self.high))
        log10, start = math.log10, self.start
        if self.log and self.clamp:
            return lambda value: start + factor * (log10(min(most, max(least, value))) - low)
        if self.log:
            return lambda value: start + factor * (log10(value) - low) if value > 0 else math.nan
        if self.clamp:
            return lambda value: start + factor * (min(most, max(least, value)) - low)
        return lambda value: start + factor * (value - low)


def scale_of(layers: Iterable[Spec], channel: str, start: float, end: float) -> Scale:
    """The scale that all layers share: the one that a layer states, else one from 0 around all that is drawn."""
    layers = [*layers]
    stated = [each["encoding"][channel].get("scale") for each in layers if channel in each["encoding"]]
    about: Spec = next((scale for scale in stated if scale), {})
    if "domain" in about:
        low, high = about["domain"]
    else:
        axis = axis_of(layers, channel)
        low, high = rounded_out(*_extent(layers, channel), (axis or {}).get("tickCount", ABOUT[channel]))
    return Scale(low, high, start, end, about.get("type") == "log", about.get("clamp", False))


def axis_of(layers: Iterable[Spec], channel: str) -> Spec | None:
    """The axis of a channel: the first that a layer states."""
    found = (each["encoding"].get(channel, {}).get("axis") for each in layers)
    return next((axis for axis in found if axis), None)


def _extent(layers: list[Spec], channel: str) -> tuple[float, float]:
    """From the least to the most of what is drawn, and 0."""
    found = [0.0]
    for each in layers:
        for name in (channel, f"{channel}2"):
            field = each["encoding"].get(name, {}).get("field")
            if field:
                found += [row[field] for row in each["rows"] if row.get(field) is not None]
    return min(found), max(found)
