"""Reads of data as a database counts them: one layer, above the system calls."""

from __future__ import annotations

from collections.abc import Mapping

from iocast.analyse.live.layer_times import LayerTime
from iocast.model.view import View

POSTGRESQL_IO = "postgresql.pg_stat_io"


def database_reads(views: Mapping[str, View]) -> LayerTime | None:
    """From the views of `pg_stat_io`; None where they tell no time of an operation.

    Reads of PostgreSQL 18 are operations; before, combined reads are counted as blocks, which is no latency.
    """
    known = [view for view in _of_data(views) if view.delta("read_bytes") is not None]
    return _added_up(known) if known else None


def database_blocks(views: Mapping[str, View]) -> LayerTime | None:
    """What PostgreSQL 16 and 17 count as reads: blocks, of which one call may read several. None for others."""
    known = [view for view in _of_data(views) if view.delta("read_bytes") is None]
    return _added_up(known) if known else None


def _of_data(views: Mapping[str, View]) -> list[View]:
    """Of all contexts (normal, bulkread, vacuum), where times are known."""
    data = [view for subject, view in views.items() if subject.split("|")[1:2] == ["relation"]]
    return [view for view in data if view.delta("read_time_ns") is not None]


def _added_up(known: list[View]) -> LayerTime:
    return LayerTime(
        layer="database",
        count=sum(view.delta("reads") or 0 for view in known),
        sum_ns=sum(view.delta("read_time_ns") or 0 for view in known),
        bytes=sum(view.delta("read_bytes") or 0 for view in known),
    )
