"""Text of other tools and values of their rows become numbers here, and nowhere else: finite, and within bounds.

So what is made of them cannot overflow: the product or the quotient of fifteen is still a float.
"""

from __future__ import annotations

import re
from datetime import date
from typing import TypeVar

from iocast.tools.source_files import WRONG_FILE, refuse

LARGEST_NUMBER = 1 << 64  # counters of every tool end here
SMALLEST_NUMBER = 1 / LARGEST_NUMBER  # and what is smaller counts as 0
LAST_NS = (1 << 63) - 1  # of the times that tables hold: in the year 2262
SECOND_NS = 1_000_000_000
_MOST_DIGITS = 400  # with leading zeros; of 4,300 Python makes no number
_Number = TypeVar("_Number", int, float)


def number_of(value: object) -> float | None:
    """A number of either sign; None for NULL, for what is not a number or not finite, and beyond 2**64."""
    value_read = _parsed(value)
    return value_read if value_read is not None and abs(value_read) <= LARGEST_NUMBER else None


def whole_of(value: object, base: int = 10, *, signed: bool = False) -> int | None:
    """The whole number that digits are; None for anything else, and beyond 2**64. A sign only where `signed`."""
    text = str(value).strip()
    digits = text.removeprefix("-") if signed else text
    if not (digits.isascii() and digits.isalnum() and len(digits) <= _MOST_DIGITS):
        return None
    try:
        integer = int(text, base)
    except ValueError:
        return None
    return integer if abs(integer) <= LARGEST_NUMBER else None


def moment_ns(value: object, unit_ns: int = SECOND_NS) -> int:
    """A time since 1970 in ns; 0 for NULL and for what no clock says."""
    whole = whole_of(value)
    time_ns = round((number_of(value) or 0.0) * unit_ns) if whole is None else whole * unit_ns
    return time_ns if 0 < time_ns <= LAST_NS else 0


def number(path: str, line: int, text: str, what: str) -> float:
    """A number as it stands in the file. Raises SourceError for anything else: not-a-number, below 0, beyond 2**64."""
    value = _parsed(text)
    if value is None:
        raise refuse(path, line, f'{what} is "{text.strip()[:40]}", not a number')
    if value - value != 0 and text.strip(" +-").isalpha():
        raise refuse(path, line, f"{what} is {text.strip()[:40]}: the tool measured nothing there")
    return bounded(path, line, value, what)


def whole(path: str, line: int, text: str, what: str, hint: str = WRONG_FILE) -> int:
    """A whole number as it stands in the file. Raises SourceError for anything but digits, and beyond 2**64."""
    value = whole_of(text)
    if value is None:
        raise refuse(path, line, f'{what} is "{text.strip()[:40]}", not a whole number', hint)
    return value


def bounded(path: str, line: int, value: _Number, what: str) -> _Number:
    """The same value. Raises SourceError when no tool can have measured it: below 0, or beyond 2**64."""
    if not 0 <= value <= LARGEST_NUMBER:
        shown = "below 0" if value < 0 else "larger than any counter"
        raise refuse(path, line, f"{what} is {shown}: the file is damaged")
    return value if value >= SMALLEST_NUMBER else value * 0


def _parsed(value: object) -> float | None:
    """As float() reads it, without what only Python writes: 1_000, figures of other scripts."""
    if isinstance(value, str) and ("_" in value or not value.isascii()):
        return None
    try:
        value_read = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return 0.0 if abs(value_read) < SMALLEST_NUMBER else value_read


DAY_S = 86_400
CLOCK = re.compile(r"(\d{1,2})[:.](\d\d)[:.](\d\d)([.,]\d{1,9})?(?:\s*([AP]M))?", re.ASCII)
_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_EPOCH = re.compile(r"\d{9,11}(?:\.\d{1,9})?$", re.ASCII)
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)[ T]", re.ASCII)
_NAMED = re.compile(r"(\d{1,2})-([A-Z]{3})-(\d{4}|\d\d) ", re.ASCII)


def since_1970(stamp: str) -> float | None:
    """The seconds since 1970 that a stamp consists of; None for any other."""
    return number_of(stamp) if _EPOCH.match(stamp) else None


def second_of_day(stamp: str) -> float | None:
    """The time of day in a stamp, with its fraction; None where there is none."""
    match = CLOCK.search(stamp.upper())
    if not match:
        return None
    hour, minute, second = (whole_of(match[place]) or 0 for place in (1, 2, 3))
    if match[5]:
        hour = hour % 12 + (12 if match[5] == "PM" else 0)
    fraction = number_of(f"0{match[4].replace(',', '.')}") if match[4] else None
    return hour * 3600 + minute * 60 + second + (fraction or 0.0)


def day_of(stamp: str) -> int | None:
    """The number of a day whose date is one of ISO, or names its month; None for others: each locale has its own."""
    upper = stamp.upper()
    if match := _ISO.search(upper):
        year, month, day = (whole_of(match[place]) or 0 for place in (1, 2, 3))
    elif (match := _NAMED.search(upper)) and match[2] in _MONTHS:
        year = (whole_of(match[3]) or 0) + (2000 if len(match[3]) == 2 else 0)
        month, day = _MONTHS.index(match[2]) + 1, whole_of(match[1]) or 0
    else:
        return None
    try:
        return date(year, month, day).toordinal()
    except ValueError:
        return None
