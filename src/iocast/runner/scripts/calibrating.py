"""A calibration in one run: closed random reads up to saturation, rates around the limit, large sequential reads.

Which rate comes next is a question of what was measured, not of how it is run: who starts the work brings along a
chooser, because only sessions may know both the load and its analysis.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from iocast.model.calibration_request import CLOSED, OPEN, OPEN_SHARES, STREAM, STREAM_BYTES, CalibrationRequest
from iocast.model.plan import Length, Phase, Plan
from iocast.model.run import PhaseRecord
from iocast.model.script import Done, Group, Script
from iocast.model.workload import MixItem, Poisson, Sequential, Workload
from iocast.units import size_text

# (closed rows, rows at rates) -> the next rate, None when the search is over.
NextRate = Callable[[Sequence[PhaseRecord], Sequence[PhaseRecord]], float | None]

LEAST_GAIN = 0.05  # of the rate of half the load: of disks that each serve their own reads 95 % are reached then
MOST_OUTSTANDING = 1024
OUTSTANDING_A_DISK = 32
LONGEST_LADDER = 4.0  # times N*, the load that would just keep the device busy if nothing ever queued (models A4)
USERS = 4  # threads that share a load: one makes a few hundred thousand I/Os a second
OF_ONE_USER = 16  # outstanding I/Os from which a second thread pays
RATE_OF_ONE_USER = 25_000.0  # [J] due times that one thread keeps without a delay of its own
LEAST_SLOTS = 256  # I/Os at a rate that may be outstanding; later ones wait, and their wait counts
STREAM_DEPTHS = (1, 2, 4, 8, 16, 32)
STREAM_USERS = (2, 4, 8, 16, 32)
STREAM_REGION = 8 << 20  # the least that a user of a sequential row goes through
LIKELY_LOADS = (1, 2, 4, 8, 16, 32, 64, 128)  # until the ladder has ended nobody knows its length
LIKELY_NEAR = 4  # rows around the limit


class Bench(NamedTuple):
    """What the rows are run on: whether past the page cache, how much data, and whether its time is virtual."""

    direct: bool
    data_bytes: int
    virtual: bool


def bench_of(plan: Plan, data_bytes: int) -> Bench:
    """Where the rows of a plan are run."""
    direct = all(phase.workload.direct for phase in plan.phases)
    return Bench(direct=direct, data_bytes=data_bytes, virtual=plan.target.kind == "sim")


class _Time(NamedTuple):
    """How long rows are: so many I/Os, within so many seconds. [J] virtual time costs next to nothing."""

    ios: float  # for a p99, and at rates that leave the storage idle at times
    turns: float  # of each outstanding I/O of a closed load
    crowded: float  # times as many at most, near the most IOPS: there queues stay long for long
    most_ios: float
    first_s: float  # of the first row: nobody knows its rate
    least_s: float
    most_s: float


_REAL = _Time(ios=10_000, turns=400, crowded=3.0, most_ios=math.inf, first_s=30.0, least_s=10.0, most_s=60.0)
_VIRTUAL = _Time(ios=50_000, turns=2_000, crowded=40.0, most_ios=4e6, first_s=60.0, least_s=2.0, most_s=600.0)
_CROWDED_FROM = 0.7  # of the most IOPS: the time in which a queue forgets grows with the square of 1 / (1 - share)
_STREAM_IOS = 0.2  # of the I/Os of other rows


class Calibrating(Script):
    """Closed reads until more load brings nothing; rates as the chooser says; large reads of one user, then of more."""

    def __init__(self, request: CalibrationRequest, bench: Bench, next_rate: NextRate) -> None:
        self._asked, self._bench, self._next_rate = request, bench, next_rate

    def next(self, done: Done) -> Group | None:
        """The next row of the first part that is not over."""
        phase = self._phase([record for group in done for record in group])
        return None if phase is None else Group((phase,))

    def ahead(self, done: Done) -> tuple[tuple[Phase, ...], ...]:
        """The next row, and those that usually follow."""
        records = [record for group in done for record in group]
        phase = self._phase(records)
        return () if phase is None else ((phase,), *((each,) for each in self._likely(records, phase)))

    def _phase(self, records: Sequence[PhaseRecord]) -> Phase | None:
        if any(not record.measurement.ios for record in records):
            return None  # what does nothing cannot be searched
        closed, at_rates, streams = (_of(records, test) for test in (CLOSED, OPEN, STREAM))
        if (load := self._next_load(closed)) is not None:
            return self._closed(load, max((record.measurement.rate_per_s for record in closed), default=None))
        if not streams and (rate := self._next_rate(closed, at_rates)) is not None:
            return self._open(rate, closed, len(at_rates))
        return self._next_stream(streams)

    def _likely(self, records: Sequence[PhaseRecord], phase: Phase) -> Iterator[Phase]:
        """What usually follows a phase; it is shown, and never run as it stands here."""
        done = {record.phase.name for record in records} | {phase.name}
        closed, at_rates, streams = (_of(records, test) for test in (CLOSED, OPEN, STREAM))
        rate = max((record.measurement.rate_per_s for record in closed), default=None)
        later: list[Phase] = []
        if phase.test == CLOSED:
            later += [self._closed(load, rate) for load in LIKELY_LOADS if load > phase.workload.asked_depth]
        if phase.test in (CLOSED, OPEN):
            number = len(at_rates) + (phase.test == OPEN)
            later += [self._open(rate, closed, at) for at in range(number, len(OPEN_SHARES) + LIKELY_NEAR)]
        if not streams:
            room = self._bench.data_bytes
            later += [self._stream(1, depth, None) for depth in (1, 2, 4) if depth * STREAM_BYTES <= room]
            later += [self._stream(users, 2, None) for users in (2, 4) if users * STREAM_REGION <= room]
        yield from (each for each in later if each.name not in done)

    # Closed random reads.

    def _next_load(self, closed: Sequence[PhaseRecord]) -> int | None:
        if not closed:
            return 1
        load, rates = closed[-1].measurement.asked_depth, [record.measurement.rate_per_s for record in closed]
        most = max(MOST_OUTSTANDING, OUTSTANDING_A_DISK * (self._asked.disks or 1))
        if 2 * load > most:
            return None
        unloaded_s = closed[0].measurement.response().mean_ns / 1e9
        least = max(LONGEST_LADDER * max(rates) * unloaded_s, 2.0 * (self._asked.disks or 1))
        ended = len(rates) > 1 and rates[-1] < rates[-2] * (1 + LEAST_GAIN) and load >= least
        return None if ended else 2 * load

    def _closed(self, load: int, rate: float | None) -> Phase:
        users = min(USERS, max(1, load // OF_ONE_USER))
        block, depth = self._asked.block_bytes, load // users
        work = self._reads(users=users, depth=depth)
        name = f"{CLOSED} {size_text(block)} {users}x{depth}"
        time = self._time
        return Phase(name=name, test=CLOSED, workload=work, length=self._length(rate, max(time.ios, time.turns * load)))

    def _reads(self, users: int, depth: int, rate: float | None = None) -> Workload:
        mix, direct = (MixItem("read", self._asked.block_bytes),), self._bench.direct
        if rate is None:
            return Workload(mix=mix, users=users, depth=depth, direct=direct)
        return Workload(mix=mix, users=users, depth=depth, direct=direct, arrival=Poisson(rate))

    # Random reads at a rate.

    def _open(self, rate: float | None, closed: Sequence[PhaseRecord], number: int) -> Phase:
        """The row of a rate: the first ones by their share of the most IOPS, those around the limit by number."""
        near = number - len(OPEN_SHARES)
        which = f"near {near + 1}" if near >= 0 else f"{OPEN_SHARES[number]:.0%}"
        if rate is None:  # nothing is known yet: the row is only announced
            work = self._reads(1, LEAST_SLOTS, 1.0)
            return Phase(name=self._open_name(which), test=OPEN, workload=work, length=self._length(None, 0.0))
        users = next((users for users in (1, 2) if rate <= users * RATE_OF_ONE_USER), USERS)
        slots = max(LEAST_SLOTS, *(2 * record.measurement.asked_depth for record in closed), 0)
        work = self._reads(users, min(slots, MOST_OUTSTANDING) // users, rate)
        idle = 1 - rate / max((record.measurement.rate_per_s for record in closed), default=2 * rate)
        crowded = min(((1 - _CROWDED_FROM) / max(idle, 1e-3)) ** 2, self._time.crowded)
        length = self._length(rate, self._time.ios * max(1.0, crowded) * _times(near), near=near >= 0)
        return Phase(name=self._open_name(which), test=OPEN, workload=work, length=length)

    def _open_name(self, which: str) -> str:
        return f"{OPEN} {size_text(self._asked.block_bytes)} {which}"

    # Large sequential reads.

    def _next_stream(self, streams: Sequence[PhaseRecord]) -> Phase | None:
        if self._bench.data_bytes < STREAM_BYTES:
            return None
        alone = [record for record in streams if record.plan.users == 1]
        beside = streams[len(alone) :]
        rate = max((record.measurement.rate_per_s for record in streams), default=None)
        if not beside and len(alone) < len(STREAM_DEPTHS) and not _ended(alone):
            depth = STREAM_DEPTHS[len(alone)]
            if depth * STREAM_BYTES <= self._bench.data_bytes:
                return self._stream(1, depth, rate)
        deep = _least_of_most(alone)
        fitting = [users for users in STREAM_USERS if users * STREAM_REGION <= self._bench.data_bytes]
        if len(beside) >= len(fitting) or (beside and _ended([deep, *beside])):
            return None
        return self._stream(fitting[len(beside)], deep.plan.depth, rate)

    def _stream(self, users: int, depth: int, rate: float | None) -> Phase:
        mix, name = (MixItem("read", STREAM_BYTES),), f"{STREAM} {size_text(STREAM_BYTES)} {users}x{depth}"
        work = Workload(mix=mix, locality=Sequential(), users=users, depth=depth, direct=self._bench.direct)
        return Phase(name=name, test=STREAM, workload=work, length=self._length(rate, _STREAM_IOS * self._time.ios))

    @property
    def _time(self) -> _Time:
        return _VIRTUAL if self._bench.virtual else _REAL

    def _length(self, rate: float | None, ios: float, *, near: bool = False) -> Length:
        """Long enough for its percentile at the rate that is expected, unless somebody has said how long."""
        if self._asked.row_seconds is not None:
            return Length(seconds=self._asked.row_seconds)
        time, q = self._time, self._asked.quantile or 0.0
        if rate is None:
            return Length(seconds=time.first_s)
        wanted = min(ios * max(1.0, 0.01 / (1 - q)), time.most_ios) / rate
        return Length(seconds=float(f"{min(max(wanted, time.least_s), (1 + near) * time.most_s):.2g}"))


def _of(records: Sequence[PhaseRecord], test: str) -> list[PhaseRecord]:
    return [record for record in records if record.phase.test == test]


def _ended(records: Sequence[PhaseRecord]) -> bool:
    """True when the last row brought next to nothing beyond the one before."""
    rates = [record.measurement.rate_per_s for record in records]
    return len(rates) > 1 and rates[-1] < rates[-2] * (1 + LEAST_GAIN)


def _least_of_most(records: Sequence[PhaseRecord]) -> PhaseRecord:
    """The least load that reaches the most, but for next to nothing."""
    most = max(record.measurement.rate_per_s for record in records)
    return next(record for record in records if record.measurement.rate_per_s * (1 + LEAST_GAIN) >= most)


def _times(near: int) -> float:
    """How many times as long a row around the limit is: the later, the closer it is to it."""
    return 1.0 if near < 0 else 2.0 if near < 3 else 4.0


def first_phases(request: CalibrationRequest, bench: Bench) -> tuple[Phase, ...]:
    """The rows that a calibration begins with and those that usually follow, for the plan that is announced."""
    script = Calibrating(request, bench, lambda _closed, _at_rates: None)
    return tuple(phase for (phase,) in script.ahead(()))
