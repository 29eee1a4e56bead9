"""Text of other tools and values of their rows become numbers here, and nowhere else: finite, and within bounds.

So what is made of them cannot overflow: the product or the quotient of fifteen is still a float.
"""

from __future__ import annotations

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
    found = _parsed(value)
    return found if found is not None and abs(found) <= LARGEST_NUMBER else None


def whole_of(value: object, base: int = 10, *, signed: bool = False) -> int | None:
    """The whole number that digits are; None for anything else, and beyond 2**64. A sign only where `signed`."""
    text = str(value).strip()
    digits = text.removeprefix("-") if signed else text
    if not (digits.isascii() and digits.isalnum() and len(digits) <= _MOST_DIGITS):
        return None
    try:
        found = int(text, base)
    except ValueError:
        return None
    return found if abs(found) <= LARGEST_NUMBER else None


def moment_ns(value: object, unit_ns: int = SECOND_NS) -> int:
    """A time since 1970 in ns; 0 for NULL and for what no clock says."""
    whole = whole_of(value)
    time_ns = round((number_of(value) or 0.0) * unit_ns) if whole is None else whole * unit_ns
    return time_ns if 0 < time_ns <= LAST_NS else 0


def number(path: str, line: int, text: str, what: str) -> float:
    """A number as it stands in the file. Raises SourceError for anything else: not-a-number, below 0, beyond 2**64."""
    found = _parsed(text)
    if found is None:
        raise refuse(path, line, f'{what} is "{text.strip()[:40]}", not a number')
    if found - found != 0 and text.strip(" +-").isalpha():
        raise refuse(path, line, f"{what} is {text.strip()[:40]}: the tool measured nothing there")
    return bounded(path, line, found, what)


def whole(path: str, line: int, text: str, what: str, hint: str = WRONG_FILE) -> int:
    """A whole number as it stands in the file. Raises SourceError for anything but digits, and beyond 2**64."""
    found = whole_of(text)
    if found is None:
        raise refuse(path, line, f'{what} is "{text.strip()[:40]}", not a whole number', hint)
    return found


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
        found = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return 0.0 if abs(found) < SMALLEST_NUMBER else found
