"""Interval: what one operation of one size did in one interval of a phase; its course is kept in Parquet."""

from __future__ import annotations

from msgspec import Struct

from iocast.model.histogram import Histogram
from iocast.model.workload import Op


class Interval(Struct, frozen=True):
    """One op x size in one interval. An I/O counts in the interval in which it ended."""

    start_ns: int  # since the start of the phase
    op: Op
    size_bytes: int
    bytes: int
    errors: int
    response: Histogram


# Of one phase, in time order. Intervals in which nothing ended are not in it.
Course = tuple[Interval, ...]
