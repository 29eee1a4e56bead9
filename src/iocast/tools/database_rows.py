"""Rows of a database's views as samples, live or on paper: their shapes, active sessions, what is followed.

Columns are found by their names: which name the subject, which count, and in which unit. A column that is not there, or
is NULL, gives no sample. Counts of active sessions are cumulative, so that shares of any interval come from two
samples; `polls` says how often was looked. Of a view that is followed is known when it began to count, and what began
again in between.
"""

from __future__ import annotations

import collections
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from iocast.metrics import (
    ACTIVE_SQL,
    EPOCH,
    NO_BOUND,
    ON_CPU,
    PART,
    POLLS,
    SAMPLES,
    SESSION_WAITS,
    SESSIONS,
    WAITS,
    bucket,
)
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


MOST_SUBJECTS: Final = 20_000  # of each kind that are kept apart; those that come later are counted together
OTHERS: Final = "others"


_KINDS: Final = (WAITS, ACTIVE_SQL, SESSIONS, SESSION_WAITS)


class Active(Struct, frozen=True):
    """A session that was found active: what it waits for, and what it runs; "" is unknown."""

    session: str
    event: str = ON_CPU
    sql: str = ""


class ActivityCounts:
    """The counts so far; one thread adds, another reads."""

    def __init__(self, database: str, began_ns: int) -> None:
        self._database, self._began_ns = database, began_ns
        self._lock = threading.Lock()
        self._polls = 0
        self._kinds: dict[str, collections.Counter[str]] = {kind: collections.Counter() for kind in _KINDS}

    def add(self, sessions: Iterable[Active]) -> None:
        """One look."""
        with self._lock:
            self._polls += 1
            for each in sessions:
                both = f"{each.session}{PART}{each.event}" if each.session else ""
                for kind, subject in zip(_KINDS, (each.event, each.sql, each.session, both), strict=True):
                    if subject:
                        self._count(self._kinds[kind], subject)

    def _count(self, counter: collections.Counter[str], subject: str) -> None:
        counter[subject if subject in counter or len(counter) < MOST_SUBJECTS else OTHERS] += 1

    @property
    def polls(self) -> int:
        """How often was looked."""
        return self._polls

    def subjects(self, kind: str) -> set[str]:
        """All that were found, of a kind."""
        with self._lock:
            return set(self._kinds[kind])

    def samples(self, at_ns: int) -> list[Sample]:
        """The counts as they stand."""
        with self._lock:
            out = []
            for kind, counter in self._kinds.items():
                observer = f"{self._database}.{kind}"
                out.append(Sample(at_ns, observer, "", EPOCH, self._began_ns + 0.0))
                out.append(Sample(at_ns, observer, "", POLLS, self._polls))
                out += [Sample(at_ns, observer, subject, SAMPLES, n) for subject, n in counter.items()]
            return out


# How far an epoch moves when something else than the server ended it: values are doubles, which keep 256 ns of a date.
_BUMP_NS: Final = 1_000_000


class Followed:
    """Follows one view. Gives its samples the epoch by which a reset is told from a small number of events."""

    def __init__(self, observer: str, *, since_entered: bool = False) -> None:
        self._observer = observer
        self._since_entered = since_entered
        self._bumps = 0
        self._circumstances: object = None
        self._last: dict[str, dict[str, float]] | None = None
        self._base: dict[str, dict[str, float]] = {}
        self._again: dict[str, int] = {}  # subjects that began again, and when it was noticed

    def tick(
        self, at_ns: int, samples: list[Sample], epoch_ns: int, own_epochs: dict[str, int], circumstances: object = None
    ) -> list[Sample]:
        """What is told of one look.

        `circumstances` is whatever must be the same for two looks to be compared, such as which times are taken.
        """
        if self._last is not None and circumstances != self._circumstances:
            self._bumps += 1
        self._circumstances = circumstances
        now: dict[str, dict[str, float]] = collections.defaultdict(dict)
        for each in samples:
            now[each.subject][each.metric] = each.value
        self._note_what_began_again(at_ns, now)
        went = self._since(now) if self._since_entered else dict(now)
        self._last = now
        out = [Sample(at_ns, self._observer, "", EPOCH, epoch_ns + self._bumps * _BUMP_NS + 0.0)]
        for subject, counters in went.items():
            own = max(own_epochs.get(subject, 0), self._again.get(subject, 0))
            if own:
                out.append(Sample(at_ns, self._observer, subject, EPOCH, own + 0.0))
            out += [Sample(at_ns, self._observer, subject, metric, value) for metric, value in counters.items()]
        return out

    def _note_what_began_again(self, at_ns: int, now: dict[str, dict[str, float]]) -> None:
        """A smaller counter: the row was cleared, or evicted and made anew."""
        for subject, counters in now.items():
            before = (self._last or {}).get(subject, {})
            if any(counters.get(metric, value) < value for metric, value in before.items()) and self._since_entered:
                self._again[subject] = at_ns
                self._base[subject] = {}

    def _since(self, now: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
        """Counters since the first look, of the subjects that moved since."""
        if self._last is None:
            self._base = {subject: dict(counters) for subject, counters in now.items()}
        for gone in self._base.keys() - now.keys():
            del self._base[gone]  # it starts from nought when it comes again
            self._again.pop(gone, None)
        by_key = {}
        for subject, counters in now.items():
            base = self._base.setdefault(subject, {})
            moved = {metric: value - base.get(metric, 0.0) for metric, value in counters.items()}
            if any(moved.values()) or subject in self._again:
                by_key[subject] = moved
        return by_key
