"""Reads the values of a simulated target's options; all raise ValueError or SpecError with the reason."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from iocast.units import parse_duration

Read = TypeVar("Read")
_COUNT = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)([kMG]?)")
_THOUSANDS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9}


def positive(value: int) -> int:
    """`value`, unless it is 0."""
    if value <= 0:
        raise ValueError("it must be more than 0")
    return value


def duration(text: str) -> int:
    """A time above 0, in ns."""
    return positive(parse_duration(text))


def number(text: str, most: float, *, zero: bool = False) -> float:
    """A number above 0 (or 0 if `zero`), at most `most`."""
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text) or not (
        0 < float(text) <= most or (zero and not float(text))
    ):
        raise ValueError(f'expected a number {"from" if zero else "above"} 0, up to {most:g}, not "{text}"')
    return float(text)


def count(text: str) -> float:
    """How many: "5400", "5.4M" (thousands)."""
    match = _COUNT.fullmatch(text)
    if not match or not float(match[1]):
        raise ValueError(f'expected a number such as 5400 or 5.4M, not "{text}"')
    return float(match[1]) * _THOUSANDS[match[2]]


def span(text: str, read: Callable[[str], Read]) -> tuple[Read, Read]:
    """The two values of "1ms..3ms"."""
    low, dots, high = text.partition("..")
    if not dots:
        raise ValueError('expected two values with ".." between')
    return read(low), read(high)


def parts(text: str, form: str) -> list[str]:
    """The values of "80%:200us", as many as `form` names."""
    words = text.split(":")
    if len(words) != form.count(":") + 1:
        raise ValueError(f"expected {form}")
    return words


def switch(text: str) -> bool:
    """True of "on", False of "off"."""
    if text not in ("on", "off"):
        raise ValueError("expected on or off")
    return text == "on"


def length_of_period(text: str, what: str) -> tuple[int, int]:
    """The two times of "1s/5s": `what` lasts so long of every so long."""
    length, slash, period = text.partition("/")
    if not slash:
        raise ValueError('expected two times with "/" between')
    length_ns, period_ns = duration(length), duration(period)
    if length_ns >= period_ns:
        raise ValueError(f"{what} must be shorter than its period")
    return length_ns, period_ns
