"""What the device saw against what was asked: sizes of requests, and how many at once."""

from __future__ import annotations

from iocast.analyse.device_io import DeviceIo
from iocast.analyse.facts import Facts
from iocast.model.report import Axis, Cell, Chart, Column, Row, Table
from iocast.model.run import PhaseRecord
from iocast.model.workload import Op
from iocast.report.card.results_table import row_name

SIZES = (
    Column("row", "row"),
    Column("asked", "asked", "bytes"),
    Column("device", "at the device", "bytes"),
)
QUEUES = (
    Column("row", "row"),
    Column("asked", "asked", "decimal"),
    Column("device", "at the device", "decimal"),
)
SAME = 1.1  # within a tenth


def request_sizes(facts: Facts) -> Chart | None:
    """Sizes of the rows that have one, where the device's counters were seen."""
    rows = [row for each in facts.rows for row in _sizes(each.record, each.under_filesystem)]
    return _chart("device-sizes", "Size of requests", "size", "bytes", SIZES, rows) if rows else None


def queues(facts: Facts) -> Chart | None:
    """How many requests were at the device, against users times depth."""
    seen = [(row.record, row.under_filesystem) for row in facts.rows]
    rows = [
        Row({"row": record.phase.name, "asked": float(record.measurement.asked_depth), "device": io.queue_mean})
        for record, io in seen
        if io is not None and io.queue_mean is not None
    ]
    return _chart("device-queue", "I/Os at once", "at once", "decimal", QUEUES, rows) if rows else None


def _sizes(record: PhaseRecord, io: DeviceIo | None) -> list[Row]:
    if io is None:
        return []
    found = []
    sizes: tuple[tuple[Op, float | None], ...] = (("read", io.read_size_bytes), ("write", io.write_size_bytes))
    for op, seen in sizes:
        parts = [part for part in record.measurement.classes if part.op == op and part.ios]
        if parts and seen:
            name = row_name(record, op, several=len({part.op for part in record.measurement.classes}) > 1)
            asked = sum(part.bytes for part in parts) / sum(part.ios for part in parts)
            found.append(Row({"row": name, "asked": asked, "device": seen}))
    return found


def _chart(key: str, title: str, axis: str, kind: str, columns: tuple[Column, ...], rows: list[Row]) -> Chart:
    other = [row for row in rows if not _same(row.cells["asked"], row.cells["device"])]
    if other:
        names = ", ".join(str(row.cells["row"]) for row in other[:3]) + (" and others" if len(other) > 3 else "")
        summary = f"On {len(other)} of {len(rows)} rows the device saw something else than was asked: {names}."
    else:
        summary = f"On all {len(rows)} rows the device saw what was asked, within a tenth."
    shown = Axis(axis, "bytes" if kind == "bytes" else "decimal", log=True)
    return Chart(
        kind="device",
        key=key,
        title=f"{title}: asked, and seen by the device",
        summary=summary,
        x=shown,
        y=Axis("row", "text"),
        tables=(Table("", columns, tuple(rows), key="rows"),),
    )


def _same(asked: Cell, seen: Cell) -> bool:
    if not isinstance(asked, int | float) or not isinstance(seen, int | float) or not asked or not seen:
        return False
    return max(asked / seen, seen / asked) <= SAME
