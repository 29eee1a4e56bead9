"""What a source states of one test becomes a PhaseRecord, and several of them a Run; what it omits is named."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from iocast.model.histogram import Histogram
from iocast.model.measurement import ClassResult, EngineReport, ErrorCount, Measurement
from iocast.model.plan import FileRegion, Length, Phase, PhasePlan, Plan, Role, WorkFiles
from iocast.model.run import Host, PhaseRecord, Run, Sample, Source
from iocast.model.stated import Coarse
from iocast.model.target import Target
from iocast.model.workload import Arrival, Closed, Locality, MixItem, Op, Sync, Unique, Unstated, Workload

SECOND_NS = 1_000_000_000
UNNAMED = "unnamed"
UNKNOWN_HOST = Host(name="", kernel="", cpus=0, cpu_model="", memory_bytes=0)


def stated(times: Coarse) -> Histogram:
    """What a source states of the times of its I/Os; nothing where there were none."""
    return Histogram.stated(times) if times.total else Histogram()


class OpFigures(Struct, frozen=True, kw_only=True):
    """What a source states of one operation. `times` counts from submission."""

    op: Op
    ios: int
    bytes: int
    size_bytes: int | None = None  # None: not stated, or not always the same
    short_ios: int = 0
    times: Histogram = Histogram()


class Row(Struct, frozen=True, kw_only=True):
    """What a source states of one test. None: it does not say."""

    name: str
    test: str
    ops: tuple[OpFigures, ...]
    elapsed_ns: int
    users: int | None = None
    depth: int | None = None
    direct: bool | None = None
    sync: Sync | None = None
    fsync_every: int = 0
    locality: Locality = Unstated()
    arrival: Arrival | None = None
    path: str = ""
    engine: str = ""
    started_unix_ns: int = 0
    errors: tuple[ErrorCount, ...] = ()
    samples: tuple[Sample, ...] = ()
    role: Role = "measure"
    together: str = ""  # rows of the same word ran concurrently
    derived: tuple[str, ...] = ()  # "ios", "length": worked out from rates, not stated


def at_once(rows: Sequence[Row], groups: Sequence[str]) -> list[Row]:
    """The same rows, those of one group (of "" none) marked as concurrent, from the moment the first of them began."""
    beside: dict[str, list[Row]] = {}
    for row, group in zip(rows, groups, strict=True):
        beside.setdefault(group, []).append(row)
    started = {
        group: min((each.started_unix_ns for each in together if each.started_unix_ns), default=0)
        for group, together in beside.items()
        if group and len(together) > 1
    }
    return [
        replace(row, together=group, started_unix_ns=started[group]) if group in started else row
        for row, group in zip(rows, groups, strict=True)
    ]


def record(row: Row) -> PhaseRecord:
    """The row as a phase; the fields that it does not state are named in `unstated`."""
    workload = _workload(row)
    name = row.name.strip() or row.test.strip() or UNNAMED
    phase = Phase(
        name=name,
        test=row.test,
        workload=workload,
        length=Length(seconds=row.elapsed_ns / SECOND_NS),
        role=row.role,
        together=row.together,
    )
    plan = PhasePlan(
        name=name,
        role=row.role,
        engine="sync",
        files=(FileRegion(row.path, 0, 0),) if row.path else (),
        mix=workload.mix,
        locality=workload.locality,
        arrival=workload.arrival,
        users=workload.users,
        depth=workload.depth,
        direct=workload.direct,
        sync=workload.sync,
        fsync_every=workload.fsync_every,
        payload=Unique(),
        length=phase.length,
        interval_ns=SECOND_NS,
        seed=0,
    )
    return PhaseRecord(
        phase=phase, plan=plan, measurement=_measurement(row, workload), samples=row.samples, unstated=_unstated(row)
    )


def _unstated(row: Row) -> tuple[str, ...]:
    sizes = ("size",) if any(each.size_bytes is None for each in row.ops) else ()
    fields = ("users", "depth", "direct", "sync", "arrival")
    # The payload, the seed and the length of the files are stated by nobody.
    omitted = (*(name for name in fields if getattr(row, name) is None), *sizes, *row.derived, "payload", "seed")
    return tuple(dict.fromkeys(omitted))


def _workload(row: Row) -> Workload:
    return Workload(
        mix=_mix(row),
        locality=row.locality,
        arrival=row.arrival or Closed(),
        users=row.users or 1,
        depth=row.depth or 1,
        direct=bool(row.direct),
        sync=row.sync or "none",
        fsync_every=row.fsync_every,
    )


def _mix(row: Row) -> tuple[MixItem, ...]:
    """Operations with their shares in whole per cents, so that two runs of one job have the same mix.

    Flushes that come every so many writes are no part of it.
    """
    kept = [each for each in row.ops if not (row.fsync_every and each.op in ("fsync", "fdatasync"))]
    total = sum(each.ios for each in kept)
    shares = (round(100 * each.ios / total) if total else 1 for each in kept)
    return tuple(
        MixItem(each.op, each.size_bytes or 0, share if len(kept) > 1 else 1.0)
        for each, share in zip(kept, shares, strict=True)
    )


def _measurement(row: Row, workload: Workload) -> Measurement:
    closed = isinstance(workload.arrival, Closed)
    classes = tuple(
        ClassResult(
            each.op,
            each.size_bytes or 0,
            each.ios,
            each.bytes,
            each.short_ios,
            # When I/Os were due, a paced load of another tool does not say.
            each.times if closed else Histogram(),
            each.times,
        )
        for each in row.ops
    )
    busy_ns = sum(each.times.sum_ns for each in row.ops)
    paced = getattr(row.arrival, "rate_per_s", None)
    return Measurement(
        engine=EngineReport(row.engine or "unknown"),
        started_unix_ns=row.started_unix_ns,
        elapsed_ns=row.elapsed_ns,
        asked_depth=workload.asked_depth,
        asked_rate_per_s=paced,
        issuing_ns=row.elapsed_ns,
        depth_mean=busy_ns / row.elapsed_ns if row.elapsed_ns else 0.0,
        in_flight_ns=busy_ns,
        ios=sum(each.ios for each in row.ops),
        bytes=sum(each.bytes for each in row.ops),
        stopped="finished",
        abandoned_ios=0,
        classes=classes,
        lag=Histogram(),
        errors=row.errors,
        slow=(),
        users=(),
        cpu_user_ns=0,
        cpu_system_ns=0,
    )


def run(
    source: Source, rows: Iterable[Row], *, warnings: Sequence[str] = (), host: Host = UNKNOWN_HOST, name: str = ""
) -> Run:
    """A finished run of imported rows, each under a name of its own."""
    records = distinct([record(row) for row in rows])
    paths = list(dict.fromkeys(region.path for each in records for region in each.plan.files))
    path = ", ".join(paths) if len(paths) < 4 else f"{len(paths)} files"
    target = Target(path=path, kind="unknown", direct=None)
    started = [each.measurement.started_unix_ns for each in records if each.measurement.started_unix_ns]
    stem = os.path.basename(source.files[0]).rpartition(".")[0] or source.files[0] if source.files else ""
    return Run(
        plan=Plan(
            name=name or f"{source.tool} {stem}".strip(),
            target=target,
            phases=tuple(each.phase for each in records),
            files=WorkFiles(0, 0),
            engine="sync",
        ),
        host=host,
        started_unix_ns=min(started, default=0),
        status="done",
        phases=tuple(records),
        warnings=tuple(dict.fromkeys(warnings)),
        source=source,
    )


def distinct(records: Sequence[PhaseRecord]) -> list[PhaseRecord]:
    """The same records, those of one name told apart by their test and load, or by a number."""
    names = [each.phase.name for each in records]
    alike = Counter(names)
    longer = [_with_load(each) if alike[each.phase.name] > 1 else each.phase.name for each in records]
    still_alike = Counter(longer)
    counts: dict[str, int] = {}
    renamed = []
    for each, short, name in zip(records, names, longer, strict=True):
        if still_alike[name] > 1:
            counts[short] = counts.get(short, 0) + 1
            name = f"{short} #{counts[short]}"
        renamed.append(replace(each, phase=replace(each.phase, name=name), plan=replace(each.plan, name=name)))
    return renamed


def _with_load(each: PhaseRecord) -> str:
    test = "" if each.phase.test == each.phase.name else f" {each.phase.test}"
    load = "" if {"users", "depth"} & {*each.unstated} else f" {each.plan.users}x{each.plan.depth}"
    return f"{each.phase.name}{test}{load}"
