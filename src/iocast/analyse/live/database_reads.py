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
    data = [view for subject, view in views.items() if subject.split("|")[1:2] == ["relation"]]
    known = [view for view in data if view.delta("read_bytes") is not None and view.delta("read_time_ns") is not None]
    if not known:
        return None
    return LayerTime(
        layer="database",
        count=sum(view.delta("reads") or 0 for view in known),
        sum_ns=sum(view.delta("read_time_ns") or 0 for view in known),
        bytes=sum(view.delta("read_bytes") or 0 for view in known),
    )
