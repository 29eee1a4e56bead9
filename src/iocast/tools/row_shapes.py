"""How the rows of a view become samples: which columns name the subject, which count, and in which unit.

Columns are found by their names. A column that is not there, or is NULL, gives no sample.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from iocast.metrics import NO_BOUND, bucket
from iocast.model.run import Sample
from iocast.tools.foreign_numbers import number_of

Row = Mapping[str, object]  # column, in lower case → value

# Nanoseconds of one of each unit of time that a view may count in.
UNITS: Final[Mapping[str, float]] = {"s": 1e9, "cs": 1e7, "ms": 1e6, "us": 1e3, "ns": 1.0, "ps": 1e-3}
_ENDINGS: Final = ("_micro", "_milli", " (usec)", "_ms", "_us")


class Counter(Struct, frozen=True):
    """A column that counts. `of` is the column whose events a time is the sum of: without time, it was not taken."""

    column: str
    unit: str = ""  # "" for what is not a time
    of: str = ""

    @property
    def metric(self) -> str:
        """The name of the column, in ns where it is a time: `read_time_ns`, `time_waited_ns`."""
        return named(self.column, self.unit)

    def value(self, row: Row) -> float | None:
        """What it says, None when it says nothing: NULL, or no time although there were events."""
        counted = number_of(row.get(self.column))
        if counted is None or (self.of and not counted and number_of(row.get(self.of))):
            return None
        return counted * UNITS[self.unit] if self.unit else counted


class Rows(Struct, frozen=True, kw_only=True):
    """A row is a subject, named by the values of some columns; others count."""

    key: tuple[str, ...]
    counters: tuple[Counter, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that it reads."""
        return (*self.key, *(each.column for each in self.counters))

    def samples(self, row: Row, observer: str, at_ns: int) -> Iterator[Sample]:
        """A sample of each counter of a row."""
        subject = subject_of(row, self.key)
        for counter in self.counters:
            if (value := counter.value(row)) is not None:
                yield Sample(at_ns, observer, subject, counter.metric, value)


class Statistics(Struct, frozen=True, kw_only=True):
    """A row is one statistic, with its name in one column and its value in another."""

    key: tuple[str, ...]
    name: str
    value: str
    units: Mapping[str, str] = {}  # of the statistics that are times

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that it reads."""
        return (*self.key, self.name, self.value)

    def samples(self, row: Row, observer: str, at_ns: int) -> Iterator[Sample]:
        """The sample of a row."""
        name = str(row.get(self.name, "")).lower()
        unit = self.units.get(name, "")
        if name and (value := number_of(row.get(self.value))) is not None:
            metric = named(name, unit)
            yield Sample(at_ns, observer, subject_of(row, self.key), metric, value * UNITS[unit] if unit else value)


class Buckets(Struct, frozen=True, kw_only=True):
    """A row is a bucket of a histogram: the bound below which it counts, and its count."""

    key: tuple[str, ...]
    upper: str
    unit: str
    count: str
    unbounded: float | None = None  # this bound, and all above it, stand for none
    total: Counter | None = None  # the sum of its events, which is added up over the buckets

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that it reads."""
        return (*self.key, self.upper, self.count, *((self.total.column,) if self.total else ()))

    def samples(self, row: Row, observer: str, at_ns: int) -> Iterator[Sample]:
        """The counter of a bucket. A bound that is not a number stands for none."""
        upper, count = number_of(row.get(self.upper)), number_of(row.get(self.count))
        if count is None:
            return
        known = upper is not None and (self.unbounded is None or upper < self.unbounded)
        metric = bucket(round((upper or 0.0) * UNITS[self.unit])) if known else NO_BOUND
        yield Sample(at_ns, observer, subject_of(row, self.key), metric, count)
        if self.total and (value := self.total.value(row)) is not None:
            yield Sample(at_ns, observer, subject_of(row, self.key), self.total.metric, value)


Shape = Rows | Statistics | Buckets


def counters(spec: str) -> tuple[Counter, ...]:
    """Counters as they are written: `reads read_time:ms/reads` is a count, and its time in ms."""
    return tuple(_counter(word) for word in spec.split())


def _counter(word: str) -> Counter:
    column, _, rest = word.partition(":")
    unit, _, of = rest.partition("/")
    return Counter(column, unit, of)


def named(column: str, unit: str) -> str:
    """The metric of a column: only units change."""
    if not unit:
        return column
    for ending in _ENDINGS:
        column = column.removesuffix(ending)
    return f"{column}_ns"


def subject_of(row: Row, key: Iterable[str]) -> str:
    """The values of some columns, joined; a NULL among them is empty."""
    return "|".join("" if row.get(column) is None else str(row[column]).strip() for column in key)


def samples_of(shape: Shape, rows: Iterable[Row], observer: str, at_ns: int) -> list[Sample]:
    """The samples of all rows; those of one subject and metric are added up: several rows may be one subject."""
    summed: dict[tuple[str, str], float] = {}
    for row in rows:
        for each in shape.samples(row, observer, at_ns):
            place = each.subject, each.metric
            summed[place] = summed.get(place, 0.0) + each.value
    return [Sample(at_ns, observer, subject, metric, value) for (subject, metric), value in summed.items()]
