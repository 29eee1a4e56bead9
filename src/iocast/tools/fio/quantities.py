"""Numbers as fio's job files write them: 8k is 8192, 0008k too; a time without a unit has that of its option."""

from __future__ import annotations

import re

from iocast.errors import SpecError
from iocast.tools.foreign_numbers import whole_of
from iocast.units import LARGEST

SIZES = "fio's sizes are whole numbers with k, m, g, t or p (1024 each), such as 4096, 8k, 0008k, 2g"
TIMES = "fio's times are whole numbers with us, ms, s, m, h or d, such as 500ms, 60, 10m"
LONGEST = 40  # characters of a number; leading zeros are allowed

_SIZE = re.compile(r"(0x[0-9a-f]+|[0-9]+)([kmgtp]?)(i?)(b?)", re.IGNORECASE)
_TIME = re.compile(r"([0-9]+)\s*([a-z]*)", re.IGNORECASE)
_DECIMAL = re.compile(r"^[0-9]+\.[0-9]")
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
TIME_NS = {
    "us": 1_000,
    "usec": 1_000,
    "ms": 1_000_000,
    "msec": 1_000_000,
    "s": 1_000_000_000,
    "sec": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
    "d": 86_400_000_000_000,
}
PRINTED_NS = {"ns": 1, "nsec": 1, **TIME_NS}  # in its output there are nanoseconds too


def read_size(text: str, kb_base: int = 1024) -> int:
    """Bytes of "8k". Raises SpecError, also for what fio would silently read as something else."""
    match = _SIZE.fullmatch(text)
    if match and len(text) > LONGEST:
        raise SpecError(f"{text[:LONGEST]}... is too large", SIZES)
    if match is None:
        raise _refuse(text, "size", SIZES)
    number, prefix, binary, _ = match.groups()
    value = whole_of(number, 16 if number[:2].lower() == "0x" else 10)
    base = kb_base
    if binary and match[4] and prefix:
        if kb_base == 1024:
            decimal = (value or 0) * 1000 ** _POWERS[prefix.lower()]
            raise SpecError(f"{text} is {decimal} bytes to fio, not what it suggests", f"write {number}{prefix}")
        base = 1024
    size_bytes = LARGEST + 1 if value is None else value * base ** _POWERS[prefix.lower()]
    if size_bytes > LARGEST:
        raise SpecError(f"{text} is too large", SIZES)
    return size_bytes


def text_of(size_bytes: int) -> str:
    """The shortest text that fio reads as so many bytes: 8192 -> "8k"."""
    for prefix, power in reversed(_POWERS.items()):
        if size_bytes and size_bytes % 1024**power == 0:
            return f"{size_bytes // 1024**power}{prefix}"
    return str(size_bytes)


def time_of(time_ns: int) -> str:
    """Whole seconds, or else ms or us, as fio reads them. Raises SpecError for parts of a microsecond."""
    for unit in ("s", "ms", "us"):
        if time_ns % TIME_NS[unit] == 0:
            return f"{time_ns // TIME_NS[unit]}{unit}"
    raise SpecError(f"{time_ns} ns: fio's times are whole microseconds", "")


def read_time(text: str, bare: str) -> int:
    """Nanoseconds of "10m"; `bare` is the unit of a number without one. Raises SpecError."""
    match = _TIME.fullmatch(text)
    if match and len(text) > LONGEST:
        raise SpecError(f"{text[:LONGEST]}... is too long", TIMES)
    unit = (match[2].lower() or bare) if match else ""
    if match is None or unit not in TIME_NS:
        raise _refuse(text, "time", TIMES)
    value = whole_of(match[1])
    time_ns = LARGEST + 1 if value is None else value * TIME_NS[unit]
    if time_ns > LARGEST:
        raise SpecError(f"{text} is too long", TIMES)
    return time_ns


def read_whole(text: str, least: int = 0, most: int = LARGEST) -> int:
    """A whole number, k and so on allowed. Raises SpecError."""
    expected = f"a whole number from {least} to {most}" if most < LARGEST else f"a whole number, {least} or more"
    try:
        value = read_size(text)
    except SpecError:
        raise _refuse(text, "number", f"expected {expected}") from None
    if not least <= value <= most:
        raise SpecError(f"{text} is out of range", f"expected {expected}")
    return value


def read_flag(text: str) -> bool:
    """True for 1, False for 0. Raises SpecError."""
    if text not in ("0", "1"):
        raise SpecError(f"{text} is neither 0 nor 1", "")
    return text == "1"


def read_percent(text: str) -> int | None:
    """Per cent of "20%"; None when it is not written so. Raises SpecError."""
    if not text.endswith("%"):
        return None
    percent = whole_of(text[:-1])
    if percent is None or percent > 100:
        raise SpecError(f"{text} is not a percentage", "percentages are whole numbers up to 100, such as 20%")
    return percent


def _refuse(text: str, what: str, hint: str) -> SpecError:
    if _DECIMAL.match(text):
        return SpecError(f"{text} is not a whole {what}: fio reads it as {text.partition('.')[0]}", hint)
    if "$" in text or text.startswith("("):
        return SpecError(f"{text} would be computed by fio", f"write the result; {hint}")
    return SpecError(f"{text} is not a valid {what}", hint)
