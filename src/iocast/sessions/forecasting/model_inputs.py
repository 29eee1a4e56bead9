"""What people write at `iocast model`, as numbers: lists of rates, times and sizes, with the option named in errors."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from iocast import units
from iocast.errors import SpecError
from iocast.forecast.laws.bursts import Level, Stretch

T = TypeVar("T")

RATES = "rates are written 135,105,75 (a second), 2.5k or 135/s"
_RATE = re.compile(r"([0-9]+(?:\.[0-9]+)?)(k|M)?")
_TIMES = {None: 1.0, "k": 1e3, "M": 1e6}


def seconds(option: str, text: str, *, zero: bool = False) -> float:
    """A time above 0, or of 0 where that is something. Raises SpecError."""
    value_s = _said(option, units.parse_duration, text) / 1e9
    if not value_s and not zero:
        raise SpecError(f"{option}: a time of 0 is none", "give a time above 0, e.g. 7.2ms")
    return value_s


def size(option: str, text: str) -> int:
    """A size above 0. Raises SpecError."""
    value = _said(option, units.parse_size, text)
    if not value:
        raise SpecError(f"{option}: a size of 0 is none", "give a size above 0, e.g. 8k")
    return value


def bandwidth(option: str, text: str) -> float:
    """Bytes a second above 0. Raises SpecError."""
    value = _said(option, units.parse_bandwidth, text)
    if not value:
        raise SpecError(f"{option}: a bandwidth of 0 moves nothing", "give for example 160MB/s")
    return float(value)


def percent(option: str, text: str) -> float:
    """A share, 0 to 1. Raises SpecError."""
    return _said(option, units.parse_percent, text) / 100


def rate(option: str, text: str) -> float:
    """I/Os a second: "135", "2.5k", "135/s", "30/min"; 0 too. Raises SpecError."""
    text = text.strip()
    if "/" in text:
        return _said(option, units.parse_rate, text)
    if text.startswith("-"):
        raise SpecError(f'{option}: "{text}" is negative', RATES)
    match = _RATE.fullmatch(text)
    if match is None:
        raise SpecError(f'{option}: "{text}" is not a rate', RATES)
    return float(match[1]) * _TIMES[match[2]]


def number(option: str, text: str) -> float:
    """A plain number of 0 or more. Raises SpecError."""
    if not re.fullmatch(r"\s*[0-9]+(\.[0-9]+)?([eE]-?[0-9]+)?\s*", text):
        raise SpecError(f'{option}: "{text}" is not a number of 0 or more', "for example 0.5")
    return float(text)


def whole(option: str, text: str) -> int:
    """A whole number of 1 or more. Raises SpecError."""
    if not re.fullmatch(r"\s*[0-9]{1,9}\s*", text) or not int(text):
        raise SpecError(f'{option}: "{text}" is not a whole number of 1 or more', "for example 1,2,4,8")
    return int(text)


def several(option: str, read: Callable[[str, str], T], text: str) -> tuple[T, ...]:
    """A list with commas. Raises SpecError."""
    parts = [part for part in text.split(",") if part.strip()]
    if not parts:
        raise SpecError(f"{option} is empty", "give one value or more, with commas between them")
    if len(parts) > 1000:
        raise SpecError(f"{option} has {len(parts)} values", "give 1000 or fewer")
    return tuple(read(option, part) for part in parts)


def shares(option: str, text: str) -> tuple[float, ...]:
    """Percentiles "50,95,99.9", 0 and 100 excluded. Raises SpecError."""
    parts = tuple(value / 100 for value in several(option, number, text))
    for value in parts:
        if not 0 < value < 1:
            raise SpecError(f"{option}: {value * 100:g} is not a percentile", "give for example 50,95,99,99.9")
    return parts


def stretches(option: str, text: str) -> tuple[Stretch, ...]:
    """Demand over time, "1000:60s,6000:30s". Raises SpecError."""
    parts = []
    for part in several(option, lambda _, each: each, text):
        demand, colon, lasts = part.partition(":")
        if not colon:
            raise SpecError(f'{option}: "{part}" has no time', "write RATE:TIME, e.g. 1000:60s,6000:30s")
        parts.append(Stretch(seconds(option, lasts), rate(option, demand)))
    return tuple(parts)


def levels(option: str, text: str, servers: int, service_s: float) -> tuple[Level, ...]:
    """Levels of load, "200:90%,450:10%". Raises SpecError."""
    parts = []
    for part in several(option, lambda _, each: each, text):
        per_s, colon, lasts = part.partition(":")
        if not colon:
            raise SpecError(f'{option}: "{part}" has no share of the time', "write RATE:SHARE, e.g. 200:90%,450:10%")
        parts.append(Level(percent(option, lasts), rate(option, per_s), servers, service_s))
    if abs(sum(level.time_fraction for level in parts) - 1) > 1e-6:
        raise SpecError(f"{option}: the shares of time do not add up to 100%", "e.g. 200:90%,450:10%")
    if not any(level.rate_per_s for level in parts):
        raise SpecError(f"{option}: no level asks for anything", "give a rate above 0")
    return tuple(parts)


def _said(option: str, parse: Callable[[str], T], text: str) -> T:
    try:
        return parse(text.strip())
    except SpecError as error:
        raise SpecError(f"{option}: {error.message}", error.hint) from error
