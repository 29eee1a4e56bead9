"""What iostat or sar saw of each device, of a run that was imported: a table of means, and what they cannot say."""

from __future__ import annotations

import math
from statistics import fmean

from iocast import text
from iocast.model.report import Cell, Column, Row, Section, Table
from iocast.model.run import Run, Sample
from iocast.report.wording import section as titled

OBSERVERS = ("iostat", "sar")  # whose samples are rates and means of an interval, not raw counters

COLUMNS = (
    Column("device", "device"),
    Column("intervals", "intervals", "count", spare=5),
    Column("ios_per_s", "IOPS", "rate", spare=1),
    Column("reads_per_s", "read\nIOPS", "rate"),
    Column("writes_per_s", "write\nIOPS", "rate"),
    Column("read_bytes_per_s", "read\nMB/s", "bytes_per_s"),
    Column("write_bytes_per_s", "write\nMB/s", "bytes_per_s"),
    Column("size_bytes", "size", "bytes", spare=2),
    Column("read_size_bytes", "read\nsize", "bytes", spare=4),
    Column("write_size_bytes", "write\nsize", "bytes", spare=4),
    Column("await_ns", "await", "duration"),
    Column("read_await_ns", "read\nawait", "duration"),
    Column("write_await_ns", "write\nawait", "duration"),
    Column("flush_await_ns", "flush\nawait", "duration", spare=6),
    Column("queue_mean", "queue", "decimal", "requests waiting or in service"),
    Column("queue_most", "max\nqueue", "decimal", "the highest mean of one interval", spare=3),
    Column("util_percent", "%util", "decimal"),
)
# A mean over intervals is one over I/Os only when each interval counts as often as it had I/Os.
WEIGHTS = {
    "read_await_ns": "reads_per_s",
    "read_size_bytes": "reads_per_s",
    "write_await_ns": "writes_per_s",
    "write_size_bytes": "writes_per_s",
    "flush_await_ns": "flushes_per_s",
    "await_ns": "ios_per_s",
    "size_bytes": "ios_per_s",
}
UTIL_NOTE = (
    "%util is the share of time with at least one outstanding request. A device that serves requests in parallel"
    " (flash, an array) can show 100 and still have headroom: judge saturation by await and queue."
)
LAYER_NOTE = "Partitions, dm and md devices are counted again in the disks below them: do not add up these rows."
ALONE_NOTE = "The load is unknown: these are means of intervals, without percentiles and without trust."

Series = dict[str, dict[str, list[float]]]


def seen(run: Run) -> tuple[Sample, ...]:
    """The samples of iostat or sar."""
    return tuple(each for record in run.phases for each in record.samples if each.observer in OBSERVERS)


def section(run: Run) -> Section | None:
    """The devices of an imported observation; None when there is none."""
    if run.source is None or not seen(run):
        return None
    rows = tuple(Row(_cells(device, metrics)) for device, metrics in _series(run).items())
    columns = tuple(each for each in COLUMNS if any(row.cells.get(each.key) is not None for row in rows))
    notes = [] if run.measured else [*run.source.notes]
    notes += [UTIL_NOTE] if any("util_percent" in row.cells for row in rows) else []
    notes += [LAYER_NOTE] if len(rows) > 1 else []
    return titled("devices", tables=(Table("", columns, rows, key="devices", notes=(*notes, ALONE_NOTE)),))


def sentence(run: Run) -> str:
    """The busiest device in words."""
    rates = {device: _rate(metrics) for device, metrics in _series(run).items()}
    busiest = max(rates, key=lambda device: rates[device])
    if not rates[busiest]:
        return "No device did any I/O."
    return f"The busiest device was {busiest} with {text.rate(rates[busiest])} IOPS on average."


def _series(run: Run) -> Series:
    found: Series = {}
    for sample in seen(run):
        found.setdefault(sample.subject, {}).setdefault(sample.metric, []).append(sample.value)
    return found


def _rate(metrics: dict[str, list[float]]) -> float:
    if "ios_per_s" in metrics:
        return fmean(metrics["ios_per_s"])
    return sum(fmean(metrics[key]) for key in ("reads_per_s", "writes_per_s") if key in metrics)


def _cells(device: str, metrics: dict[str, list[float]]) -> dict[str, Cell]:
    means = {metric: _mean(metrics, metric) for metric in metrics}
    cells: dict[str, Cell] = {key: value for key, value in means.items() if not math.isnan(value)}
    most = max(metrics.get("queue_mean", ()), default=None)
    return {"device": device, "intervals": max(map(len, metrics.values())), **cells, "queue_most": most}


def _mean(metrics: dict[str, list[float]], metric: str) -> float:
    """The mean over intervals, or over I/Os where it is a mean of I/Os; nan when there were none."""
    values, weights = metrics[metric], metrics.get(WEIGHTS.get(metric, ""), [])
    if metric not in WEIGHTS:
        return fmean(values)
    if len(weights) != len(values):
        return math.nan if not any(values) else fmean(values)
    total = math.fsum(weights)
    return math.fsum(a * b for a, b in zip(values, weights, strict=True)) / total if total else math.nan
