"""What iostat, sar and the like saw of each device of an imported run: a table of means, and what they cannot say."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from iocast import metrics, text
from iocast.model.report import Section
from iocast.model.results.layers import DeviceRow
from iocast.model.run import Run
from iocast.report.result_tables import filled, result_table
from iocast.report.wording import section as titled
from iocast.results.observed_devices import device_series

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

SUM = "all"  # the subject of what collectl and dstat state of all disks together


def section(run: Run, rows: Sequence[DeviceRow]) -> Section | None:
    """The devices of an imported observation; None when there is none."""
    if run.source is None or not rows:
        return None
    notes = [] if run.measured else [*run.source.notes]
    notes += [UTIL_NOTE] if any(row.util_percent is not None for row in rows) else []
    matrix = any(row.asked_depth is not None for row in rows)
    notes += [LAYER_NOTE] if len(rows) > 1 and not matrix else []
    notes += [MATRIX_NOTE] if matrix else []
    table = filled(result_table(DeviceRow, rows, key="devices", notes=(*notes, ALONE_NOTE)))
    return titled("devices", tables=(table,))


def sentence(run: Run, rows: Sequence[DeviceRow]) -> str:
    """The busiest device in words: by its I/Os, or by its bytes where only those are stated."""
    if any(row.asked_depth is not None for row in rows):
        return _of_matrix(rows)
    every = device_series(run)
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


def _of_matrix(rows: Sequence[DeviceRow]) -> str:
    """Who has a queue at the device, in words."""
    stuck = [row.device for row in rows if row.verdict == "serialised"]
    deepest = text.decimal(max(row.queue_mean or 0.0 for row in rows))
    if not stuck:
        return f"No row is serialised; the deepest queue at a device is {deepest}."
    return f"Serialised: {'; '.join(stuck)}. The deepest queue at a device is {deepest}."


def _rate(series: dict[str, list[float]]) -> float:
    if metrics.IOS_PER_S in series:
        return fmean(series[metrics.IOS_PER_S])
    return sum(fmean(series[key]) for key in (metrics.READS_PER_S, metrics.WRITES_PER_S) if key in series)
