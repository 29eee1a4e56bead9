"""An interval of a live watch as one JSON object: the verdict, devices, layers, what sessions did."""

from __future__ import annotations

import msgspec

from iocast import metrics
from iocast.analyse.live.layer_rows import LayerRow, layer_rows
from iocast.analyse.live.session_shares import activity, watched_databases
from iocast.analyse.live.traced import traced
from iocast.model.live.moment import Interval
from iocast.model.results.live import LiveDatabase, LiveInterval, LiveLayer, LiveVerdict
from iocast.report.live import iostat_lines
from iocast.report.live.verdict_lines import verdict_of
from iocast.text import harmless_json


def interval_json(interval: Interval) -> str:
    """Raw values, each with its unit in the name of its key; unknown ones are null."""
    verdict = verdict_of(interval)
    devices = iostat_lines.table(interval)
    trace = traced(interval.views(metrics.KERNEL_LAYERS).get(""))
    share = None if trace is None else 1.0 if trace.whole else trace.share
    document = LiveInterval(
        time_ns=interval.after.time_ns,
        elapsed_ns=interval.elapsed_ns,
        traced_share=share,
        lost_events=None if trace is None else trace.lost_events,
        verdict=LiveVerdict(code=verdict.code, says=verdict.says, lost_share=verdict.lost_share),
        devices=tuple(dict(zip(devices.columns, row, strict=True)) for row in devices.rows),
        layers=tuple(_layer(row, share) for row in layer_rows(interval)),
        databases={name: _database(interval, name) for name in watched_databases(interval)},
    )
    return harmless_json(msgspec.json.encode(document).decode())


def _layer(row: LayerRow, traced_share: float | None) -> LiveLayer:
    return LiveLayer(
        layer=row.layer,
        operation=row.op,
        device=row.where,
        per_s=row.per_s,
        bytes_per_s=row.bytes_per_s,
        mean_ns=row.times.mean_ns,
        mean_within=None if traced_share is None else row.times.mean_within(traced_share),
        below_ns=dict(row.times.counts),
    )


def _database(interval: Interval, name: str) -> LiveDatabase | None:
    database_activity = activity(interval, name)
    return None if database_activity is None else msgspec.convert(database_activity, LiveDatabase, from_attributes=True)
