"""An interval of a live watch as one JSON object: the verdict, devices, layers, what sessions did."""

from __future__ import annotations

import msgspec

from iocast.analyse.live.layer_rows import LayerRow, layer_rows
from iocast.analyse.live.session_shares import activity, watched_databases
from iocast.model.live.moment import Interval
from iocast.model.results.live import LiveDatabase, LiveInterval, LiveLayer, LiveVerdict
from iocast.report.live import iostat_lines
from iocast.report.live.verdict_lines import verdict_of
from iocast.text import harmless_json


def interval_json(interval: Interval) -> str:
    """Raw values, each with its unit in the name of its key; unknown ones are null."""
    verdict = verdict_of(interval)
    devices = iostat_lines.table(interval)
    document = LiveInterval(
        time_ns=interval.after.time_ns,
        elapsed_ns=interval.elapsed_ns,
        verdict=LiveVerdict(code=verdict.code, says=verdict.says, lost_share=verdict.lost_share),
        devices=tuple(dict(zip(devices.columns, row, strict=True)) for row in devices.rows),
        layers=tuple(map(_layer, layer_rows(interval))),
        databases={name: _database(interval, name) for name in watched_databases(interval)},
    )
    return harmless_json(msgspec.json.encode(document).decode())


def _layer(row: LayerRow) -> LiveLayer:
    return LiveLayer(
        layer=row.layer,
        operation=row.op,
        device=row.where,
        per_s=row.per_s,
        bytes_per_s=row.bytes_per_s,
        mean_ns=row.times.mean_ns,
        below_ns=dict(row.times.counts),
    )


def _database(interval: Interval, name: str) -> LiveDatabase | None:
    database_activity = activity(interval, name)
    return None if database_activity is None else msgspec.convert(database_activity, LiveDatabase, from_attributes=True)
