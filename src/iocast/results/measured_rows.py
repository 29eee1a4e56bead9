"""The rows of a card: one a measured phase, with a part row for each operation of a mix."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from iocast.analyse.device_io import DeviceIo
from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.load_kind import MOVING
from iocast.analyse.statistics import bucket_shares, enough_beyond, published
from iocast.model.finding import Examination, Grade, Trust
from iocast.model.histogram import Histogram
from iocast.model.report import LATENCY_EDGES_NS
from iocast.model.results.card import MeasuredRow
from iocast.model.results.shown import Duration
from iocast.model.run import PhaseRecord, at_once
from iocast.model.workload import TREE_OPS, Closed, Op

OPS: tuple[Op, ...] = ("read", "write", "trim", "io", "fsync", "fdatasync", *TREE_OPS)
COMBINED, COMMIT, SERVICE = "combined", "commit", "service"  # tests of part rows

PERCENTILES = (("p50", 0.50), ("p95", 0.95), ("p99", 0.99), ("p99_9", 0.999))

# Response and service of an open loop differ when I/Os had to wait their turn; below this it is rounding. [J]
SERVICE_DIFFERS = 0.05

Fields = dict[str, Any]  # of a row, by name


def measured_rows(facts: Facts, examination: Examination) -> tuple[MeasuredRow, ...]:
    """All rows, each with its parts below it."""
    return tuple(_all_rows(facts, examination))


def row_name(record: PhaseRecord, op: Op, *, several: bool) -> str:
    """The name of a row, or of one operation of it where it has several: "mixed 8k 8x1, reads"."""
    if not several:
        return record.phase.name
    return f"{record.phase.name}, {op}" if record.plan.tree else f"{record.phase.name}, {op}s"


def times_of(row: RowFacts, op: Op) -> Histogram:
    """Response times; of a paced load of another tool that does not say when I/Os were due, service times."""
    response = row.response(op)
    return response if response.total or not row.record.unstated else row.service(op)


def _all_rows(facts: Facts, examination: Examination) -> Iterator[MeasuredRow]:
    for number, row in enumerate(facts.rows):
        trust = examination.trust[row.name]
        yield from _phase_rows(row, trust)
        last = facts.rows[number + 1 :][:1]
        if len(row.beside) > 1 and not any(at_once(row.record, each.record) for each in last):
            yield _row_of_all(row, trust.grade)


def _row_of_all(row: RowFacts, trust: Grade) -> MeasuredRow:
    """What concurrent phases did together, and what the device saw of it."""
    every = row.seen_by_devices
    device = every.under_filesystem
    rate, ratio = _device_rate(every, device)
    return MeasuredRow(
        phase=row.record.phase.together,
        test=COMBINED,
        part=True,
        together=tuple(each.phase.name for each in row.beside),
        throughput_bytes_per_s=_throughput(every.record),
        rate_per_s=every.measurement.iops,
        device_size_bytes=device.size_bytes if device else None,
        device_queue=device.queue_mean if device else None,
        device_rate_per_s=rate,
        device_rate_ratio=ratio,
        trust=trust,
    )


def _phase_rows(row: RowFacts, trust: Trust) -> Iterator[MeasuredRow]:
    """The row of one phase, then one for each operation of a mix, and service times where they differ."""
    did = row.measurement
    # The device does not tell apart what was asked of it at the same time: that is in the row of all.
    device = row.under_filesystem if len(row.beside) == 1 else None
    ops = [op for op in OPS if times_of(row, op).total]
    mixed = len(ops) > 1
    yield _whole(row, trust, device, ops)
    for op in ops:
        if mixed:
            yield _of_op(row, device, op, trust.grade)
        if _service_differs(row, op):
            yield MeasuredRow(
                phase=row.name,
                test=f"{op} {SERVICE}" if mixed else SERVICE,
                part=True,
                op=op,
                clock="service",
                trust=trust.grade,
                **_times(row.service(op)),
            )
    if did.commit.total:
        rate = did.commit.total * 1e9 / did.elapsed_ns if did.elapsed_ns else None
        yield MeasuredRow(
            phase=row.name, test=COMMIT, part=True, rate_per_s=rate, trust=trust.grade, **_times(did.commit)
        )


def _whole(row: RowFacts, trust: Trust, device: DeviceIo | None, ops: list[Op]) -> MeasuredRow:
    record, did = row.record, row.measurement
    stated = {"users", "depth"}.isdisjoint(record.unstated)
    rate, ratio = _device_rate(row, device)
    only = ops[0] if len(ops) == 1 else None
    return MeasuredRow(
        phase=record.phase.name,
        test=record.phase.test,
        op=only,
        users=record.plan.users if stated else None,
        depth=record.plan.depth if stated else None,
        size_bytes=_only_size(record, ops or [part.op for part in did.classes]),
        throughput_bytes_per_s=_throughput(record) if record.timed else None,
        rate_per_s=record.ios_per_s,
        asked_rate_per_s=did.asked_rate_per_s or None,
        device_queue=device.queue_mean if device else None,
        device_rate_per_s=rate,
        device_rate_ratio=ratio,
        device_size_bytes=_device_size(device, only) if only else None,
        trust=trust.grade,
        void=trust.void or None,
        **(_times(times_of(row, only)) | _bounds(row, only) if only else {}),
    )


def _of_op(row: RowFacts, device: DeviceIo | None, op: Op, trust: Grade) -> MeasuredRow:
    record, did = row.record, row.measurement
    classes = [part for part in did.classes if part.op == op]
    seconds = did.elapsed_ns / 1e9 if record.timed else 0.0
    moved = sum(part.bytes for part in classes)
    return MeasuredRow(
        phase=record.phase.name,
        test=op,
        part=True,
        op=op,
        size_bytes=_only_size(record, [op]),
        throughput_bytes_per_s=moved / seconds if moved and seconds else None,
        rate_per_s=sum(part.ios for part in classes) / seconds if seconds else None,
        device_size_bytes=_device_size(device, op),
        trust=trust,
        **(_times(times_of(row, op)) | _bounds(row, op)),
    )


def _throughput(record: PhaseRecord) -> float | None:
    """Bytes a second that were moved; trims move none, so that they count only where nothing else does."""
    did = record.measurement
    moved = sum(part.bytes for part in did.classes if part.op != "trim") or did.bytes
    return moved * 1e9 / did.elapsed_ns if moved and did.elapsed_ns else None


def _percentile(histogram: Histogram, q: float) -> Duration:
    """A percentile, or the edges between which it lies."""
    known = published(histogram, q)
    bounds = histogram.quantile_bounds_ns(q) if known is None and enough_beyond(histogram.total, q) else None
    return known if bounds is None else bounds


def _times(histogram: Histogram) -> Fields:
    fields: Fields = {f"response_{name}_ns": _percentile(histogram, q) for name, q in PERCENTILES}
    return fields | {
        "response_mean_ns": None if math.isnan(histogram.mean_ns) else histogram.mean_ns,
        "response_max_ns": None if math.isnan(histogram.most_ns) else histogram.max_ns,
        "latency_shares": bucket_shares(histogram, LATENCY_EDGES_NS) if histogram.spread_known else None,
    }


def _bounds(row: RowFacts, op: Op) -> Fields:
    """The 95% intervals of the response times; none of a percentile that is not published."""
    if not row.response(op).total:
        return {}
    mean = row.mean(op)
    fields: Fields = {"response_mean_low_ns": mean.low_ns, "response_mean_high_ns": mean.high_ns}
    for name, q in PERCENTILES:
        if (estimate := row.quantile(op, q)).enough:
            fields |= {f"response_{name}_low_ns": estimate.low_ns, f"response_{name}_high_ns": estimate.high_ns}
    return fields


def _service_differs(row: RowFacts, op: Op) -> bool:
    if isinstance(row.workload.arrival, Closed):
        return False
    response, service = row.response(op), row.service(op)
    if not service.total:
        return False
    pairs = [(response.quantile_ns(q), service.quantile_ns(q)) for q in (0.5, 0.99)]
    return any(abs(one - other) > SERVICE_DIFFERS * other for one, other in pairs)


def _only_size(record: PhaseRecord, ops: list[Op]) -> int | None:
    """The size of the I/Os when all that move data have the same."""
    sizes = {part.size_bytes for part in record.measurement.classes if part.op in ops and part.size_bytes}
    return sizes.pop() if len(sizes) == 1 else None


def _device_size(device: DeviceIo | None, op: Op) -> float | None:
    if device is None:
        return None
    return {"read": device.read_size_bytes, "write": device.write_size_bytes}.get(op)


def _device_rate(row: RowFacts, device: DeviceIo | None) -> tuple[float | None, float | None]:
    """Requests with data that the device completed a second, and how many times what the application did; None where it
    was not seen.
    """
    if device is None or device.reads is None or device.data_writes is None or not device.elapsed_ns:
        return None, None
    if row.workload.trims:
        return None, None
    device_per_s = (device.reads + device.data_writes) * 1e9 / device.elapsed_ns
    if row.record.phase.database is not None:
        return device_per_s, None  # a statement is no request
    did = row.measurement
    asked_per_s = sum(part.ios for part in did.classes if part.op in MOVING) * 1e9 / max(1, did.elapsed_ns)
    return device_per_s, device_per_s / asked_per_s if asked_per_s else None
