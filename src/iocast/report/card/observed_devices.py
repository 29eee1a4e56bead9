"""What iostat, sar and the like saw of each device of an imported run: a table of means, and what they cannot say."""

from __future__ import annotations

import math
import re
from statistics import fmean

from iocast import metrics, text
from iocast.diagnose.queue_verdict import queue_verdict
from iocast.model.report import Cell, Column, Row, Section, Table
from iocast.model.run import Run, Sample
from iocast.report.wording import section as titled

OBSERVERS = (
    "iostat",
    "sar",
    "dstat",
    "collectl",
    "diskstats_series",
    "queue_table",
)  # whose samples are rates and means of an interval, not raw counters

COLUMNS = (
    Column("device", "device"),
    Column("intervals", "intervals", "count", spare=5),
    Column(metrics.IOS_PER_S, "IOPS", "rate", spare=1),
    Column(metrics.READS_PER_S, "read\nIOPS", "rate"),
    Column(metrics.WRITES_PER_S, "write\nIOPS", "rate"),
    Column(metrics.READ_BYTES_PER_S, "read\nMB/s", "bytes_per_s"),
    Column(metrics.WRITE_BYTES_PER_S, "write\nMB/s", "bytes_per_s"),
    Column(metrics.SIZE_BYTES, "size", "bytes", spare=2),
    Column(metrics.READ_SIZE_BYTES, "read\nsize", "bytes", spare=4),
    Column(metrics.WRITE_SIZE_BYTES, "write\nsize", "bytes", spare=4),
    Column(metrics.AWAIT_NS, "await", "duration"),
    Column(metrics.READ_AWAIT_NS, "read\nawait", "duration"),
    Column(metrics.WRITE_AWAIT_NS, "write\nawait", "duration"),
    Column(metrics.FLUSH_AWAIT_NS, "flush\nawait", "duration", spare=6),
    Column(metrics.ASKED_DEPTH, "requested", "count", "outstanding I/Os"),
    Column(metrics.QUEUE_MEAN, "queue", "decimal", "requests waiting or in service"),
    Column(metrics.TASKS, "tasks", "count", "of the load generator"),
    Column("verdict", "verdict", "code"),
    Column("queue_most", "max\nqueue", "decimal", "the highest mean of one interval", spare=3),
    Column(metrics.UTIL_PERCENT, "%util", "decimal"),
)
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
UTIL_NOTE = (
    "%util is the share of time with at least one outstanding request. A device that serves requests in parallel"
    " (flash, an array) can show 100 and still have headroom: judge saturation by await and queue."
)
LAYER_NOTE = "Partitions, dm and md devices are counted again in the disks below them: do not add up these rows."
MATRIX_NOTE = (
    "Serialised: a quarter of the control's queue or less; the control is the raw device, else the deepest queue."
    " Which file system does so depends on the kernel, and on whether blocks are overwritten or allocated: iocast"
    " experiment dio-matrix PATH measures it here."
)
ALONE_NOTE = "The load is unknown: these are means of intervals, without percentiles and without trust."

RATES = (metrics.IOS_PER_S, metrics.READS_PER_S, metrics.WRITES_PER_S)
MOVED = (metrics.READ_BYTES_PER_S, metrics.WRITE_BYTES_PER_S)
_NUMBER = re.compile(r"\s*#\d+$")

SUM = "all"  # the subject of what collectl and dstat state of all disks together

Series = dict[str, dict[str, list[float]]]


def seen(run: Run) -> tuple[Sample, ...]:
    """The samples of these observers."""
    return tuple(each for record in run.phases for each in record.samples if each.observer in OBSERVERS)


def section(run: Run) -> Section | None:
    """The devices of an imported observation; None when there is none."""
    if run.source is None or not seen(run):
        return None
    rows = tuple(Row(cells) for cells in _judged([_cells(device, series) for device, series in _series(run).items()]))
    columns = tuple(each for each in COLUMNS if any(row.cells.get(each.key) is not None for row in rows))
    notes = [] if run.measured else [*run.source.notes]
    notes += [UTIL_NOTE] if any(metrics.UTIL_PERCENT in row.cells for row in rows) else []
    matrix = any(row.cells.get(metrics.ASKED_DEPTH) is not None for row in rows)
    notes += [LAYER_NOTE] if len(rows) > 1 and not matrix else []
    notes += [MATRIX_NOTE] if matrix else []
    return titled("devices", tables=(Table("", columns, rows, key="devices", notes=(*notes, ALONE_NOTE)),))


def sentence(run: Run) -> str:
    """The busiest device in words: by its I/Os, or by its bytes where only those are stated."""
    every = _series(run)
    if any(metrics.ASKED_DEPTH in series for series in every.values()):
        return _of_matrix(_judged([_cells(device, series) for device, series in every.items()]))
    if not any({*RATES} & {*series} for series in every.values()):
        moved = {device: sum(fmean(series[key]) for key in MOVED if key in series) for device, series in every.items()}
        busiest = _busiest(moved)
        return f"{_who(busiest)} {text.brief_throughput(moved[busiest])} on average."
    rates = {device: _rate(series) for device, series in every.items()}
    busiest = _busiest(rates)
    if not rates[busiest]:
        return "No device did any I/O."
    return f"{_who(busiest)} {text.rate(rates[busiest])} IOPS on average."


def _busiest(figures: dict[str, float]) -> str:
    """The device with the highest figure; the sum over all only where no other is stated."""
    single = [device for device in figures if not _is_sum(device)]
    return max(single or figures, key=lambda device: figures[device])


def _is_sum(device: str) -> bool:
    return device.rpartition(" ")[2] == SUM


def _who(device: str) -> str:
    if not _is_sum(device):
        return f"The busiest device was {device} with"
    machine = device.removesuffix(SUM).strip()
    return f"All devices{f' of {machine}' if machine else ''} together did"


def _judged(rows: list[dict[str, Cell]]) -> list[dict[str, Cell]]:
    """Those that state what was requested, with a verdict beside the queue."""
    queues = {str(row["device"]): _value(row, metrics.QUEUE_MEAN) for row in rows if metrics.ASKED_DEPTH in row}
    raw = [queue for device, queue in queues.items() if device.startswith("/dev/")]
    control = max(raw or list(queues.values()), default=0.0)
    for row in rows:
        if metrics.ASKED_DEPTH in row:
            asked = _value(row, metrics.ASKED_DEPTH)
            row["verdict"] = queue_verdict(_value(row, metrics.QUEUE_MEAN), asked, control)
    return rows


def _value(row: dict[str, Cell], key: str) -> float:
    return float(str(row[key]))


def _of_matrix(rows: list[dict[str, Cell]]) -> str:
    """Who has a queue at the device, in words."""
    stuck = [f"{row['device']}" for row in rows if row.get("verdict") == "serialised"]
    deepest = text.decimal(max(_value(row, metrics.QUEUE_MEAN) for row in rows))
    if not stuck:
        return f"No row is serialised; the deepest queue at a device is {deepest}."
    return f"Serialised: {'; '.join(stuck)}. The deepest queue at a device is {deepest}."


def _series(run: Run) -> Series:
    """The values of each device; those of several machines have their names."""
    found: Series = {}
    for record in run.phases:
        machine = _NUMBER.sub("", record.phase.name.removeprefix(record.phase.test)).strip()
        for sample in record.samples:
            if sample.observer in OBSERVERS:
                device = f"{machine} {sample.subject}".strip()
                found.setdefault(device, {}).setdefault(sample.metric, []).append(sample.value)
    return found


def _rate(series: dict[str, list[float]]) -> float:
    if metrics.IOS_PER_S in series:
        return fmean(series[metrics.IOS_PER_S])
    return sum(fmean(series[key]) for key in (metrics.READS_PER_S, metrics.WRITES_PER_S) if key in series)


def _cells(device: str, series: dict[str, list[float]]) -> dict[str, Cell]:
    mean = {metric: _mean(series, metric) for metric in series}
    cells: dict[str, Cell] = {key: value for key, value in mean.items() if not math.isnan(value)}
    most = max(series.get(metrics.QUEUE_MEAN, ()), default=None)
    return {"device": device, "intervals": max(map(len, series.values())), **cells, "queue_most": most}


def _mean(series: dict[str, list[float]], metric: str) -> float:
    """The mean over intervals, or over I/Os where it is a mean of I/Os; nan when there were none."""
    values, weights = series[metric], series.get(WEIGHTS.get(metric, ""), [])
    if metric not in WEIGHTS:
        return fmean(values)
    if len(weights) != len(values):
        return math.nan if not any(values) else fmean(values)
    total = math.fsum(weights)
    return math.fsum(a * b for a, b in zip(values, weights, strict=True)) / total if total else math.nan
