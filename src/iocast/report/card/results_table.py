"""The table of a report card: one row a measured phase, with a part row for each operation of a mix."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from msgspec.structs import replace

from iocast import text
from iocast.analyse.device_io import DeviceIo
from iocast.analyse.facts import Facts, RowFacts, facts_of
from iocast.analyse.statistics import bucket_shares, enough_beyond, published
from iocast.model.finding import Examination, Trust
from iocast.model.histogram import Histogram
from iocast.model.report import LATENCY_EDGES_NS, Cell, Column, Row, Table
from iocast.model.run import PhaseRecord, Run, at_once
from iocast.model.workload import TREE_OPS, Closed, Op
from iocast.report.card import device_rates

OPS: tuple[Op, ...] = ("read", "write", "trim", "fsync", "fdatasync", *TREE_OPS)

PERCENTILES = (
    ("response_p50", 0.50),
    ("response_p95", 0.95),
    ("response_p99", 0.99),
    ("response_p99_9", 0.999),
)

COLUMNS = (
    Column("name", "row"),
    Column("load", "load", "load", "users x queue depth"),
    Column("size", "size", "bytes", "size of one I/O"),
    Column("throughput", "MB/s", "bytes_per_s", "decimal megabytes"),
    Column("response_mean", "mean", "duration", "mean response time", spare=5),
    Column("response_p50", "p50", "duration", "median response time", spare=1),
    Column("response_p95", "p95", "duration", "95% of the I/Os took no longer", spare=6),
    Column("response_p99", "p99", "duration", "1% of the I/Os took longer"),
    Column("response_p99_9", "p99.9", "duration", "0.1% of the I/Os took longer", spare=7),
    Column("response_max", "max", "duration", "the slowest I/O", spare=4),
    Column("rate", "IOPS", "rate"),
    Column("latency", "histogram", "strip", spare=3),
    Column("device_rate", "dev.\nIOPS", "rate", "requests with data at the device", spare=10),
    Column("device_size", "dev.\nsize", "bytes", "average request at the device", spare=9),
    Column("device_queue", "dev.\nqueue", "decimal", "average requests at the device", spare=8),
    Column("trust", "trust", "grade"),
)

STRIP_NOTE = (
    "histogram: response times, one mark per range up to "
    + ", ".join(text.brief_time(edge) for edge in LATENCY_EDGES_NS)
    + " and above; a taller mark is a larger share of the I/Os."
)
BLANK_NOTE = "A percentile is blank where fewer than ten I/Os lie beyond it."
SINGLE_NOTE = "Single run, warm-up included: repeatability is not judged."
IMPORTED_NOTE = "Single run of another tool: steadiness and repeatability are not judged."
UNSTATED_NOTE = "A percentile is blank where the source does not state it, or fewer than ten I/Os lie beyond it."
COARSE_NOTE = (
    "A range gives the edges of the source's bucket that holds the percentile; in the histogram, a bucket that extends"
    " beyond a mark counts at the next one."
)
OPEN_NOTE = (
    "Response time counts from the moment an I/O was due; service time, in the service rows, from its submission."
)

COMMIT_NOTE = "commit: from the write to the end of the sync that makes it durable."
# A phase that ends this much before those that ran concurrently with it is worth a word. [J]
ENDED_EARLY = 0.95

# Response and service of an open loop differ when I/Os had to wait their turn; below this it is rounding. [J]
SERVICE_DIFFERS = 0.05


def row_name(record: PhaseRecord, op: Op, *, several: bool) -> str:
    """The name of a row, or of one operation of it where it has several: "mixed 8k 8x1, reads"."""
    if not several:
        return record.phase.name
    return f"{record.phase.name}, {op}" if record.plan.tree else f"{record.phase.name}, {op}s"


def results(run: Run | Facts, examination: Examination) -> Table:
    """The table of all measured phases."""
    facts = facts_of(run)
    rows = tuple(_told_apart(tuple(_all_rows(facts, examination))))
    idle = () if any(map(device_rates.differs, rows)) else ("device_rate",)
    named = (
        replace(column, title="ops/s") if column.key == "rate" and facts.run.plan.tree else column for column in COLUMNS
    )
    columns = tuple(
        column for column in named if column.key not in idle and any(_filled(row, column.key) for row in rows)
    )
    notes = (*_notes(facts.run, rows), *device_rates.notes(facts, rows)) if rows else ()
    return Table("", columns, rows, key="rows", notes=notes)


def _told_apart(rows: tuple[Row, ...]) -> Iterator[Row]:
    """Each row with the name that it is shown by: its test, or all of its name where tests of one load are the same, or
    of a load that is not known: the files of a trace."""

    def key(row: Row) -> tuple[object, ...]:
        test, load = row.cells.get("test"), row.cells.get("load")
        return (test, load, row.cells.get("size")) if load else (test,)

    shown = Counter(key(row) for row in rows if not row.part)
    for row in rows:
        alike = shown[key(row)]
        name = row.cells["phase"] if alike > 1 and not row.part else row.cells["test"]
        yield replace(row, cells={**row.cells, "name": name})


def _all_rows(facts: Facts, examination: Examination) -> Iterator[Row]:
    for number, row in enumerate(facts.rows):
        yield from phase_rows(row, examination.trust[row.name])
        last = facts.rows[number + 1 :][:1]
        if len(row.beside) > 1 and not any(at_once(row.record, each.record) for each in last):
            yield _row_of_all(row)


def _row_of_all(row: RowFacts) -> Row:
    """What concurrent phases did together, and what the device saw of it."""
    record, every = row.record, row.seen_by_devices
    device = every.under_filesystem
    cells: dict[str, Cell] = {
        "phase": record.phase.together,
        "test": "combined",
        "together": tuple(each.phase.name for each in row.beside),
        "throughput": _throughput(every.record),
        "rate": every.measurement.rate_per_s,
        "device_size": device.size_bytes if device else None,
        "device_queue": device.queue_mean if device else None,
        **device_rates.device_cells(every, device),
    }
    return Row(cells, part=True)


def phase_rows(row: RowFacts, trust: Trust) -> Iterator[Row]:
    """The row of one phase, then one for each operation of a mix, and service times where they differ."""
    record, did = row.record, row.measurement
    # The device does not tell apart what was asked of it at the same time: that is in the row of all.
    device = row.under_filesystem if len(row.beside) == 1 else None
    ops = [op for op in OPS if times_of(row, op).total]
    head: dict[str, Cell] = {
        "phase": record.phase.name,
        "test": record.phase.test,
        "load": None if {"users", "depth"} & {*record.unstated} else (record.plan.users, record.plan.depth),
        "size": _only_size(record, ops or [part.op for part in did.classes]),
        "throughput": _throughput(record) if record.timed else None,
        "rate": record.ios_per_s,
        "device_queue": device.queue_mean if device else None,
        **device_rates.device_cells(row, device),
        "trust": trust.grade,
    }
    mixed = len(ops) > 1
    if not mixed and ops:
        head |= {
            "op": ops[0],
            **_times(times_of(row, ops[0])),
            **_bounds(row, ops[0]),
            "device_size": _device_size(device, ops[0]),
        }
    yield Row(head, note=trust.void or _open_note(record), void=bool(trust.void))
    for op in ops:
        if mixed:
            yield Row(_op_cells(row, device, op), part=True, void=bool(trust.void))
        if _service_differs(row, op):
            yield Row(_service_cells(row, op, mixed), part=True, void=bool(trust.void))
    if did.commit.total:
        rate = did.commit.total * 1e9 / did.elapsed_ns if did.elapsed_ns else None
        cells: dict[str, Cell] = {"phase": record.phase.name, "test": "commit", "rate": rate}
        yield Row(cells | _times(did.commit), part=True, void=bool(trust.void))


def _throughput(record: PhaseRecord) -> float | None:
    """Bytes a second that were moved; trims move none, so that they count only where nothing else does."""
    did = record.measurement
    moved = sum(part.bytes for part in did.classes if part.op != "trim") or did.bytes
    return moved * 1e9 / did.elapsed_ns if moved and did.elapsed_ns else None


def times_of(row: RowFacts, op: Op) -> Histogram:
    """Response times; of a paced load of another tool that does not say when I/Os were due, service times."""
    response = row.response(op)
    return response if response.total or not row.record.unstated else row.service(op)


def _percentile(histogram: Histogram, q: float) -> Cell:
    """A percentile, or the edges between which it lies."""
    known = published(histogram, q)
    bounds = histogram.quantile_bounds_ns(q) if known is None and enough_beyond(histogram.total, q) else None
    return known if bounds is None else bounds


def _times(histogram: Histogram) -> dict[str, Cell]:
    cells: dict[str, Cell] = {key: _percentile(histogram, q) for key, q in PERCENTILES}
    return cells | {
        "response_mean": None if math.isnan(histogram.mean_ns) else histogram.mean_ns,
        "response_max": None if math.isnan(histogram.most_ns) else histogram.max_ns,
        "latency": bucket_shares(histogram, LATENCY_EDGES_NS) if histogram.spread_known else None,
    }


def _bounds(row: RowFacts, op: Op) -> dict[str, Cell]:
    """The 95% intervals of the response times, for programs; none of a percentile that is not published."""
    if not row.response(op).total:
        return {}
    mean = row.mean(op)
    cells: dict[str, Cell] = {"response_mean_low": mean.low_ns, "response_mean_high": mean.high_ns}
    for key, q in PERCENTILES:
        if (found := row.quantile(op, q)).enough:
            cells |= {f"{key}_low": found.low_ns, f"{key}_high": found.high_ns}
    return cells


def _op_cells(row: RowFacts, device: DeviceIo | None, op: Op) -> dict[str, Cell]:
    record, did = row.record, row.measurement
    classes = [part for part in did.classes if part.op == op]
    seconds = did.elapsed_ns / 1e9 if record.timed else 0.0
    moved = sum(part.bytes for part in classes)
    return {
        "phase": record.phase.name,
        "test": op,
        "op": op,
        "size": _only_size(record, [op]),
        "throughput": moved / seconds if moved and seconds else None,
        "rate": sum(part.ios for part in classes) / seconds if seconds else None,
        "device_size": _device_size(device, op),
        **_times(times_of(row, op)),
        **_bounds(row, op),
    }


def _service_cells(row: RowFacts, op: Op, mixed: bool) -> dict[str, Cell]:
    return {
        "phase": row.name,
        "test": f"{op} service" if mixed else "service",
        "op": op,
        "clock": "service",
        **_times(row.service(op)),
    }


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


def _open_note(record: PhaseRecord) -> str:
    asked = record.measurement.asked_rate_per_s
    if not asked:
        return ""
    return f"{text.rate(asked)} IOPS requested, {text.rate(record.measurement.rate_per_s)} achieved"


def _notes(run: Run, rows: tuple[Row, ...]) -> Iterator[str]:
    if any(_filled(row, "latency") for row in rows):
        yield STRIP_NOTE
    keys = [key for key, _ in PERCENTILES]
    if any(isinstance(row.cells.get(key), tuple) for row in rows for key in keys):
        yield COARSE_NOTE
    if any(_filled(row, "response_max") and not all(_filled(row, key) for key in keys) for row in rows):
        yield UNSTATED_NOTE if run.source else BLANK_NOTE
    if any(row.cells.get("clock") == "service" for row in rows):
        yield OPEN_NOTE
    if any(row.cells.get("test") == "commit" and row.part for row in rows):
        yield COMMIT_NOTE
    groups = {id(group[0]): group for group in map(run.beside, run.measured) if len(group) > 1}
    yield from dict.fromkeys(map(_together_note, groups.values()))
    yield from run.source.notes if run.source else ()
    if rows:
        yield IMPORTED_NOTE if run.source else SINGLE_NOTE


def _together_note(group: tuple[PhaseRecord, ...]) -> str:
    """Which rows ran concurrently, and which of them ended before the others."""
    longest_ns = max(each.measurement.elapsed_ns for each in group)
    early = [each for each in group if each.measurement.elapsed_ns < ENDED_EARLY * longest_ns]
    said = f"{', '.join(each.phase.name for each in group)} ran concurrently (combined: their sum)."
    for each in early:
        said += f" {each.phase.name} ended after {text.brief_time(each.measurement.elapsed_ns)}."
    return said


def _filled(row: Row, key: str) -> bool:
    return row.cells.get(key) not in (None, "")
