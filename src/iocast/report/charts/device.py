"""Requests at the device against the I/Os submitted: their size and queue depth."""

from __future__ import annotations

import math
from collections.abc import Iterator

from iocast.analyse.device_io import DeviceIo
from iocast.model.report import Axis, Cell, Chart, Column, Row, Table
from iocast.model.run import PhaseRecord
from iocast.model.workload import Op
from iocast.report.cells import cell_text
from iocast.report.charts.drawing.parts import Spec, chart, layer, number, numbers, padded, quantitative, tip
from iocast.report.charts.drawing.rows import ROW_HEIGHT, rows_axis
from iocast.report.charts.drawing.theme import Theme
from iocast.report.charts.place import Place
from iocast.report.charts.subjects.examined_run import ExaminedRun
from iocast.results.measured_rows import row_name

PLACE = Place("device")
SIZES = (
    Column("row", "row"),
    Column("asked", "submitted", "bytes"),
    Column("device", "at the device", "bytes"),
)
QUEUES = (
    Column("row", "row"),
    Column("asked", "submitted", "decimal"),
    Column("device", "at the device", "decimal"),
)
SAME = 1.1  # within a tenth


def tell(about: ExaminedRun) -> Iterator[Chart]:
    """A chart of sizes, and one of queue depths, each where the device saw something else on some row."""
    seen = [(row.record, io) for row in about.facts.rows if (io := row.under_filesystem) is not None]
    if sizes := [row for record, io in seen for row in _sizes(record, io)]:
        yield from _chart("device-sizes", "Request size", "size", "bytes", SIZES, sizes)
    queues = [
        Row({"row": record.phase.name, "asked": float(record.measurement.asked_depth), "device": io.queue_mean})
        for record, io in seen
        if io.queue_mean is not None
    ]
    if queues:
        yield from _chart("device-queue", "Outstanding I/Os", "outstanding I/Os", "decimal", QUEUES, queues)


def _sizes(record: PhaseRecord, io: DeviceIo) -> list[Row]:
    found = []
    sizes: tuple[tuple[Op, float | None], ...] = (("read", io.read_size_bytes), ("write", io.write_size_bytes))
    for op, seen in sizes:
        parts = [part for part in record.measurement.classes if part.op == op and part.ios]
        if parts and seen:
            name = row_name(record, op, several=len({part.op for part in record.measurement.classes}) > 1)
            asked = sum(part.bytes for part in parts) / sum(part.ios for part in parts)
            found.append(Row({"row": name, "asked": asked, "device": seen}))
    return found


def _chart(key: str, title: str, axis: str, kind: str, columns: tuple[Column, ...], rows: list[Row]) -> Iterator[Chart]:
    other = [row for row in rows if not _same(row.cells["asked"], row.cells["device"])]
    if not other:
        return
    names = ", ".join(str(row.cells["row"]) for row in other[:3]) + (" and others" if len(other) > 3 else "")
    summary = f"On {len(other)} of {len(rows)} rows the device saw something other than was submitted: {names}."
    shown = Axis(axis, "bytes" if kind == "bytes" else "decimal", log=True)
    yield Chart(
        kind="device",
        key=key,
        title=f"{title}: submitted and at the device",
        summary=summary,
        x=shown,
        y=Axis("row", "text"),
        tables=(Table("", columns, tuple(rows), key="rows"),),
    )


def _same(asked: Cell, seen: Cell) -> bool:
    if not isinstance(asked, int | float) or not isinstance(seen, int | float) or not asked or not seen:
        return False
    return max(asked / seen, seen / asked) <= SAME


def draw(about: Chart, theme: Theme, width: int) -> Spec:
    """A ring for what was asked, a disc for what the device saw, a line where they differ."""
    table = about.tables[0]
    kind = table.columns[1].kind
    names = [str(row.cells["row"]) for row in table.rows]
    found = [value for value in numbers(table.rows, "asked", "device") if value > 0]
    low, high = padded(min(found), max(found), least=0.4)
    step = 2 if math.log2(high / low) <= 9 else 8
    start, end = math.floor(math.log(low, step)), math.ceil(math.log(high, step))
    ticks = [value for value in (float(step) ** at for at in range(start, end + 1)) if low <= value <= high]
    labels = {value: cell_text(kind, value) for value in ticks}
    axis = {"values": ticks, "label": labels.__getitem__, "title": about.x.title, "grid": True, "orient": "top"}
    x = quantitative("x", {"type": "log", "domain": [low, high]}, axis)
    y = rows_axis(names)
    rows = [
        {
            "y": at,
            "x": max(low, number(row.cells["asked"]) or low),
            "x2": max(low, number(row.cells["device"]) or low),
            "tip": tip(table, row, "row"),
        }
        for at, row in enumerate(table.rows)
    ]
    seen = [{**row, "x": row["x2"]} for row in rows]
    hit = [{"x": low, "x2": high, "y": row["y"], "tip": row["tip"]} for row in rows]
    between: Spec = {"x": x, "x2": {"field": "x2"}, "y": y}
    layers = [
        layer("rule", rows, between, color=theme.tail, strokeWidth=2, opacity=0.6),
        layer("point", rows, {"x": x, "y": y}, color=theme.ink, size=90, strokeWidth=1.6),
        layer("circle", seen, {"x": x, "y": y}, color=theme.tail, size=44, opacity=1),
        layer({"type": "bar", "height": ROW_HEIGHT - 2}, hit, between, silent=False, opacity=0),
    ]
    return chart(width, ROW_HEIGHT * len(rows) + 12, layers)
