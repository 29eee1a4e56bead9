"""What the program pg_test_fsync prints: how long each method takes to make one 8 kB write durable."""

from __future__ import annotations

import re

from iocast.tools.foreign_numbers import number_of

_LINE = re.compile(r"^\s+(\w+)\s+([\d.]+) ops/sec\s+([\d.]+) usecs/op")


def sync_times(text: str) -> dict[str, int]:
    """Method → ns an operation, of one write; methods that the program could not try are left out.

    The blocks after the first are of other sizes, two writes and descriptors.
    """
    times: dict[str, int] = {}
    begun = False
    for line in text.splitlines():
        if line.startswith("Compare file sync methods using one"):
            begun = True
        elif begun and line.startswith("Compare"):
            break
        elif begun and (match := _LINE.match(line)):
            # The rate has more digits than the time, which is in whole microseconds.
            rate, took_us = number_of(match[2]), number_of(match[3])
            if rate:
                times[match[1]] = round(1e9 / rate)
            elif took_us is not None:
                times[match[1]] = round(took_us * 1000)
    return times
