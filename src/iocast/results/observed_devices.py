"""What iostat, sar and the like saw of each device of an imported run becomes a result: means over its intervals."""

from __future__ import annotations

import math
import re
from statistics import fmean
from typing import Any

from msgspec.structs import replace

from iocast import metrics
from iocast.diagnose.limits.device_queue import queue_verdict
from iocast.model.results.layers import DeviceRow
from iocast.model.run import Run

OBSERVERS = (
    "iostat",
    "sar",
    "dstat",
    "collectl",
    "diskstats_series",
    "queue_table",
)  # whose samples are rates and means of an interval, not raw counters

# A mean over intervals is one over I/Os only when each interval counts as often as it had I/Os.
WEIGHTS = {
    metrics.READ_AWAIT_NS: metrics.READS_PER_S,
    metrics.READ_SIZE_BYTES: metrics.READS_PER_S,
    metrics.WRITE_AWAIT_NS: metrics.WRITES_PER_S,
    metrics.WRITE_SIZE_BYTES: metrics.WRITES_PER_S,
    metrics.FLUSH_AWAIT_NS: metrics.FLUSHES_PER_S,
    metrics.AWAIT_NS: metrics.IOS_PER_S,
    metrics.SIZE_BYTES: metrics.IOS_PER_S,
}
_NUMBER = re.compile(r"\s*#\d+$")

Series = dict[str, dict[str, list[float]]]


def observed_devices(run: Run) -> tuple[DeviceRow, ...]:
    """The devices of an imported observation; those that state what was requested have a verdict beside the queue."""
    if run.source is None:
        return ()
    rows = [_row(device, series) for device, series in device_series(run).items()]
    queues = {row.device: row.queue_mean or 0.0 for row in rows if row.asked_depth is not None}
    raw = [queue for device, queue in queues.items() if device.startswith("/dev/")]
    control = max(raw or list(queues.values()), default=0.0)
    return tuple(_judged(row, control) for row in rows)


def device_series(run: Run) -> Series:
    """The values of each device; those of several machines have their names."""
    series: Series = {}
    for record in run.phases:
        machine = _NUMBER.sub("", record.phase.name.removeprefix(record.phase.test)).strip()
        for sample in record.samples:
            if sample.observer in OBSERVERS:
                device = f"{machine} {sample.subject}".strip()
                series.setdefault(device, {}).setdefault(sample.metric, []).append(sample.value)
    return series


def _row(device: str, series: dict[str, list[float]]) -> DeviceRow:
    mean = {metric: _mean(series, metric) for metric in series if metric in DeviceRow.__struct_fields__}
    known: dict[str, Any] = {metric: value for metric, value in mean.items() if not math.isnan(value)}
    most = max(series.get(metrics.QUEUE_MEAN, ()), default=None)
    return DeviceRow(device=device, intervals=max(map(len, series.values())), queue_most=most, **known)


def _judged(row: DeviceRow, control: float) -> DeviceRow:
    if row.asked_depth is None:
        return row
    return replace(row, verdict=queue_verdict(row.queue_mean or 0.0, row.asked_depth, control))


def _mean(series: dict[str, list[float]], metric: str) -> float:
    """The mean over intervals, or over I/Os where it is a mean of I/Os; nan when there were none."""
    values, weights = series[metric], series.get(WEIGHTS.get(metric, ""), [])
    if metric not in WEIGHTS:
        return fmean(values)
    if len(weights) != len(values):
        return math.nan if not any(values) else fmean(values)
    total = math.fsum(weights)
    return math.fsum(a * b for a, b in zip(values, weights, strict=True)) / total if total else math.nan
