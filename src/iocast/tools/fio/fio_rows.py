"""What fio states of a job becomes a row, whichever format it stands in; what its times count is said here."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from iocast.model.measurement import ErrorCount
from iocast.model.stated import Coarse, Quantile
from iocast.model.workload import Op
from iocast.tools import consistency
from iocast.tools.fio.fio_load import Load
from iocast.tools.fio.job_options import ops_of
from iocast.tools.fio.latency_bins import LAST_NS
from iocast.tools.fio.results import ALL, JobResult, Side
from iocast.tools.source_files import refuse
from iocast.tools.stated_rows import OpFigures, Row, stated

CLOCK_NOTE = (
    "Mean, minimum, maximum and deviation are fio's lat, from the start of submission; percentiles and buckets"
    " (and so the ranges and latency here) are fio's clat, from the end of submission, unless stated otherwise."
)
MIXED_NOTE = "fio's latency buckets of a mix count reads and writes together: they are left out."
PACE_NOTE = (
    "This format does not state a rate or think time: time that I/Os waited before submission is not in these times."
)
VERIFY = "verify"  # the test of a row that reads back what its job wrote
FLUSHES: tuple[Op, ...] = ("fsync", "fdatasync")
SAME_TIME = 0.95
SAME_BIN = 0.01
_ALL_NOTE = f'The row "{ALL}" is fio\'s own sum of the rows above it.'


def rows_of(job: JobResult, load: Load, warnings: list[str], *, started_unix_ns: int = 0, test: str = "") -> list[Row]:
    """The job as a row, of this test where rw= is not told; several where its operations ran for unlike times.

    Raises SourceError; `warnings` gets what does not fit.
    """
    ops = [_figures(op, side, job) for op, side in job.sides.items()]
    flush: Op = "fdatasync" if load.fdatasync or job.data_only else "fsync"
    ops += [_figures(flush, job.flushes, job)] if job.flushes else []
    if ops and not job.runtime_ms:
        raise refuse(job.path, job.line, f"job {job.name[:80]} did I/O but states no run time")
    warnings += job.doubts
    if job.name == ALL:
        warnings.append(_ALL_NOTE)
    for op, side in job.sides.items():
        if beyond := sorted(q for q, value in side.quantiles if _is_at_least(value, side)):
            warnings.append(
                f"{job.name}, {op}: fio counts no time above 17.1 s; percentiles from the p{100 * beyond[0]:g} on are"
                " at least that, and not read."
            )
        if any(not q <= 1 for q, _ in side.quantiles):
            raise refuse(job.path, job.line, f"job {job.name[:80]} states a percentile above 100")
        warnings += consistency.parts_of_mean(f"{job.name}, {op}", *side.means_ns)
        if side.rate_per_s is not None:
            elapsed_ns = round(side.runtime_ms * 1e6)
            warnings += consistency.stated_rate(f"{job.name}, {op}", side.ios, elapsed_ns, side.rate_per_s)
    errors = _errors(job, load, warnings)
    guessed = {op for op, side in job.sides.items() if side.ios_by_rate}
    rows: list[Row] = []
    for part in _parts(job, load):
        own = tuple(each for each in ops if each.op in part.ops)
        every = _writes_per_flush(own) if part.load.fsync_every is None else 0
        rows.append(
            Row(
                name=part.name,
                test=part.load.rw or part.test or test or "+".join(each.op for each in own) or job.name,
                ops=own,
                elapsed_ns=round(part.runtime_ms * 1e6),
                users=part.load.users,
                depth=part.load.depth,
                direct=part.load.direct,
                sync=part.load.sync,
                fsync_every=every or part.load.fsync_every or 0,
                derived=(*(("fsync_every",) if every else ()), *(("ios",) if guessed & {*part.ops} else ())),
                locality=part.load.locality,
                arrival=part.load.arrival,
                path=part.load.path,
                engine=part.load.engine,
                started_unix_ns=started_unix_ns if part.test != VERIFY else 0,
                errors=errors if not rows else (),
            )
        )
        warnings += consistency.inconsistencies(rows[-1])
    return rows


class _Part(NamedTuple):
    """The operations of a job that ran for the same time."""

    name: str
    test: str  # where `load` has none
    load: Load
    ops: tuple[Op, ...]
    runtime_ms: float


def _parts(job: JobResult, load: Load) -> list[_Part]:
    """All operations of a job as one, or each by its own time: as with what was written and then read back."""
    times = {op: side.runtime_ms for op, side in job.sides.items()}
    if not times or min(times.values()) >= SAME_TIME * max(times.values()) or not all(times.values()):
        return [_Part(job.name, "", load, (*times, *FLUSHES), job.runtime_ms)]
    first = next(op for op in times if op != "read")
    if "read" in times and load.rw and "read" not in ops_of(load.rw) and len(times) == 2:
        after = Load(
            users=load.users, direct=load.direct, sync="none", fsync_every=0, path=load.path, engine=load.engine
        )
        return [
            _Part(job.name, "", load, (first, *FLUSHES), times[first]),
            _Part(f"{job.name} {VERIFY}", VERIFY, after, ("read",), times["read"]),
        ]
    return [
        _Part(
            f"{job.name} {op}",
            op,
            replace(load, rw="", fsync_every=load.fsync_every if op == first else 0),
            (op, *FLUSHES) if op == first else (op,),
            time_ms,
        )
        for op, time_ms in times.items()
    ]


def groups_of(rows: Sequence[Row], group: str) -> list[str]:
    """The group of each row of a job; what was read back afterwards ran beside no other."""
    return ["" if row.test == VERIFY else group for row in rows]


def notes_on(rows: Sequence[Row], *notes: str) -> tuple[str, ...]:
    """These notes, and what fio's mixes leave out where there is one among the rows."""
    return (*notes, MIXED_NOTE) if any(len(each.ops) > 1 for each in rows) else notes


def _is_at_least(value_ns: float, side: Side) -> bool:
    """Whether a percentile is the end of fio's histogram, and so a bound only."""
    most = side.lat.get("max")
    return abs(value_ns / LAST_NS - 1) < SAME_BIN and most is not None and most > (1 + SAME_BIN) * value_ns


def _figures(op: Op, side: Side, job: JobResult) -> OpFigures:
    least, most = side.lat.get("min"), side.lat.get("max")
    known = sorted((q, value) for q, value in side.quantiles if not _is_at_least(value, side))
    times = Coarse(
        total=side.ios,
        mean_ns=side.lat.get("mean"),
        stdev_ns=side.lat.get("stddev"),
        min_ns=None if least is None else round(least),
        max_ns=None if most is None else round(most),
        buckets=side.buckets,
        whole=side.whole if side.buckets else 0.0,
        quantiles=tuple(Quantile(q, round(value)) for q, value in known if q > 0),
    )
    return OpFigures(
        op=op,
        ios=side.ios,
        bytes=side.bytes,
        size_bytes=side.size_bytes,
        short_ios=0 if side.whole_ios or (op == "read" and job.data_only) else side.short_ios,
        times=stated(times),
    )


def _writes_per_flush(ops: Sequence[OpFigures]) -> int:
    """What fsync= must have been where it is not stated, from the counts; 0 without writes or flushes."""
    ios = {each.op: each.ios for each in ops}
    flushes, writes = ios.get("fsync", 0) + ios.get("fdatasync", 0), ios.get("write", 0)
    return max(1, round(writes / flushes)) if flushes and writes else 0


def _errors(job: JobResult, load: Load, warnings: list[str]) -> tuple[ErrorCount, ...]:
    if not job.error and not job.errors:
        return ()
    name = errno.errorcode.get(job.error, f"error {job.error}")
    warnings.append(f"{job.name}: fio stopped this job with {name}")
    return (ErrorCount((*ops_of(load.rw), "read")[0], job.error, name, max(1, job.errors), ()),)
