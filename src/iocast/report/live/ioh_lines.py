"""watch ioh: the tables of ioh.sh, for this machine or from a file of its own.

TCP, MB/s, mean, size and count of each layer, their histograms, and the answers to its three questions. Linux counts no
bytes of TCP: those of the interfaces stand in their place, whatever the protocol, and retransmissions are segments.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from iocast.analyse.live.ioh_layers import TCP, ioh_rows, ioh_times
from iocast.analyse.live.latency_columns import ENDLESS_NS, Latencies, on_grid
from iocast.analyse.live.layer_rows import READING, SYNCING, WRITING, LayerRow, layer_rows, together
from iocast.analyse.live.layer_times import layer_times
from iocast.diagnose.live.layer_questions import answers
from iocast.metrics import (
    BYTES,
    COUNT,
    IN_DISCARDS,
    IOH,
    NETWORK,
    RETRANSMITTED,
    RETRANSMITTED_BYTES,
    RX_BYTES,
    SUM_NS,
    TX_BYTES,
)
from iocast.model.live.moment import Interval
from iocast.model.view import View
from iocast.report.live.line_table import Table
from iocast.report.live.verdict_lines import disks

NAME = "ioh"
OBSERVERS = ("block_layer", "system_calls", "network", "ioh")
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
    for each in ioh_rows(interval):
        counted = Latencies(each.view.elapsed_ns, {ENDLESS_NS: each.view.delta(COUNT) or 0}, each.view.delta(SUM_NS))
        yield each.direction, each.name, LayerRow("driver", "", "", counted, each.view.delta(BYTES))
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
    """The date, TCP, the layers, a histogram of each, and what that says."""
    seconds = interval.after.time_ns // 1_000_000_000
    yield f"date: {seconds} , {time.strftime('%d/%m/%Y %H:%M:%S', time.localtime(seconds))}"
    yield from _tcp(interval)
    yield "            |       MB/s|    avg_ms| avg_sz_kb|     count"
    yield _RULE
    layers = list(_layers(interval))
    for direction, name, row in layers:
        throughput, mean, size, per_s = _figures(row)
        cells = f"{_blank(throughput, 10)} |{_blank(mean, 9, 2)} |{_blank(size, 9)} |{per_s:>9.0f}"
        yield f"{direction} |{name:>8}:|{cells}"
    yield ""
    if not interval.views(IOH):
        yield from _histograms(layers)
    times = ioh_times(interval) or layer_times((*interval.before.samples, *interval.after.samples), disks(interval))
    yield from (answer.says for answer in answers(times))
    yield ""


def _histograms(layers: Sequence[tuple[str, str, LayerRow]]) -> Iterator[str]:
    yield f"{'':<12}{''.join(f'{head:>7}' for head in _HEADS)}"
    for direction, name, row in layers:
        counts = "".join(f"{count or '.':>7}" for count in on_grid(row.times, _BOUNDS_NS))
        yield f"{direction} {name:>8}: {counts}"
    yield ""


def _tcp(interval: Interval) -> Iterator[str]:
    """Of the file; else of the interfaces. What is not known is blank."""
    of_file = interval.views(IOH).get(TCP)
    of_machine = {name: view for name, view in interval.views(NETWORK).items() if name != TCP}
    if of_file is None and not of_machine:
        return
    sent, received = (
        _mib_per_s([of_file] if of_file else [*of_machine.values()], each) for each in (TX_BYTES, RX_BYTES)
    )
    tcp = interval.views(NETWORK).get(TCP)
    again = of_file.per_s(RETRANSMITTED_BYTES) if of_file else tcp.per_s(RETRANSMITTED) if tcp else None
    retransmitted = _blank(None if again is None else again / _MIB if of_file else again, 6).strip()
    unit = "MB/s" if of_file else "segments/s"
    dropped = _blank(tcp.per_s(IN_DISCARDS) if tcp else None, 6).strip()
    yield f"TCP out: {sent} MB/s, in: {received} MB/s, retrans: {retransmitted} {unit}, ip discards: {dropped}".rstrip()


def _mib_per_s(views: Sequence[View], metric: str) -> str:
    known = [rate for view in views if (rate := view.per_s(metric)) is not None]
    return _blank(sum(known) / _MIB if known else None, 6)


def _blank(value: float | None, width: int, digits: int = 3) -> str:
    return "".rjust(width) if value is None else f"{value:{width}.{digits}f}"
