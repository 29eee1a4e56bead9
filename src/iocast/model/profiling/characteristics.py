"""What depends on the order of events, as the core counts it in one pass (profile/characterise.rs)."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

from iocast.model.histogram import Histogram

TraceOp = Literal["read", "write", "flush", "datasync", "trim", "meta", "other"]
OPS: tuple[TraceOp, ...] = get_args(TraceOp)
READ, WRITE = 0, 1
RUNS_TOLD = 256  # one by one (profile/streams.rs)
RUN_POWER = 3  # such a run has 2 to the power of this many requests at least


class Peak(Struct, frozen=True):
    """The busiest windows of one width; quantiles are over all windows that lie wholly in the trace."""

    width_ns: int
    windows: int
    empty: int
    most_events: int
    most_at_ns: int
    most_bytes: int
    p50_events: int | None = None
    p99_events: int | None = None
    p999_events: int | None = None

    @property
    def most_per_s(self) -> float:
        """The rate of the busiest window."""
        return self.most_events * 1e9 / self.width_ns


class Dispersion(Struct, frozen=True):
    """Variance over mean of the events in windows of one width: 1 for random arrivals."""

    width_ns: int
    windows: int
    index: float


class ArrivalFacts(Struct, frozen=True):
    """When events came."""

    events: int
    length_ns: int
    peaks: tuple[Peak, ...]
    dispersion: tuple[Dispersion, ...]
    gaps: Histogram
    gap_cv2: float | None = None
    gap_lag1: float | None = None

    @property
    def rate_per_s(self) -> float | None:
        """The mean rate; None where all came at one time."""
        return self.events * 1e9 / self.length_ns if self.length_ns else None

    def peak(self, width_ns: int) -> Peak | None:
        """The peak of a width, None in a trace that is shorter."""
        return next((each for each in self.peaks if each.width_ns == width_ns), None)


class InFlightFacts(Struct, frozen=True):
    """How many requests were under way, and what new ones waited for."""

    events: int
    time_at_ns: tuple[int, ...]
    found_by_arrivals: tuple[int, ...]
    most: int
    latency_sum_ns: float
    after_end_ns: float
    since_end: Histogram
    think: Histogram
    sessions: int
    overlapping: int
    following: int


class Run(Struct, frozen=True):
    """A sequential run."""

    bytes: int
    requests: int
    target: int
    op: int
    offset: int
    backwards: bool
    start_ns: int | None = None
    end_ns: int | None = None


class StreamFacts(Struct, frozen=True):
    """How sequential one operation was, by several streams at once and as peers count it."""

    op: int
    requests: int
    bytes: int
    sequential_requests: int
    sequential_bytes: int
    near_bytes: int
    backward_requests: int
    after_the_last: int
    after_the_last_of_session: int
    strided: int
    random: int
    runs: int
    runs_by_requests: tuple[int, ...]
    bytes_by_requests: tuple[int, ...]


class StreamReport(Struct, frozen=True):
    """Sequential runs."""

    by_op: tuple[StreamFacts, ...]
    longest: tuple[Run, ...]
    near_gap_bytes: int

    @property
    def all_told(self) -> bool:
        """Whether `longest` has every run of eight requests or more; there are `RUNS_TOLD` at most."""
        return len(self.longest) < RUNS_TOLD

    def of(self, op: int) -> StreamFacts | None:
        """Those of one operation."""
        return next((each for each in self.by_op if each.op == op), None)


class MissCurve(Struct, frozen=True):
    """The share of references that misses in caches of ascending size; `low` and `high` are 95% intervals."""

    references: int
    blocks: float
    cache_blocks: tuple[int, ...]
    ratios: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    first_share: float


class PairTimes(Struct, frozen=True):
    """Times from one use of a block to the next, of one pair of operations."""

    pair: str
    references: float
    upto_ns: tuple[int, ...]
    counts: tuple[float, ...]

    def quantile_ns(self, q: float) -> int:
        """The upper end of the interval that holds a share `q`."""
        wanted, passed = q * self.references, 0.0
        for upto_ns, count in zip(self.upto_ns, self.counts, strict=True):
            passed += count
            if passed >= wanted - 1e-9:
                return upto_ns
        return self.upto_ns[-1]


class WorkingSet(Struct, frozen=True):
    """The mean number of different blocks used within a window of time."""

    window_ns: int
    blocks: float


class ReferenceFacts(Struct, frozen=True):
    """What follows from blocks that come again."""

    exact: bool
    pairs: tuple[PairTimes, ...]
    working_sets: tuple[WorkingSet, ...]
    sample_blocks: int | None = None
    all: MissCurve | None = None
    reads: MissCurve | None = None
    write_back: MissCurve | None = None


class LatencyCell(Struct, frozen=True):
    """Rows of one operation and size, or one operation and target; `others` stands for all sizes without a cell."""

    op: int
    others: bool
    events: int
    latency: Histogram
    size: int | None = None
    target: int | None = None


class Moment(Struct, frozen=True):
    """What happened in one stretch of time; latency steps are floor(16 log10(ns))."""

    events: int
    reads: int
    writes: int
    read_bytes: int
    write_bytes: int
    timed: int
    latency_sum_ns: float
    latency_steps: tuple[int, ...]
    latency_counts: tuple[int, ...]
    places: tuple[int, ...]


class SyncFacts(Struct, frozen=True):
    """Flushes, and the writes between them; the histogram counts writes, not nanoseconds."""

    flushes: int
    idle_flushes: int
    writes_between: Histogram
    sync_writes: int
    writes: int


class Characteristics(Struct, frozen=True):
    """All of it."""

    events: int
    streams: StreamReport
    references: ReferenceFacts
    by_size: tuple[LatencyCell, ...]
    by_target: tuple[LatencyCell, ...]
    moment_ns: int
    moments: tuple[Moment, ...]
    sync: SyncFacts
    arrivals: ArrivalFacts | None = None
    read_arrivals: ArrivalFacts | None = None
    write_arrivals: ArrivalFacts | None = None
    in_flight: InFlightFacts | None = None
