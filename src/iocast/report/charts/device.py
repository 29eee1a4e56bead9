"""Requests at the device against the I/Os submitted: their size and queue depth."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated

from msgspec import Struct

from iocast import text
from iocast.analyse.device_io import DeviceIo
from iocast.model.report import Chart
from iocast.model.results.shown import shown
from iocast.model.run import PhaseRecord
from iocast.model.workload import Op
from iocast.report.charts.place import Place
from iocast.report.charts.subjects import ExaminedRun
from iocast.report.plot.axes import ROW_HEIGHT, Axis, Scale, padded, rows_axis
from iocast.report.plot.marks import Box, Dots, Plot, Point, Rings, Rules, unseen_rows
from iocast.report.plot.theme import Theme
from iocast.report.result_tables import tip
from iocast.results.measured_rows import row_name

PLACE = Place("device")
SAME = 1.1  # within a tenth


class SizesAtDevice(Struct, frozen=True):
    """The mean size of the I/Os of a row, and of the requests that the device saw."""

    row: Annotated[str, shown("row")]
    asked_bytes: Annotated[float, shown("submitted", "bytes")]
    device_bytes: Annotated[float, shown("at the device", "bytes")]

    @property
    def both(self) -> tuple[float, float]:
        """What was submitted, and what the device saw."""
        return self.asked_bytes, self.device_bytes


class QueueAtDevice(Struct, frozen=True):
    """The outstanding I/Os of a row, and those that the device saw."""

    row: Annotated[str, shown("row")]
    requested: Annotated[float, shown("submitted", "decimal")]
    device: Annotated[float, shown("at the device", "decimal")]

    @property
    def both(self) -> tuple[float, float]:
        """What was submitted, and what the device saw."""
        return self.requested, self.device


class Device(Chart, frozen=True, kw_only=True):
    """Rows of which something is known at the device."""

    kind: str = "device"
    rows: tuple[SizesAtDevice, ...] | tuple[QueueAtDevice, ...]


def tell(about: ExaminedRun) -> Iterator[Device]:
    """A chart of sizes, and one of queue depths, each where the device saw something else on some row."""
    rows = [(row.record, io) for row in about.facts.rows if (io := row.under_filesystem) is not None]
    yield from _chart("device-sizes", "Request size", tuple(row for record, io in rows for row in _sizes(record, io)))
    queues = tuple(
        QueueAtDevice(record.phase.name, float(record.measurement.asked_depth), io.queue_mean)
        for record, io in rows
        if io.queue_mean is not None
    )
    yield from _chart("device-queue", "Outstanding I/Os", queues)


def _sizes(record: PhaseRecord, io: DeviceIo) -> Iterator[SizesAtDevice]:
    sizes: tuple[tuple[Op, float | None], ...] = (("read", io.read_size_bytes), ("write", io.write_size_bytes))
    for op, sizes_at_device in sizes:
        parts = [part for part in record.measurement.classes if part.op == op and part.ios]
        if parts and sizes_at_device:
            name = row_name(record, op, several=len({part.op for part in record.measurement.classes}) > 1)
            yield SizesAtDevice(
                name, sum(part.bytes for part in parts) / sum(part.ios for part in parts), sizes_at_device
            )


def _chart(key: str, title: str, rows: tuple[SizesAtDevice, ...] | tuple[QueueAtDevice, ...]) -> Iterator[Device]:
    other = [row.row for row in rows if not _same(*row.both)]
    if not other:
        return
    names = ", ".join(other[:3]) + (" and others" if len(other) > 3 else "")
    yield Device(
        key=key,
        title=f"{title}: submitted and at the device",
        summary=f"On {len(other)} of {len(rows)} rows the device saw something other than was submitted: {names}.",
        rows=rows,
    )


def _same(asked_size: float, device_size: float) -> bool:
    return bool(asked_size and device_size) and max(asked_size / device_size, device_size / asked_size) <= SAME


def draw(chart: Device, theme: Theme, width: int) -> Plot:
    """A ring for what was asked, a disc for what the device saw, a line where they differ."""
    rows: tuple[SizesAtDevice | QueueAtDevice, ...] = chart.rows
    sized = isinstance(rows[0], SizesAtDevice)
    sizes = [value for row in rows for value in row.both if value > 0]
    low, high = padded(min(sizes), max(sizes), least=0.4)
    step = 2 if math.log2(high / low) <= 9 else 8
    start, end = math.floor(math.log(low, step)), math.ceil(math.log(high, step))
    x = Axis(
        Scale(low, high, log=True),
        "size" if sized else "outstanding I/Os",
        text.size if sized else text.decimal,
        [value for value in (float(step) ** at for at in range(start, end + 1)) if low <= value <= high],
        top=True,
    )
    places = [(at, *(max(low, each or low) for each in row.both)) for at, row in enumerate(rows)]
    marks = (
        Rules(
            [Box(asked_size, at, device_size, at) for at, asked_size, device_size in places],
            2,
            colour=theme.tail,
            opacity=0.6,
        ),
        Rings([Point(asked_size, at) for at, asked_size, _ in places], 90, 1.6, colour=theme.ink),
        Dots([Point(device_size, at) for at, _, device_size in places], 44, colour=theme.tail, opacity=1),
        unseen_rows(low, high, ROW_HEIGHT - 2, [tip(row, "row") for row in rows]),
    )
    return Plot(width, ROW_HEIGHT * len(rows) + 12, x, rows_axis([row.row for row in rows]), marks)
