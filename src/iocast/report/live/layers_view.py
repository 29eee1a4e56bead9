"""The first screen of `iocast top`: where the time goes, layer by layer, from the database down to the disks."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from iocast import metrics
from iocast.analyse.live.event_rows import EventRow, event_rows
from iocast.analyse.live.instance_rates import FigureCode, InstanceFigure, instance_rates
from iocast.analyse.live.latency_columns import grid_of
from iocast.analyse.live.layer_rows import layer_rows
from iocast.analyse.live.session_shares import activity, watched_databases
from iocast.analyse.live.traced import Traced, traced
from iocast.model.live.moment import Interval
from iocast.report.live.activity_panes import activity_panes
from iocast.report.live.device_lines import device_lines, processor_lines
from iocast.report.live.latency.histogram_choice import label
from iocast.report.live.latency.latency_cells import BOUNDS_NS, CELL, latency_bounds, latency_cells, latency_heads
from iocast.report.live.layer_table import layer_table
from iocast.report.live.styled_lines import Line, Piece, cut, line
from iocast.report.live.verdict_lines import verdict_lines
from iocast.text import brief_throughput, brief_time, counted, percent

_OF_THE_MACHINE = (metrics.DISKSTATS, metrics.CPU, metrics.BLOCK_LAYER, metrics.SYSTEM_CALLS)
_MOST: Final = 8
_NARROW, _NAME, _FIGURES = 26, 40, 8 + 9


def overview(interval: Interval, texts: Mapping[str, str], width: int) -> Iterator[Line]:
    """All panels, one below the other; each line fits the width."""
    for panel in _panels(interval, texts, width):
        yield cut(panel, width)


def _panels(interval: Interval, texts: Mapping[str, str], width: int) -> Iterator[Line]:
    yield line(_when(interval), "dim")
    if any(observer in interval.observers for observer in _OF_THE_MACHINE):
        yield from _machine(interval, width)
    if events := event_rows(interval):
        yield ()
        yield from event_table(events, width)
    for database in watched_databases(interval):
        yield ()
        yield from instance_lines(database, instance_rates(interval, database), width)
        database_activity = activity(interval, database)
        if database_activity is not None:
            yield from activity_panes(database_activity, texts, width)


def _machine(interval: Interval, width: int) -> Iterator[Line]:
    """The verdict, devices and layers; a tape of a database or of latency records alone has none of them."""
    yield from verdict_lines(interval, width)
    yield from processor_lines(interval, width)
    yield ()
    yield from device_lines(interval, width)
    yield ()
    trace = traced(interval.views(metrics.KERNEL_LAYERS).get(""))
    yield from layer_table(layer_rows(interval), width, 1.0 if trace is None or trace.whole else trace.share)
    yield from _trace_lines(trace, width)


def _trace_lines(trace: Traced | None, width: int) -> Iterator[Line]:
    """That layers were watched in windows, and what was lost; nothing where all was seen."""
    if trace is None or trace.whole:
        return
    if trace.lost_events:
        yield line(f"The trace lost {counted(trace.lost_events, 'record')}: counts of the layers are too low.", "warn")
    else:
        said = f"Traced {percent(trace.share)} of the time, in windows: rates follow the devices' own counters."
        said += " Within: how far a mean may be off."
        yield from (line(each, "dim") for each in textwrap.wrap(said, width))


def _when(interval: Interval) -> str:
    clock = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(interval.after.time_ns / 1e9))
    return f"{clock}, {interval.elapsed_ns / 1e9:.1f} s"


def event_table(rows: Sequence[EventRow], width: int) -> Iterator[Line]:
    """The events that took most time, as many columns of latencies as fit; nothing without events."""
    shown = rows[:_MOST]
    known = [row.times for row in shown if row.times is not None]
    if not shown:
        return
    grid = grid_of((upper for each in known for upper in each.counts), BOUNDS_NS)
    room = _NARROW if width < 120 else _NAME
    columns = max(1, (width - room - _FIGURES) // CELL - 1)
    bounds = latency_bounds(known, columns, grid) if any(each.counts for each in known) else ()
    yield line(f"{'event':<{room}}{'/s':>8}{'mean':>9}{latency_heads(bounds) if bounds else ''}", "head")
    for row in shown:
        name = label((row.observer, row.subject))
        if row.times is None or row.per_s is None:
            yield line(f"{name:<{room}.{room}}{'unknown: its counters began anew':>{CELL * 6}}", "dim")
            continue
        mean = row.times.mean_ns
        figures = f"{name:<{room}.{room}}{row.per_s:>8.0f}{'' if mean is None else brief_time(mean):>9}"
        yield (Piece(figures), *(latency_cells(row.times, bounds) if bounds else ()))
    if more := len(rows) - len(shown):
        yield line(f"{more} more with less time", "dim")


_NAMES: dict[FigureCode, str] = {
    "commits": "commits/s",
    "rollbacks": "rollbacks/s",
    "statements": "statements/s",
    "calls": "calls/s",
    "soft_parses": "soft parses/s",
    "hard_parses": "hard parses/s",
    "cursor_hits": "cursor cache hits/s",
    "blocks_read": "blocks read/s",
    "blocks_hit": "buffer hits/s",
    "wait_a_block": "wait a block",
    "logical_reads": "logical reads/s",
    "reads": "physical reads/s",
    "read_bytes": "read",
    "writes": "physical writes/s",
    "written_bytes": "written",
    "log_bytes": "log",
    "log_syncs": "log syncs/s",
    "log_sync": "log sync",
}
_GAP = "   "


def instance_lines(database: str, figures: Sequence[InstanceFigure], width: int) -> Iterator[Line]:
    """As many figures a line as fit."""
    shown = f"{database}:"
    for figure in figures:
        if figure.value is None:
            continue
        text = f"{_value(figure)} {_NAMES[figure.code]}"
        if len(shown) + len(_GAP) + len(text) > width:
            yield line(shown, "strong")
            shown = " " * len(f"{database}:")
        shown += _GAP + text
    yield line(shown, "strong")


def _value(figure: InstanceFigure) -> str:
    value = figure.value or 0.0
    if figure.code in ("wait_a_block", "log_sync"):
        return brief_time(value)
    if figure.code in ("read_bytes", "written_bytes", "log_bytes"):
        return brief_throughput(value)
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"
