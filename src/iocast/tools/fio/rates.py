"""How many I/Os there were where fio states only bytes, a rate and a time: in terse output, and in the JSON of 2.1."""

from __future__ import annotations

import math
from itertools import islice

SECTOR = 512
LARGEST_IO = 1 << 30


def ios_by_rate(moved_bytes: int, rate_per_s: float, runtime_ms: float) -> tuple[int, int | None]:
    """Their number and size: exact where one size fits, else rate times time and None."""
    size = _size(moved_bytes, rate_per_s, runtime_ms)
    return (moved_bytes // size, size) if size else (round(rate_per_s * runtime_ms / 1000), None)


def _size(moved_bytes: int, rate_per_s: float, runtime_ms: float) -> int | None:
    """The one multiple of 512 bytes for which bytes over size over time is the rate, which fio cut to a whole one."""
    if not moved_bytes or not rate_per_s or not runtime_ms:
        return None
    per_s = moved_bytes * 1000 / runtime_ms
    # fio works the rate out from I/Os and whole milliseconds; a hair is allowed for.
    least, most = per_s / (rate_per_s + 1.001), per_s / (rate_per_s - 0.001)
    fitting = range(-(-math.floor(least) // SECTOR) * SECTOR or SECTOR, math.floor(min(most, LARGEST_IO)) + 1, SECTOR)
    found = list(islice((size for size in fitting if size >= least and moved_bytes % size == 0), 2))
    return found[0] if len(found) == 1 else None
