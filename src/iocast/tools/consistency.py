"""Whether a tool's own figures go together: what does not is said, nothing is put right."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

from iocast.model.stated import Coarse
from iocast.tools.stated_rows import OpFigures, Row

SUM_SLACK = 0.01  # of all: shares are printed with two decimals, twenty or more of them
RATE_SLACK = 0.02
MEAN_SLACK = 0.05
PARTS_SLACK_NS = 500.0  # reading the clock itself takes as long; a wrong unit is off by far more
WRONG_UNITS = (1e-6, 1e-3, 1e3, 1e6)
LEAST_WHOLE = 50.0  # below this many I/Os a second a rate that was cut to a whole number says little


def inconsistencies(row: Row) -> Iterator[str]:
    """Everything in one row that cannot be true together."""
    for each in row.ops:
        yield from (f"{row.name}, {each.op}: {what}" for what in _of_op(row, each))


def _of_op(row: Row, figures: OpFigures) -> Iterator[str]:
    if figures.size_bytes and "ios" not in row.derived:
        expected = figures.ios * figures.size_bytes
        if abs(figures.bytes - expected) > RATE_SLACK * max(expected, figures.bytes) and not figures.short_ios:
            yield f"{figures.ios} I/Os of {figures.size_bytes} bytes are not the {figures.bytes} bytes it states"
    times = figures.times.coarse
    if times is None:
        return
    if times.max_ns is not None and row.elapsed_ns and times.max_ns > row.elapsed_ns and "length" not in row.derived:
        yield f"a latency of {times.max_ns / 1e9:.3g} s is longer than the run of {row.elapsed_ns / 1e9:.3g} s"
    yield from _order(times)
    yield from _buckets(times)


def _order(times: Coarse) -> Iterator[str]:
    stated = [value for value in (times.min_ns, times.mean_ns, times.max_ns) if value is not None]
    if any(one > other * 1.001 for one, other in pairwise(stated)):
        yield "minimum, mean and maximum latency are not in ascending order"
    values = [each.value_ns for each in times.quantiles]
    if values != sorted(values):
        yield "its percentiles do not ascend"


def _buckets(times: Coarse) -> Iterator[str]:
    if times.buckets and times.whole:
        share = math.fsum(each.weight for each in times.buckets) / times.whole
        if abs(share - 1) > SUM_SLACK:
            yield f"its latency buckets add up to {100 * share:.4g} %"


def parts_of_mean(name: str, slat_ns: float | None, clat_ns: float | None, lat_ns: float | None) -> Iterator[str]:
    """fio: submission and completion latency make the whole. One line in the wrong unit shows here.

    That they do not add up is no fault by itself: after ramp_time, and among few I/Os, the means are not of the same
    I/Os. A wrong unit is one by whose factor they would add up.
    """
    if slat_ns is None or clat_ns is None or not lat_ns:
        return
    if not _add_up(slat_ns, clat_ns, lat_ns) and any(
        _add_up(slat_ns * unit, clat_ns, lat_ns)
        or _add_up(slat_ns, clat_ns * unit, lat_ns)
        or _add_up(slat_ns, clat_ns, lat_ns * unit)
        for unit in WRONG_UNITS
    ):
        yield (
            f"{name}: slat {slat_ns / 1e3:.4g} us and clat {clat_ns / 1e3:.4g} us do not add up to lat"
            f" {lat_ns / 1e3:.4g} us: one of these lines is in a different unit than it states"
        )


def _add_up(slat_ns: float, clat_ns: float, lat_ns: float) -> bool:
    return abs(slat_ns + clat_ns - lat_ns) <= max(MEAN_SLACK * lat_ns, PARTS_SLACK_NS)


def stated_rate(name: str, ios: int, elapsed_ns: int, stated_per_s: float) -> Iterator[str]:
    """The rate that is printed against I/Os over time."""
    own = ios * 1e9 / elapsed_ns if elapsed_ns else 0.0
    if own > LEAST_WHOLE and abs(own - stated_per_s) > RATE_SLACK * own + 1:
        yield f"{name}: {ios} I/Os in {elapsed_ns / 1e9:.4g} s are {own:.5g} IOPS, but it states {stated_per_s:.5g}"
