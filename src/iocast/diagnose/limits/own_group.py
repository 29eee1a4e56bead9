"""Limits that this machine sets to the test: I/O limits and the CPU quota of its own control group."""

from __future__ import annotations

from statistics import fmean

from msgspec import Struct
from msgspec.structs import replace

from iocast import metrics
from iocast.analyse.facts import RowFacts, once
from iocast.analyse.own_limits import OwnLimit, Stretch
from iocast.model.view import views
from iocast.text import brief_throughput, number

REACHED = (0.90, 1.10)  # of a limit; cgroups of version 1 let 3 % more through (measured)
QUOTA_USED = 0.05  # of its periods: from here on a CPU quota held the test back [J]


class Change(Struct, frozen=True):
    """From what to what a limit was changed, and about when; from None where there was none."""

    at_ns: int
    before: float | None
    after: float

    def follows(self, limit: float) -> bool:
        """Whether it is the limit from then on, or until then."""
        return limit == self.after


class Reached(Struct, frozen=True):
    """A limit that a row has reached: of its own I/Os, or of the requests that they became. All a second."""

    subject: str
    op: str
    what: str  # that it counts: bytes or I/Os
    limit: float
    got: float
    became: float
    changed: Change | None = None  # where somebody changed it, or set it, while the row ran

    @property
    def by_own_ios(self) -> bool:
        """Whether the row's own I/Os are at the limit, however they were cut up."""
        return _at(self.limit, self.got)

    def words(self, per_s: float) -> str:
        """A rate of what it counts."""
        return _words(self.what, per_s)


def _at(limit: float, per_s: float) -> bool:
    return REACHED[0] * limit <= per_s <= REACHED[1] * limit


def _words(what: str, per_s: float) -> str:
    return brief_throughput(per_s) if what == metrics.BYTES else f"{number(per_s)} IOPS"


@once
def limits_reached(row: RowFacts) -> tuple[Reached, ...]:
    """The I/O limits that a row has reached: what it waited for, whatever else was full. Of one that was changed
    meanwhile the last that it has reached.
    """
    return tuple(one for limit in row.own_limits if (one := _last_reached(row, limit)) is not None)


def _last_reached(row: RowFacts, limit: OwnLimit) -> Reached | None:
    whole = _reached(row, limit)
    for at in range(len(limit.stretches) - 1, -1, -1):
        stretch = limit.stretches[at]
        got = _within(row, limit, stretch)
        factor = whole.became / whole.got if whole.got else 0.0  # requests of larger I/Os
        if got is not None and (_at(stretch.per_s, got) or _at(stretch.per_s, factor * got)):
            return replace(whole, limit=stretch.per_s, got=got, became=factor * got, changed=_change(limit, at))
    if limit.stretches:
        return None
    return whole if whole.by_own_ios or _at(whole.limit, whole.became) else None


def _change(limit: OwnLimit, at: int) -> Change:
    """The change that made a stretch what it is, or ended it."""
    after = max(at, 1) if len(limit.stretches) > 1 else at
    before = limit.stretches[after - 1].per_s if after else None
    return Change(limit.stretches[after].start_ns, before, limit.stretches[after].per_s)


def _within(row: RowFacts, limit: OwnLimit, stretch: Stretch) -> float | None:
    """What a row did a second of what a limit counts, in the whole intervals within a stretch; None without any."""
    series, (op, what) = row.record.series, metrics.LIMITED[limit.metric]
    of_all = _done(row, what)
    if not series.interval_ns or not of_all:
        return None
    first, last = -(-stretch.start_ns // series.interval_ns), stretch.end_ns // series.interval_ns
    values = (series.bytes if what == metrics.BYTES else series.ios)[max(0, first) : max(0, last)]
    return _done(row, what, op) / of_all * fmean(values) * 1e9 / series.interval_ns if values else None


def _done(row: RowFacts, what: str, op: str = "") -> int:
    """The bytes or I/Os of a row, of one operation or of all."""
    parts = [part for part in row.measurement.classes if not op or part.op == op]
    return sum(part.bytes if what == metrics.BYTES else part.ios for part in parts)


def _reached(row: RowFacts, limit: OwnLimit) -> Reached:
    did, (op, what) = row.measurement, metrics.LIMITED[limit.metric]
    done = _done(row, what, op)
    if did.database is not None and did.database.below is not None and (op, what) == ("read", metrics.IOS):
        done = did.database.below.reads  # of statements the limit meets what the engine's cache has not
    got = done * 1e9 / did.elapsed_ns if did.elapsed_ns else 0.0
    became = _requests_per_s(row, limit.subject, op) if what == metrics.IOS else got
    return Reached(limit.subject, op, what, limit.per_s, got, became)


def _requests_per_s(row: RowFacts, layer: str, op: str) -> float:
    """What the I/Os of a row became at a layer that moved what they did and little else; 0 where that is unknown."""
    io = row.device_io.get(layer)
    if io is None or not io.elapsed_ns:
        return 0.0
    count, moved, own = (
        (io.reads, io.read_bytes, row.bytes_read) if op == "read" else (io.writes, io.written_bytes, row.bytes_written)
    )
    if not count or not moved or not own or not REACHED[0] <= moved / own <= REACHED[1]:
        return 0.0
    return count * 1e9 / io.elapsed_ns


def io_limits(row: RowFacts) -> tuple[str, ...]:
    """The limits set to the operations of a row, reached or not, in words."""
    texts = []
    for limit in row.limits_of_its_ops:
        op, what = metrics.LIMITED[limit.metric]
        texts.append(f"{_words(what, limit.per_s)} of {op}s on {limit.subject}")
    return tuple(texts)


@once
def quota_share(row: RowFacts) -> float:
    """In which share of its periods the CPU quota of the test's control group was used up; 0 without one."""
    groups = views(row.record.samples, metrics.LIMITS).values()
    pairs = [(each.delta(metrics.THROTTLED_PERIODS), each.delta(metrics.PERIODS_OF_QUOTA)) for each in groups]
    return max((held / periods for held, periods in pairs if held and periods), default=0.0)


def held_by_quota(row: RowFacts) -> bool:
    """Whether a CPU quota held the test back: other programs need not have had any part in it."""
    return quota_share(row) >= QUOTA_USED
