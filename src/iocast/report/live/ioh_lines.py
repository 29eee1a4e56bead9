"""watch ioh: the tables of ioh.sh for this machine: MB/s, mean, size and count of each layer, then their histograms."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from iocast.analyse.live.latency_columns import on_grid
from iocast.analyse.live.layer_rows import READING, SYNCING, WRITING, LayerRow, layer_rows, together
from iocast.model.live.moment import Interval
from iocast.report.live.line_table import Table

NAME = "ioh"
OBSERVERS = ("block_layer", "system_calls")
DATABASE = ""
HEADING: tuple[str, ...] = ()

_US, _MIB, _KIB = 1_000, 1 << 20, 1 << 10
_BOUNDS_NS = tuple((1 << power) * _US for power in range(5, 18))  # 32 us to 131 ms
_HEADS = ("32u", "64u", ".1m", ".2m", ".5m", "1m", "2m", "4m", "8m", "16m", "33m", "65m", ".1s", "more")
_COLUMNS = ("direction", "layer", "MB/s", "avg_ms", "avg_sz_kb", "count", *(f"lt_{head}" for head in _HEADS))
_RULE = "------------|-----------|----------|----------|---------------"


def table(interval: Interval) -> Table:
    """One row a layer. MB and kB are of 1024, as ioh has them; counts are per second, histograms of the interval."""
    return Table(
        _COLUMNS,
        tuple(
            (direction, name, *_figures(row), *on_grid(row.times, _BOUNDS_NS))
            for direction, name, row in _layers(interval)
        ),
    )


def _figures(row: LayerRow) -> tuple[float | None, float | None, float | None, float]:
    throughput, mean, size = row.bytes_per_s, row.times.mean_ns, row.mean_size_bytes
    return (
        None if throughput is None else throughput / _MIB,
        None if mean is None else mean / 1e6,
        None if size is None else size / _KIB,
        row.per_s,
    )


def _layers(interval: Interval) -> Iterator[tuple[str, str, LayerRow]]:
    """Reads from the disk up, then writes; calls that sync are a layer of their own, as in ioh."""
    rows = layer_rows(interval)
    for direction, calls in (("R", READING), ("W", WRITING)):
        op = "read" if direction == "R" else "write"
        for name, layer in (("io", "driver"), ("blk", "bio")):
            yield from _one(direction, name, [row for row in rows if row.layer == layer and row.op == op])
        yield from _one(direction, "fs", [row for row in rows if row.layer == "system_call" and row.op in calls])
    yield from _one("W", "fssync", [row for row in rows if row.layer == "system_call" and row.op in SYNCING])


def _one(direction: str, name: str, rows: Sequence[LayerRow]) -> Iterator[tuple[str, str, LayerRow]]:
    times = together([row.times for row in rows])
    if times is not None:
        sizes = [row.size_bytes for row in rows if row.size_bytes is not None]
        yield direction, name, LayerRow(rows[0].layer, rows[0].op, "", times, sum(sizes) if sizes else None)


def lines(interval: Interval) -> Iterator[str]:
    """The date, the layers, and a histogram of each."""
    seconds = interval.after.time_ns // 1_000_000_000
    yield f"date: {seconds} , {time.strftime('%d/%m/%Y %H:%M:%S', time.localtime(seconds))}"
    yield "            |       MB/s|    avg_ms| avg_sz_kb|     count"
    yield _RULE
    layers = list(_layers(interval))
    for direction, name, row in layers:
        throughput, mean, size, per_s = _figures(row)
        cells = f"{_blank(throughput, 10)} |{_blank(mean, 9, 2)} |{_blank(size, 9)} |{per_s:>9.0f}"
        yield f"{direction} |{name:>8}:|{cells}"
    yield ""
    yield f"{'':<12}{''.join(f'{head:>7}' for head in _HEADS)}"
    for direction, name, row in layers:
        counts = "".join(f"{count or '.':>7}" for count in on_grid(row.times, _BOUNDS_NS))
        yield f"{direction} {name:>8}: {counts}"
    yield ""


def _blank(value: float | None, width: int, digits: int = 3) -> str:
    return "".rjust(width) if value is None else f"{value:{width}.{digits}f}"
