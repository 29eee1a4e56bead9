"""Times of day and dates as tools print them: the seconds of a day, the number of a day, seconds since 1970."""

from __future__ import annotations

import re
from datetime import date

from iocast.tools.foreign_numbers import number_of, whole_of

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
    found = CLOCK.search(stamp.upper())
    if not found:
        return None
    hour, minute, second = (whole_of(found[place]) or 0 for place in (1, 2, 3))
    if found[5]:
        hour = hour % 12 + (12 if found[5] == "PM" else 0)
    fraction = number_of(f"0{found[4].replace(',', '.')}") if found[4] else None
    return hour * 3600 + minute * 60 + second + (fraction or 0.0)


def day_of(stamp: str) -> int | None:
    """The number of a day whose date is one of ISO, or names its month; None for others: each locale has its own."""
    upper = stamp.upper()
    if found := _ISO.search(upper):
        year, month, day = (whole_of(found[place]) or 0 for place in (1, 2, 3))
    elif (found := _NAMED.search(upper)) and found[2] in _MONTHS:
        year = (whole_of(found[3]) or 0) + (2000 if len(found[3]) == 2 else 0)
        month, day = _MONTHS.index(found[2]) + 1, whole_of(found[1]) or 0
    else:
        return None
    try:
        return date(year, month, day).toordinal()
    except ValueError:
        return None
