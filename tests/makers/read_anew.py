"""Traces read into the same table again: the core writes into nothing that is there already."""

from __future__ import annotations

from pathlib import Path

from iocast.tools.traces import TraceOptions, TraceReport, read_traces


def read_anew(
    sources: tuple[str, ...], to: str, options: TraceOptions | None = None, *, calls_to: str | None = None
) -> TraceReport:
    """`read_traces` in place of the tables of the reading before."""
    for table in filter(None, (to, calls_to)):
        Path(table).unlink(missing_ok=True)
    return read_traces(sources, to, options, calls_to=calls_to)
