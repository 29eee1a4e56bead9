"""Measurement: what one phase did and how long it took; Interval; as the core hands them back (record/result.rs)."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from iocast.model.database.database_result import DatabaseResult
from iocast.model.histogram import Histogram, merge
from iocast.model.workload import Op

LeftOut = Literal[
    "not_io",
    "not_a_read",
    "other_target",
    "failed",
    "no_time",
    "no_place",
    "empty",
    "too_far",
    "too_large",
]


class EngineReport(Struct, frozen=True, forbid_unknown_fields=True):
    """Which engine really ran, how it was set up, and what it had to do without and why."""

    name: str  # "uring", "sync", "sim"
    flags: tuple[str, ...] = ()
    buffers: str = ""
    notes: tuple[str, ...] = ()


class ClassResult(Struct, frozen=True, forbid_unknown_fields=True):
    """One op x size. Failed I/Os are in `errors`, not here. Response counts from the due time, service from
    submission; in a closed loop without think time they are the same by definition."""

    op: Op
    size_bytes: int
    ios: int
    bytes: int
    short_ios: int
    response: Histogram
    service: Histogram


class ErrorPlace(Struct, frozen=True, forbid_unknown_fields=True):
    """Where and when one I/O failed."""

    time_ns: int  # since the start of the phase
    file: int  # index into PhasePlan.files
    offset_bytes: int


class ErrorCount(Struct, frozen=True, forbid_unknown_fields=True):
    """I/Os of one op that failed with one errno (0 stands for an unexpected end of file)."""

    op: Op
    errno: int
    name: str  # "EIO", "ENOSPC", "end of file"
    count: int
    first: tuple[ErrorPlace, ...]


class SlowIo(Struct, frozen=True, forbid_unknown_fields=True):
    """One of the slowest I/Os of the phase. `time_ns` is its submission, since the start of the phase."""

    time_ns: int
    op: Op
    file: int
    offset_bytes: int
    size_bytes: int
    response_ns: int
    service_ns: int


class UserResult(Struct, frozen=True, forbid_unknown_fields=True):
    """What one user (thread) did: I/Os and the time of its last completion."""

    ios: int
    last_ns: int


class Absence(Struct, frozen=True, forbid_unknown_fields=True):
    """A time in which a thread of the generator did not run, since the start of the phase.

    queued: it was ready and had no processor; stopped: it was not even ready (SIGSTOP, a paused machine);
    busy: something between two of its system calls took that long.
    """

    start_ns: int
    duration_ns: int
    cause: Literal["queued", "stopped", "busy"]


class Generator(Struct, frozen=True, forbid_unknown_fields=True):
    """What the threads that made the load did with their time, all together."""

    threads: int = 0  # 0: not known (an older or an imported run)
    user_ns: int = 0
    system_ns: int = 0
    queued_ns: int = 0  # ready to run, and no processor free
    involuntary_switches: int = 0
    absences: tuple[Absence, ...] = ()  # of 10 ms or more: the longest, in order of time


class RecordedLatency(Struct, frozen=True, forbid_unknown_fields=True):
    """The service times that a trace has of one operation."""

    op: Op
    service: Histogram
    may_be_cached: int = 0  # system calls among them that are not known to be direct


class ReplayFacts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What of a trace was replayed, and what the trace says of it (crates/iocast-core/src/replay/facts.rs)."""

    events: int  # rows of the trace
    replayed: int  # of those, I/Os of the replay
    left_out: dict[LeftOut, int]
    rounded: int  # I/Os whose offset or size was rounded to blocks
    moved: int  # I/Os that go to another place than in the trace
    recorded_ns: int  # from the first issue to the last one, at the trace's own speed
    latency: tuple[RecordedLatency, ...]
    due_ios: tuple[int, ...]  # that the trace issues in each interval, at the speed of the replay
    independent: int  # of a dependent replay: I/Os that wait for no other


SYNCS = ("fsync", "fdatasync")
DATA = ("read", "write", "trim", "io")


class Lateness(Struct, frozen=True, forbid_unknown_fields=True):
    """How late I/Os were issued over the course of a replay (crates/iocast-core/src/record/lateness.rs).

    A row is `width` intervals, its counts are by octave: below 1.024 us, below twice that, and so on.
    """

    width: int = 1
    rows: tuple[tuple[int, ...], ...] = ()


class Measurement(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The outcome of one phase. Times are on the monotonic (or the virtual) clock from its start."""

    engine: EngineReport
    started_unix_ns: int
    elapsed_ns: int  # to the last completion
    asked_depth: int
    asked_rate_per_s: float | None
    issuing_ns: int  # until then I/Os were issued; those in flight then are waited for and counted too
    depth_mean: float  # time-weighted I/Os in flight while I/Os were issued
    in_flight_ns: float  # integral of I/Os in flight over all: by Little's law the sum of all service times
    ios: int  # completed without error, fsyncs included
    bytes: int
    stopped: Literal["finished", "interrupted", "errors", "hung"]
    abandoned_ios: int
    classes: tuple[ClassResult, ...]
    lag: Histogram  # submission - (due, or slot free if later): how late the generator itself was
    errors: tuple[ErrorCount, ...]
    slow: tuple[SlowIo, ...]  # slowest first
    users: tuple[UserResult, ...]
    cpu_user_ns: int  # of the whole process, the kernel's own workers of the ring included
    cpu_system_ns: int
    unsent_arrivals: int = 0  # of an open loop: due before its end, and never sent
    left_behind: tuple[SlowIo, ...] = ()  # of the abandoned I/Os: their times until they were given up
    generator: Generator = Generator()
    commit: Histogram = Histogram()  # from the first write's due time to the end of the sync after it (depth 1)
    issue_error: Histogram = Histogram()  # of a replay: submission - the time wanted
    lateness: Lateness = Lateness()  # the same over its course
    replay: ReplayFacts | None = None
    database: DatabaseResult | None = None  # of a load through a database: what lies below its statements
    cpu_phases: int = 1  # how many phases ran concurrently: their CPU time cannot be told apart, it is that of all

    @property
    def rate_per_s(self) -> float:
        """Completed I/Os per second, fsyncs included."""
        return self.ios * 1e9 / self.elapsed_ns if self.elapsed_ns else 0.0

    @property
    def iops(self) -> float:
        """I/Os that move data per second: syncs beside reads and writes move none, and are no IOPS."""
        by_op: dict[str, int] = {}
        for each in self.classes:
            by_op[each.op] = by_op.get(each.op, 0) + each.ios
        syncs, data = (sum(by_op.get(op, 0) for op in ops) for ops in (SYNCS, DATA))
        if not data or not syncs or data + syncs != self.ios:
            return self.rate_per_s
        return data * 1e9 / self.elapsed_ns if self.elapsed_ns else 0.0

    @property
    def bytes_per_s(self) -> float:
        """Bytes per second."""
        return self.bytes * 1e9 / self.elapsed_ns if self.elapsed_ns else 0.0

    @property
    def queued_share(self) -> float:
        """The share of the time that its own threads were ready and had no processor; 0 where it is not known."""
        generator = self.generator
        return (
            generator.queued_ns / self.elapsed_ns / generator.threads if generator.threads and self.elapsed_ns else 0.0
        )

    @property
    def error_count(self) -> int:
        """I/Os that failed."""
        return sum(error.count for error in self.errors)

    def response(self, *ops: Op) -> Histogram:
        """Response times of the given operations (of all when none is given)."""
        return merge(c.response for c in self.classes if not ops or c.op in ops)

    def service(self, *ops: Op) -> Histogram:
        """Service times of the given operations (of all when none is given)."""
        return merge(c.service for c in self.classes if not ops or c.op in ops)


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
