"""watch sysmetric: the rates of Oracle itself, of the last minute, as sysmetric.sql prints them: a row a metric."""

from __future__ import annotations

from collections.abc import Iterator

from iocast.analyse.live.system_metrics import MetricRow, metric_rows
from iocast.model.live.moment import Interval
from iocast.model.live.readings import Readings
from iocast.report.live.database_modes.under_a_clock import clock
from iocast.report.live.line_table import Table

NAME = "sysmetric"
DATABASE = "oracle"
OBSERVERS = ("oracle.sysmetric",)
HEADING: tuple[str, ...] = ()
COLUMNS = ("metric", "unit", "instance", "value", "note")

NO_LATENCY = "async, not a latency"
_NAME_WIDTH = 72
_WIDTH = 12


def table(readings: Readings) -> Table:
    """A row a metric and instance, unscaled; the window is a minute of the server (group 2)."""
    rows = [
        (each.metric.name, each.metric.unit, instance, value, _note(each) or None)
        for each in metric_rows(readings)
        for instance, value in each.by_instance.items()
    ]
    return Table(COLUMNS, tuple(rows))


def _note(row: MetricRow) -> str:
    """Oracle's mean of synchronous reads climbs without end while the reads are asynchronous."""
    return NO_LATENCY if row.metric.latency else ""


def lines(interval: Interval) -> Iterator[str]:
    """The minute in front of each metric, then the figure of each instance and of all together."""
    rows = metric_rows(interval)
    if not rows:
        yield "(no sample of Oracle's metrics in this interval)"
        return
    instances = list(dict.fromkeys(instance for row in rows for instance in row.by_instance))
    heads = "".join(f"inst {instance}".rjust(_WIDTH) for instance in instances)
    yield f"{'Time+Delta':<14}{'Metric':<{_NAME_WIDTH}}{heads}{'Total':>{_WIDTH}}"
    at = clock(interval)
    for row in rows:
        cells = "".join(_shown(row.by_instance.get(instance)).rjust(_WIDTH) for instance in instances)
        name = f"{row.metric.name} - {row.metric.unit}"
        note = f"  ({_note(row)})" if _note(row) else ""
        yield f"{at} /60s {name:<{_NAME_WIDTH}}{cells}{_shown(row.total):>{_WIDTH}}{note}".rstrip()
    yield ""


def _shown(value: float | None) -> str:
    """As sysmetric.sql scales: above ten million in M, above ten thousand in K of 1024, from 10 to 1024 whole."""
    if value is None:
        return ""
    if value >= 10_000_000:
        return f"* {value / (1 << 20):.0f} M"
    if value >= 10_000:
        return f"+ {value / (1 << 10):.0f} K"
    if 10 <= value <= 1024:
        return f"{value:.0f}"
    return f"{value:.1f}".removesuffix(".0")
