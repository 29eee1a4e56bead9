"""What fio states of a job, whichever format of its output it stands in: plain records, times in nanoseconds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import islice

from msgspec import Struct

from iocast.model.stated import Bucket
from iocast.tools.fio.job_options import Op

ALL = "All clients"  # a row of several servers' results
MIXED_ONLY = "it reports reads and writes as one (unified_rw_reporting=mixed): the times of each are unknown"
MIXED_HINT = "run fio with unified_rw_reporting=none or both"

Spread = Mapping[str, float | None]  # ns by "min", "max", "mean", "stddev"


class Side(Struct, kw_only=True):
    """The reads, the writes, the trims or the flushes of a job."""

    ios: int
    bytes: int = 0
    size_bytes: int | None = None  # of each; None: not stated, or not always the same
    short_ios: int = 0
    runtime_ms: float = 0
    rate_per_s: float | None = None  # as it is printed
    ios_by_rate: bool = False  # `ios` is rate x time: the format does not state it
    lat: Spread = {}
    means_ns: tuple[float | None, float | None, float | None] = (None, None, None)  # slat, clat, lat
    quantiles: list[tuple[float, float]] = []  # (0.99, ns)
    buckets: tuple[Bucket, ...] = ()
    whole: float = 100.0  # what the buckets are parts of

    @property
    def whole_ios(self) -> bool:
        """Whether its bytes are those of I/Os of which none was short."""
        return bool(self.size_bytes) and self.bytes == self.ios * (self.size_bytes or 0)


class JobResult(Struct, kw_only=True):
    """One job, or one group of jobs, with what it did. `line` is 0 when it is not known."""

    path: str
    line: int
    name: str
    runtime_ms: float
    sides: dict[Op, Side]
    flushes: Side | None = None
    data_only: bool = False  # the flushes are fdatasyncs: fio counts these as short reads, and as no flushes
    error: int = 0  # errno of the first one
    errors: int = 0
    doubts: list[str] = []  # what does not go together in what it states


SECTOR = 512
LARGEST_IO = 1 << 30


def ios_by_rate(moved_bytes: int, rate_per_s: float, runtime_ms: float) -> tuple[int, int | None]:
    """Their number and size: exact where one size fits, else rate times time and None."""
    size = _size(moved_bytes, rate_per_s, runtime_ms)
    return (moved_bytes // size, size) if size else (round(rate_per_s * runtime_ms / 1000), None)


def _size(moved_bytes: int, rate_per_s: float, runtime_ms: float) -> int | None:
    """The one multiple of 512 bytes for which bytes over size over time is the rate, which fio cut to a whole one."""
    if not moved_bytes or not rate_per_s or not runtime_ms:
        return None
    per_s = moved_bytes * 1000 / runtime_ms
    # fio works the rate out from I/Os and whole milliseconds; a hair is allowed for.
    least, most = per_s / (rate_per_s + 1.001), per_s / (rate_per_s - 0.001)
    fitting = range(-(-math.floor(least) // SECTOR) * SECTOR or SECTOR, math.floor(min(most, LARGEST_IO)) + 1, SECTOR)
    sizes = list(islice((size for size in fitting if size >= least and moved_bytes % size == 0), 2))
    return sizes[0] if len(sizes) == 1 else None
