"""Units people write ("8k", "10s", "500/s", "200MB/s") to integers, and back without loss.

kB, MB, GB, TB, PB are powers of 1000; KiB, MiB, GiB, TiB, PiB are powers of 1024; a bare k, m, g, t, p in any
case is a power of 1024 too, because block sizes are meant so in this trade (fio, vdbench, Oracle). A small b
is refused: it means bits to some and bytes to others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

from iocast.errors import SpecError

SIZES = "sizes are written 4096, 8k or 8KiB (1024 each), 8kB (1000 each), and so on with M, G, T, P"
DURATIONS = "times are written 100us, 500ms, 10s, 1.5s, 2m, 1h, 1d"
RATES = "rates are written 500/s, 2.5k/s (k = 1000), 30/min, 100/h"
BANDWIDTHS = "bandwidths are written 200MB/s (1000 each), 1MiB/s or 1M/s (1024 each)"
PERCENTS = "percentages are written 50% or 0.1%"

LARGEST = 2**63 - 1

_PREFIXES = "kmgtp"
_BINARY = {prefix: 1024**power for power, prefix in enumerate(_PREFIXES, 1)}
_SIZE_UNITS: dict[str, int] = {
    "": 1,
    "B": 1,
    **_BINARY,
    **{prefix.upper(): factor for prefix, factor in _BINARY.items()},
    "kiB": 1024,
    **{prefix.upper() + "iB": factor for prefix, factor in _BINARY.items()},
    "kB": 1000,
    **{prefix.upper() + "B": 1000**power for power, prefix in enumerate(_PREFIXES, 1)},
}
_DURATION_UNITS: dict[str, int] = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,  # the micro sign
    "μs": 1_000,  # the Greek letter
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "min": 60_000_000_000,
    "h": 3_600_000_000_000,
    "d": 86_400_000_000_000,
}
_RATE_UNITS = {"": 1, "k": 1_000, "M": 1_000_000}
_RATE_PERIODS = {"s": 1, "sec": 1, "min": 60, "h": 3600}

_NUMBER = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?|\.[0-9]+)\s*(.*?)\s*", re.DOTALL)
_LONGEST = 60  # characters; more are a mistake, and slow to multiply


def _refuse(text: object, what: str, why: str, accepted: str) -> SpecError:
    shown = f'"{text}"' if isinstance(text, str) else str(text).lower()
    shown = shown if len(shown) <= _LONGEST else shown[:_LONGEST] + '…"'
    return SpecError(f"{shown} is not a {what}: {why}", accepted)


def _split(text: object, what: str, accepted: str) -> tuple[Fraction, str]:
    """The number and the unit text after it."""
    if not isinstance(text, str):
        raise _refuse(text, what, "the unit is missing", accepted)
    if not text.strip():
        raise _refuse(text, what, "empty", accepted)
    if text.strip().startswith("-"):
        raise _refuse(text, what, "negative", accepted)
    match = _NUMBER.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        raise _refuse(text, what, "no number at the start", accepted)
    return Fraction(match[1]), match[2]


def _factor(text: str, unit: str, units: Mapping[str, int], what: str, accepted: str) -> int:
    if unit in units:
        return units[unit]
    why = "the unit is missing" if not unit else f'unknown unit "{unit}"'
    raise _refuse(text, what, why, accepted)


def _whole(text: object, value: Fraction, what: str, least: str, accepted: str) -> int:
    if value.denominator != 1:
        raise _refuse(text, what, f"not a whole number of {least}", accepted)
    if value > LARGEST:
        raise _refuse(text, what, "too large", accepted)
    return int(value)


def parse_size(text: str | int) -> int:
    """Bytes of "8k", "1MiB", "200MB", "2 GiB", "0008k", "4096" or 4096. Raises SpecError."""
    if isinstance(text, int) and not isinstance(text, bool):
        if text < 0:
            raise _refuse(text, "size", "negative", SIZES)
        return _whole(text, Fraction(text), "size", "bytes", SIZES)
    number, unit = _split(text, "size", SIZES)
    if unit not in _SIZE_UNITS and re.fullmatch(r"(?:[kmgtp]i?)?b(?:it)?s?", unit, re.IGNORECASE):
        ways = "write B for bytes"
        if unit[0] in "kmgtpKMGTP":
            prefix = unit[0].upper()
            decimal = "k" if prefix == "K" else prefix
            ways = f"write {prefix}iB (1024) or {decimal}B (1000), with this capitalisation"
        raise _refuse(text, "size", f'"{unit}" may mean bits or bytes: {ways}', SIZES)
    factor = _factor(str(text), unit, _SIZE_UNITS, "size", SIZES)
    return _whole(text, number * factor, "size", "bytes", SIZES)


def parse_duration(text: str) -> int:
    """Nanoseconds of "10s", "500ms", "2m", "1h", "1.5s", "100us". Raises SpecError."""
    number, unit = _split(text, "time", DURATIONS)
    factor = _factor(text, unit, _DURATION_UNITS, "time", DURATIONS)
    return _whole(text, number * factor, "time", "nanoseconds", DURATIONS)


def parse_rate(text: str) -> float:
    """Events per second of "500/s", "2.5k/s" (k = 1000), "30/min". Raises SpecError."""
    number, unit = _split(text, "rate", RATES)
    prefix, slash, period = (part.strip() for part in unit.partition("/"))
    if not slash:
        raise _refuse(text, "rate", '"/s" or "/min" is missing', RATES)
    if prefix not in _RATE_UNITS or period not in _RATE_PERIODS:
        raise _refuse(text, "rate", f'unknown unit "{unit}"', RATES)
    return float(number * _RATE_UNITS[prefix] / _RATE_PERIODS[period])


def parse_bandwidth(text: str) -> int:
    """Bytes per second of "200MB/s", "1MiB/s". Raises SpecError."""
    _split(text, "bandwidth", BANDWIDTHS)
    size, slash, period = text.rpartition("/")
    if not slash or period.strip() != "s":
        raise _refuse(text, "bandwidth", '"/s" is missing at the end', BANDWIDTHS)
    try:
        return parse_size(size)
    except SpecError as error:
        raise _refuse(text, "bandwidth", error.message.partition(": ")[2], BANDWIDTHS) from None


def parse_percent(text: str) -> float:
    """Per cent (0 to 100) of "50%", "0.1 %". Raises SpecError."""
    number, unit = _split(text, "percentage", PERCENTS)
    if unit != "%":
        why = '"%" is missing' if not unit else f'unknown unit "{unit}"'
        raise _refuse(text, "percentage", why, PERCENTS)
    if number > 100:
        raise _refuse(text, "percentage", "more than 100", PERCENTS)
    return float(number)


def size_text(size_bytes: int) -> str:
    """The shortest exact text: 8192 -> "8k", 1048576 -> "1M", 1000000 -> "1MB", 1536 -> "1536"."""
    candidates = [str(size_bytes)]
    for power, prefix in enumerate("kMGTP", 1):
        binary, decimal = 1024**power, 1000**power
        if size_bytes and size_bytes % binary == 0:
            candidates.append(f"{size_bytes // binary}{prefix}")
        if size_bytes and size_bytes % decimal == 0:
            candidates.append(f"{size_bytes // decimal}{prefix}B")
    return min(candidates, key=lambda text: (len(text), text.endswith("B")))


def duration_text(duration_ns: int) -> str:
    """The exact text in the largest unit that divides it: 500000000 -> "500ms", 120000000000 -> "2m"."""
    if not duration_ns:
        return "0s"
    for unit in ("d", "h", "m", "s", "ms", "us"):
        if duration_ns % _DURATION_UNITS[unit] == 0:
            return f"{duration_ns // _DURATION_UNITS[unit]}{unit}"
    return f"{duration_ns}ns"


def rate_text(rate_per_s: float) -> str:
    """The exact text: 500.0 -> "500/s", 0.5 -> "0.5/s"."""
    number = format(Decimal(repr(float(rate_per_s))), "f")
    return f"{number.removesuffix('.0')}/s"


def bandwidth_text(bytes_per_s: int) -> str:
    """The exact text: 200000000 -> "200MB/s", 1048576 -> "1M/s"."""
    return f"{size_text(bytes_per_s)}/s"
