"""How numbers are written at an axis: short, in one way, without what they do not need."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

Label = Callable[[float], str]
SIX = 6  # figures, where nothing says less
_LARGE = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def figures(value: float, most: int = SIX) -> str:
    """At most so many significant figures, in groups of three: "1,500", "0.25"."""
    if not value:
        return "0"
    decimals = most - 1 - math.floor(math.log10(abs(value)))
    written = f"{round(value, decimals):,.{max(0, decimals)}f}"
    return written.rstrip("0").rstrip(".") if "." in written else written


def alike(values: Sequence[float]) -> Label:
    """All of them with as many decimals as one of them needs."""
    decimals = max((len(figures(value).partition(".")[2]) for value in values), default=0)
    return lambda value: f"{value:,.{decimals}f}"


def prefixed(value: float) -> str:
    """With the prefix of its size: "800", "1.5k", "20M"."""
    unit, prefix = next(((unit, prefix) for unit, prefix in _LARGE if abs(value) >= unit), (1.0, ""))
    return figures(value / unit) + prefix


def percent(share: float) -> str:
    """A share in whole per cent."""
    return f"{share:.0%}"


def whole(value: float) -> str:
    """A count."""
    return f"{value:,.0f}"


def response_time(value_ns: float) -> str:
    """A tick of response time: "300 µs"."""
    for unit, name in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if value_ns >= 0.9995 * unit:
            return f"{figures(value_ns / unit, 4)} {name}"
    return f"{figures(value_ns)} ns"


def clock(value_s: float) -> str:
    """Seconds from the start: "40 s", "5 min", "3 h"."""
    for unit, name in ((3600, "h"), (60, "min")):
        if value_s >= 2 * unit:
            return f"{figures(value_s / unit, 4)} {name}"
    return f"{figures(1000 * value_s, 4)} ms" if 0 < value_s < 1 else f"{figures(value_s, 4)} s"


def binary_size(value_bytes: float) -> str:
    """A size in powers of 1024."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB")):
        if value_bytes >= unit:
            return f"{figures(value_bytes / unit, 3)} {name}"
    return f"{figures(value_bytes / 1024, 3)} KiB"


def one_of(names: Sequence[str], first: int = 0) -> Label:
    """The names that stand at `first` and the whole numbers after it."""
    return lambda value: names[round(value) - first]
