"""The data points of an ORION run as they were measured, from the rows of the run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from iocast.errors import ArchiveError
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import Uniform
from iocast.tools.orion.command_line import Settings, from_job
from iocast.tools.orion.data_points import data_points, kinds, row_name
from iocast.tools.orion.result_files import Kind, Point
from iocast.tools.orion.result_writing import PointResult, Result, Side, Volume

KIB = 1 << 10


def settings_of(run: Run) -> Settings | None:
    """The ORION command line that a run came from; None of any other run."""
    return from_job(run.plan.job) if run.source is None else None


def orion_result(run: Run) -> Result:
    """The run as ORION's files state it. Raises ArchiveError for a run that is none of ORION's."""
    settings = settings_of(run)
    if settings is None:
        raise ArchiveError(
            f"{run.plan.name}: this run has no matrix of small and large I/Os", "`iocast matrix` makes one"
        )
    points = measured_points(run, settings)
    if not points:
        raise ArchiveError(f"{run.plan.name}: no data point was measured", "run `iocast matrix` again")
    return Result(
        settings=settings,
        version=f"iocast-{run.iocast_version}",
        started_unix_ns=run.started_unix_ns,
        volumes=tuple(_volumes(run)),
        points=points,
    )


def measured_points(run: Run, settings: Settings) -> tuple[PointResult, ...]:
    """The points that were measured to their end, in the order of the plan; the origin has no I/O."""
    rows = {record.phase.name: record for record in run.measured if record.measurement.stopped == "finished"}
    points = (_point(point, rows, settings) for point in data_points(settings))
    return tuple(each for each in points if each is not None)


def _point(point: Point, rows: Mapping[str, PhaseRecord], settings: Settings) -> PointResult | None:
    records = {kind: rows[name] for kind in kinds(point) if (name := row_name(kind, point)) in rows}
    if not records or len(records) < len(kinds(point)):
        return None
    first = next(iter(records.values()))
    return PointResult(
        point=point,
        small=_side(records.get("small")),
        large=_side(records.get("large")),
        started_unix_ns=first.measurement.started_unix_ns,
        elapsed_s=first.measurement.elapsed_ns / 1e9,
        covered=tuple(_covered(records, settings)),
    )


def _side(record: PhaseRecord | None) -> Side | None:
    if record is None:
        return None
    did = record.measurement
    ops = dict.fromkeys(item.op for item in record.plan.mix)
    return Side(did.rate_per_s, did.bytes_per_s, {op: did.service(op) for op in ops})


def _covered(records: Mapping[Kind, PhaseRecord], settings: Settings) -> Iterator[str]:
    """How many different blocks each size touched: expected of independent random offsets."""
    for kind, record in records.items():
        size_bytes = (settings.size_small if kind == "small" else settings.size_large) * KIB
        blocks = sum(region.size_bytes // size_bytes for region in record.plan.files)
        if not blocks:
            continue
        ios = record.measurement.ios
        random = isinstance(record.plan.locality, Uniform)
        touched = -blocks * math.expm1(-ios / blocks) if random else min(ios, blocks)
        yield f"{kind}: about {touched:.0f} different blocks of {blocks} touched ({100 * touched / blocks:.2f}%)"


def _volumes(run: Run) -> Iterator[Volume]:
    yield from (Volume(region.path, region.size_bytes) for record in run.measured[:1] for region in record.plan.files)
