"""Renders a run as fioparse.sh -R does: the matrix `m` of 31 columns that the R scripts of fio_scripts read.

Its units are those of the table: MB of 2**20, milliseconds, percentages cut to whole ones. The buckets are named by
their upper edges, but for s5, which is all above 2 s. What is not known is NA, which R leaves out; fioparse has 0.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import TextIO

from iocast.analyse.statistics import bucket_shares
from iocast.model.histogram import Histogram
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import Op
from iocast.report.charts.latency_buckets import BUCKET_EDGES_NS
from iocast.report.renderers.classic import PERCENTILES, classic_lines, figures_of
from iocast.text import harmless_line

COLUMNS = (
    ("name", "users", "bs", "MB", "lat", "min", "max", "std", "iops"),
    ("us50", "us100", "us250", "us500", "ms1", "ms2", "ms4", "ms10", "ms20"),
    ("ms50", "ms100", "ms250", "ms500", "s1", "s2", "s5"),
    ("p95_00", "p99_00", "p99_50", "p99_90", "p99_95", "p99_99"),
)
UNKNOWN = "NA"


def render_matrix(run: Run, out: TextIO) -> None:
    """Writes R that makes a data frame `m` with a row for each measured operation."""
    lines = [line for record in run.measured for line in _rows(record)]
    names = "\n  , ".join(", ".join(f'"{name}"' for name in part) for part in COLUMNS)
    out.write("m <- NULL\nm <- matrix(c(\n")
    out.write("\n,".join(lines))
    out.write(f"\n),nrow={sum(map(len, COLUMNS))})\ntm <- t(m)\nm <- tm\ncolnames <- c({names}\n  )\n")
    out.write(f"colnames(m)=colnames\nm <- data.frame(m)\ntesttype <- {_quoted(run.plan.name)}\n")


def _rows(record: PhaseRecord) -> Iterator[str]:
    for op, histogram in classic_lines(record):
        yield ",".join((*_start(record, op, histogram), *_shares(histogram), *_percentiles(histogram)))


def _start(record: PhaseRecord, op: Op, histogram: Histogram) -> Iterator[str]:
    figures = figures_of(record, op, histogram)
    mean, least, most, spread = (None if value_ns is None else value_ns / 1e6 for value_ns in figures.times_ns)
    yield f"{_quoted(record.phase.test):>10}"
    yield _number(figures.users, "3d")
    yield f"{UNKNOWN if figures.size is None else _quoted(figures.size):>6}"
    yield _number(None if figures.kilobytes_per_s is None else figures.kilobytes_per_s / 1024, "8.3f")
    yield _number(mean, "9.3f")
    yield _number(least, "4.1f")
    yield _number(None if most is None else int(most), "9d")
    yield _number(spread, "7.1f")
    yield _number(figures.rate_per_s, "5d")


def _shares(histogram: Histogram) -> Iterator[str]:
    known = histogram.coarse is None or histogram.spread_known
    for share in bucket_shares(histogram, BUCKET_EDGES_NS):
        yield _number(int(100 * share + 1e-6) if known else None, "2d")


def _percentiles(histogram: Histogram) -> Iterator[str]:
    for q in PERCENTILES:
        value_ns = histogram.quantile_ns(q)
        yield _number(None if math.isnan(value_ns) else value_ns / 1e6, "5.3f")


def _number(value: float | None, form: str) -> str:
    return UNKNOWN if value is None else format(value, form)


def _quoted(said: str) -> str:
    """A string of R, which has the escapes of JSON that names need."""
    return json.dumps(harmless_line(said), ensure_ascii=False)
