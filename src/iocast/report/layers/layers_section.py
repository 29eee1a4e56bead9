"""The section that lines up the layers recorded beside a load, row by row, and names the one that loses the time."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import text
from iocast.analyse.facts import Facts
from iocast.analyse.live.layer_times import LayerTime, LayerTimes
from iocast.analyse.live.row_layers import RowLayers, row_layers
from iocast.diagnose.live.layers_verdict import LayersVerdict, verdict
from iocast.model.codes import LayerCode, LostTimeCode
from iocast.model.report import Cell, Column, Row, Section, Table
from iocast.model.run import PhaseRecord
from iocast.model.workload import Op
from iocast.report.wording import section as titled

COLUMNS = (
    Column("test", "row"),
    Column("who", "whose"),
    Column("op", "op"),
    Column("rate", "IOPS", "rate", "of the load, or as the database counts its reads"),
    Column("mean", "mean", "duration", "service time of the load, or time of a read of the database"),
    Column("call_rate", "calls/s", "rate", spare=4),
    Column("call_mean", "call", "duration", "a system call, or an I/O of io_uring, from entry to end"),
    Column("block_rate", "block\nlayer/s", "rate", spare=3),
    Column("block_mean", "block\nlayer", "duration", "a bio, from its arrival to its end"),
    Column("request_mean", "request", "duration", "as iostat's await", spare=2),
    Column("driver_mean", "device", "duration", "from the hand-over to the driver to the end"),
    Column("loses", "time\nlost in"),
    Column("traced", "time\ntraced", "share", spare=1),
)
NOTE = (
    "Block layer, request and device are all I/O of the devices below the load, whoever makes it; calls are those of"
    " the load, or of the processes that were watched beside it."
)
LOST: dict[LostTimeCode, str] = {
    "none": "no layer",
    "unknown": "unknown",
    "cpu": "CPU",
    "throttle": "throttle",
    "file_system": "file system",
    "device_queue": "device queue",
    "device": "device",
    "journal": "journal",
    "nfs_slots": "NFS client",
    "nfs_server": "NFS server",
    "engine": "database engine",
    "client_path": "client or network",
    "late_statistics": "late statistics",
}
_CALLS: dict[str, LayerCode] = {"read": "read_call", "write": "write_call", "sync": "sync_call"}
_BLOCK: dict[str, tuple[LayerCode, LayerCode | None, LayerCode]] = {
    "read": ("bio_read", "request_read", "driver_read"),
    "write": ("bio_write", "request_write", "driver_write"),
    "sync": ("bio_flush", None, "driver_flush"),
}
_LOAD_OPS: dict[str, tuple[Op, ...]] = {"read": ("read",), "write": ("write",), "sync": ("fsync", "fdatasync")}


def section(facts: Facts) -> Section | None:
    """None for a run beside which no layers were recorded."""
    found = [(record, layers) for record in facts.run.measured if (layers := row_layers(facts.run, record))]
    if not found:
        return None
    verdicts = {layers.phase: verdict(layers.times) for _, layers in found}
    rows = tuple(row for record, layers in found for row in _rows(record, layers, verdicts[layers.phase]))
    columns = tuple(column for column in COLUMNS if any(row.cells.get(column.key) is not None for row in rows))
    table = Table("", columns, rows, key="row_layers", notes=(NOTE, *_notes([layers for _, layers in found])))
    return titled("layers", tuple(_sentences(verdicts)), (table,))


def _rows(record: PhaseRecord, layers: RowLayers, found: LayersVerdict) -> Iterator[Row]:
    did = record.measurement
    for op, names in _LOAD_OPS.items():
        ios = sum(part.ios for part in did.classes if part.op in names)
        if not ios:
            continue
        service = did.service(*names)
        cells: dict[str, Cell] = {
            "test": record.phase.name,
            "phase": record.phase.name,
            "who": "load",
            "op": op,
            "rate": ios * 1e9 / max(1, did.elapsed_ns),
            "mean": service.mean_ns if service.total else None,
            "loses": LOST[found.code],
            "code": found.code,
            "verdict": found.says,
            "refuted_by": found.refuted_by if found.rule else None,
            "traced": None if layers.traced is None else layers.traced.share,
        }
        yield Row(cells | _calls(layers.times, op) | _block(layers.times, op))
    yield from _others(record, layers)


def _others(record: PhaseRecord, layers: RowLayers) -> Iterator[Row]:
    """Those who were watched beside the load; a database counts reads alone."""
    if layers.others is None and layers.database is None:
        return
    for op, call in _CALLS.items():
        of_database = layers.database if op == "read" else None
        called = layers.others is not None and layers.others.count(call)
        if not called and not (of_database and of_database.count):
            continue
        cells: dict[str, Cell] = {
            "test": record.phase.name,
            "phase": record.phase.name,
            "who": "database" if layers.database is not None else "others",
            "op": op,
            "rate": _per_s(of_database, layers.times.elapsed_ns),
            "mean": None if of_database is None else of_database.mean_ns,
        }
        yield Row(cells | ({} if layers.others is None else _calls(layers.others, op)))


def _calls(times: LayerTimes, op: str) -> dict[str, Cell]:
    layer = times.layers.get(_CALLS[op])
    return {"call_rate": _per_s(layer, times.elapsed_ns), "call_mean": None if layer is None else layer.mean_ns}


def _block(times: LayerTimes, op: str) -> dict[str, Cell]:
    bio, request, driver = _BLOCK[op]
    return {
        "block_rate": _per_s(times.layers.get(bio), times.elapsed_ns),
        "block_mean": times.mean_ns(bio),
        "request_mean": None if request is None else times.mean_ns(request),
        "driver_mean": times.mean_ns(driver),
    }


def _per_s(layer: LayerTime | None, elapsed_ns: int) -> float | None:
    return layer.count * 1e9 / elapsed_ns if layer is not None and layer.count and elapsed_ns else None


def _sentences(verdicts: dict[str, LayersVerdict]) -> Iterator[str]:
    """Each layer that loses time, with the row that loses the most there; one sentence where none does."""
    losing = {name: found for name, found in verdicts.items() if found.rule}
    for code in dict.fromkeys(found.code for found in losing.values()):
        names = [name for name, found in losing.items() if found.code == code]
        worst = max(names, key=lambda name: losing[name].lost_share or 0.0)
        found = losing[worst]
        more = f" The same on {text.counted(len(names) - 1, 'more row')}." if len(names) > 1 else ""
        yield f"{worst}: {found.says} Refuted by: {found.refuted_by}. {found.remedy}{more}"
    if not losing:
        codes = {found.code for found in verdicts.values()}
        yield "No layer loses time on any row." if codes == {"none"} else "Too little was seen to name a layer."


def _notes(found: list[RowLayers]) -> Iterator[str]:
    seen = {each.phase: each.traced for each in found if each.traced is not None}
    part = min((each.share for each in seen.values()), default=1.0)
    if any(not each.whole for each in seen.values()) and part < 1:
        yield (
            f"Layers were traced in windows, down to {text.percent(part)} of the time; each stands for what the"
            " devices did until the next."
        )
    if costs := [each.reader_share for each in seen.values() if each.reader_share is not None]:
        yield f"Reading the trace took up to {text.percent(max(costs))} of one CPU."
    if lost := [name for name, each in seen.items() if each.lost_events]:
        yield f"{', '.join(lost)}: the trace lost records; the figures cover those that were kept."
