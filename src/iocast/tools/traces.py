"""Reads traces (files, folders, patterns) into one Parquet file of events, and reports what became of every line."""

from __future__ import annotations

import contextlib
import glob
import os

import msgspec
from msgspec import Struct

from iocast.errors import SourceError
from iocast.model.profiling.profile import TableFile
from iocast.tools.source_files import read_head
from iocast.tools.summaries import refused_summary

STDIN = "-"


class Reject(Struct, frozen=True):
    """A line that breaks a rule; of a binary file a record, whose column is the byte of the file."""

    line: int
    column: int
    rule: str


class TraceFile(TableFile, frozen=True):
    """The reading of one file: accepted, ignored and rejected lines add up to its lines."""

    first_rejects: tuple[Reject, ...]
    bytes: int

    def lines_accounted(self) -> int:
        """Accepted, ignored and rejected together."""
        return self.accepted + sum(self.ignored.values()) + sum(self.rejected.values())


class TraceReport(Struct, frozen=True):
    """The reading of all files of a table."""

    files: tuple[TraceFile, ...]
    events: int
    clock: str | None
    epoch_ns: int | None
    tick_ns: int | None
    targets: tuple[str, ...]
    actors: tuple[str, ...]
    calls: int | None = None


class Columns(Struct, frozen=True, omit_defaults=True):
    """Which field of a table of text is what; fields count from 0, units are those of docs/guide/traces.md."""

    fields_at_least: int
    fields_at_most: int
    time: tuple[int, str] | None
    offset: tuple[int, int]
    size: tuple[int, int]
    op: tuple[int, str]
    separator: str = msgspec.field(default="comma")
    unix: bool = False
    target: tuple[int, int] | None = None
    latency: tuple[int, str] | None = None
    heading: str | None = None


class TraceOptions(Struct, frozen=True, omit_defaults=True):
    """What the person who has a trace knows of it and the trace does not say."""

    format: str | None = None
    block_size_bytes: int | None = None
    block_size_bytes_of_files: dict[int, int] = {}
    oracle_release: str | None = None
    latency_unit: str | None = None
    columns: Columns | None = None


def read_traces(
    sources: tuple[str, ...], to: str, options: TraceOptions | None = None, *, calls_to: str | None = None
) -> TraceReport:
    """Write the events of all traces to the Parquet file `to`. Raises SourceError; a new file is then gone.

    `to` is a new file of a private folder, or the path of a descriptor: who made the file gives it its name.

    A source is a file, a folder (all of its files), a pattern such as `sdb.blktrace.*`, or "-" for the standard
    input. The calls and waits of Oracle's traces go to the Parquet file `calls_to`, where one is named.
    """
    from iocast._core import CoreError
    from iocast._core import read_traces as read_in_core

    if calls_to is not None and os.path.abspath(calls_to) == os.path.abspath(to):
        raise SourceError(f"{to}: events and calls are two tables", "name another file for the calls")
    paths = [path for source in sources for path in _files(source)]
    new = [path for path in (to, calls_to) if path is not None and not os.path.lexists(path)]
    try:
        report = read_in_core(list(dict.fromkeys(paths)), _json(options or TraceOptions()), to, calls_to)
    except CoreError as refusal:
        for path in filter(os.path.isfile, new):
            os.unlink(path)
        message, hint, _ = refusal.args
        raise _summary(paths) or SourceError(message, hint) from refusal
    return msgspec.json.decode(report, type=TraceReport)


def _summary(paths: list[str]) -> SourceError | None:
    """The refusal of the first file that is no trace, but the summary of a tool; None where there is none."""
    for path in paths:
        with contextlib.suppress(SourceError):
            if path != STDIN and (refusal := refused_summary(path, read_head(path))):
                return refusal
    return None


def _json(options: TraceOptions) -> str:
    data = msgspec.to_builtins(options)
    if options.columns is not None:
        data["columns"]["separator"] = options.columns.separator  # the core wants it said
    return msgspec.json.encode(data).decode()


def _files(source: str) -> list[str]:
    """The files of a source, in order. Raises SourceError when there is none."""
    if source == STDIN:
        return [source]
    if os.path.isdir(source):
        paths = sorted(os.path.join(source, name) for name in os.listdir(source))
    elif os.path.exists(source):
        return [source]
    else:
        paths = sorted(glob.glob(source))
    files = [path for path in paths if os.path.isfile(path)]
    if not files:
        why = "no file in it" if os.path.isdir(source) else "no such file"
        raise SourceError(f"{source}: {why}", "give a trace, a folder of traces or a pattern")
    return files
