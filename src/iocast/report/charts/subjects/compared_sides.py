"""Two sides of a comparison, as the charts of a comparison are made of them."""

from __future__ import annotations

import re

from msgspec import Struct

from iocast.analyse.statistics import published
from iocast.model.histogram import Histogram
from iocast.model.report import Column, Row
from iocast.model.results.comparison import Compared

SHAPES = (
    Column("row", "row"),
    Column("whose", "side"),
    Column("p50", "p50", "duration"),
    Column("p99", "p99", "duration"),
    Column("max", "max", "duration"),
)


class ComparedSides(Struct, frozen=True):
    """Two sides: their names, their figures, the response times of each row on both."""

    labels: tuple[str, str]
    figures: tuple[Compared, ...]
    rows: tuple[tuple[str, Histogram, Histogram], ...]


def shape_row(name: str, label: str, times: Histogram) -> Row:
    """A row on one side: p50, p99 where it is known, maximum."""
    tail = published(times, 0.99)
    return Row(
        {"row": name, "whose": label, "p50": times.quantile_ns(0.5), "p99": tail, "max": float(times.max_ns)},
    )


def file_key(name: str) -> str:
    """A name as part of a key that is fit for a file name."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "row"
