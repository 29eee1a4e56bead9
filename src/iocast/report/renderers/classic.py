"""Renders a run as Kyle Hailey's fioparse.sh prints fio's output: same columns, same buckets, same signs.

Its rules, kept on purpose: MB are 2**20 bytes, times are milliseconds, IOPS and percentages are cut, not
rounded; a bucket is blank when nothing fell into it and "0" when less than one in a hundred did; it is named
by its upper edge. What an imported run does not state is blank, never 0. One rule is not kept: of a mix it
prints the reads only, this has a line for the writes and trims too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple, TextIO

from iocast import text
from iocast.analyse.statistics import bucket_counts, bucket_shares
from iocast.model.histogram import Histogram
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import Op
from iocast.report.renderers.safe_words import SafeLines

HEAD = "test  users size         MB       ms      min      max      std    IOPS"
BUCKET_HEAD = "    50us   1ms   4ms  10ms  20ms  50ms   .1s    1s    2s   2s+"
BUCKET_EDGES_NS = tuple(us * 1_000 for us in (50, 1000, 4000, 10_000, 20_000, 50_000, 100_000, 1_000_000, 2_000_000))
PERCENTILE_HEAD = "       95%      99%    99.5%    99.9%  99.95%    99.99%"
PERCENTILES = (0.95, 0.99, 0.995, 0.999, 0.9995, 0.9999)

SECOND_NS = 1_000_000_000

OPS: tuple[Op, ...] = ("read", "write", "trim")


def render_run(run: Run, out: TextIO, *, buckets: bool = True, percentiles: bool = True) -> None:
    """Writes the head and a line for each measured phase (`buckets` is its -v, `percentiles` its -p)."""
    head = HEAD + (BUCKET_HEAD if buckets else "") + (PERCENTILE_HEAD if percentiles else "")
    safe_out = SafeLines(out)
    out.write(f"{head} \n")
    for record in run.measured:
        for line in _lines(record, buckets, percentiles):
            safe_out.write(f"{line}\n")


def _lines(record: PhaseRecord, buckets: bool, percentiles: bool) -> Iterator[str]:
    for op, histogram in classic_lines(record):
        yield (
            _start(record, op, histogram)
            + (f" {_buckets(histogram)}" if buckets else "")
            + (_percentiles(histogram) if percentiles else "")
        )


def classic_lines(record: PhaseRecord) -> Iterator[tuple[Op, Histogram]]:
    """The operations of a row that have a line, with their times: fio's "lat" runs from submission to completion,
    which is service time here."""
    for op in OPS:
        histogram = record.measurement.service(op)
        if histogram.total:
            yield op, histogram


class ClassicFigures(NamedTuple):
    """What fioparse prints of one operation of a row; None is not known."""

    users: int | None
    size: str | None  # "8K"
    kilobytes_per_s: int | None
    times_ns: tuple[float | None, ...]  # mean, minimum, maximum, standard deviation
    rate_per_s: int | None


def figures_of(record: PhaseRecord, op: Op, histogram: Histogram) -> ClassicFigures:
    """Whole numbers all the way, so that a rate of exactly 1549 is not cut to 1548."""
    did = record.measurement
    parts = [part for part in did.classes if part.op == op]
    ios, moved = (sum(getattr(part, name) for part in parts) for name in ("ios", "bytes"))
    # I/Os that were counted in an unknown time have no rate; a rate that is stated needs no length.
    timed = bool(did.elapsed_ns) and ("length" not in record.unstated or "ios" in record.unstated)
    times = (histogram.mean_ns, histogram.least_ns, histogram.most_ns, histogram.stdev_ns)
    return ClassicFigures(
        users=None if "users" in record.unstated else record.plan.users,
        size=None if "size" in record.unstated else text.size(max(part.size_bytes for part in parts)).upper(),
        # as fio prints it
        kilobytes_per_s=moved * SECOND_NS // did.elapsed_ns // 1024 if timed and (moved or not ios) else None,
        times_ns=tuple(None if math.isnan(value_ns) else value_ns for value_ns in times),
        rate_per_s=ios * SECOND_NS // did.elapsed_ns if timed else None,
    )


def _start(record: PhaseRecord, op: Op, histogram: Histogram) -> str:
    figures = figures_of(record, op, histogram)
    users, size = ("" if value is None else value for value in (figures.users, figures.size))
    moves = " " * 9 if figures.kilobytes_per_s is None else f"{figures.kilobytes_per_s / 1024:9.3f}"
    return (
        f"{record.phase.test:>8}{users:>3}{size:>5} {op[0]}{moves}"
        + "".join(" " * 9 if value_ns is None else f"{value_ns / 1e6:9.3f}" for value_ns in figures.times_ns)
        + (" " * 8 if figures.rate_per_s is None else f"{figures.rate_per_s:>8}")
    )


def _buckets(histogram: Histogram) -> str:
    if histogram.coarse is not None:
        shares = bucket_shares(histogram, BUCKET_EDGES_NS)
        return "".join(f" {int(100 * share + 1e-6) if share > 1e-12 else '':>5}" for share in shares)
    total = histogram.total
    counts = bucket_counts(histogram, BUCKET_EDGES_NS)
    return "".join(f" {100 * count // total if count else '':>5}" for count in counts)


def _percentiles(histogram: Histogram) -> str:
    values = (histogram.quantile_ns(q) / 1e6 for q in PERCENTILES)
    return "".join("," + (" " * 8 if math.isnan(value) else f"{value:8.3f}") for value in values)
