"""profile: traces are read into a table of events, and the table into a profile, which is kept with it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from iocast.archive import profile_folder
from iocast.archive.file_names import CALLS_FILE, EVENTS_FILE
from iocast.archive.writing.held_folder import HeldFolder
from iocast.archive.writing.private_rooms import temporary_room
from iocast.archive.writing.proofs import sign
from iocast.archive.writing.whole_files import PRIVATE, growing, told_by_name
from iocast.errors import SpecError
from iocast.model.anonymity.name_kinds import pseudonym
from iocast.model.profiling.profile import Profile
from iocast.model.report import Report
from iocast.sessions.anonymous.anonymous_copies import profile_without_names
from iocast.sessions.in_notebook import InNotebook
from iocast.sessions.requests.profile import ProfileRequest
from iocast.sessions.requests.run_options import option_value
from iocast.tools.traces import TraceOptions
from iocast.units import parse_size

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

    from iocast.analyse.profiling.response_accounting import ResponseAccounting

AUTOMATIC = 0  # the page size that is most frequent


class _Reading(Struct, frozen=True):
    """How traces are read and blocks are cut: `reference_bytes` None takes each request as one."""

    options: TraceOptions
    reference_bytes: int | None
    cache_bytes: tuple[int, ...]


class Profiled(Struct, InNotebook, frozen=True):
    """A profile and where it is kept; `folder` is "" for one whose folder is unknown. `anonymous`: in the report that
    has no folders above it."""

    profile: Profile
    folder: str
    anonymous: bool = False

    def report(self, *, charts: bool = False) -> Report:
        """The workload in a paragraph, and the tables behind it."""
        from iocast.report.profile.profile_report import profile_report

        shown = os.path.basename(self.folder) if self.anonymous else self.folder
        return profile_report(self.profile, shown, self.accounting(), charts=charts)

    def accounting(self) -> ResponseAccounting | None:
        """What the response time of traced sessions is made of; None where the folder has no calls of a database."""
        from iocast.analyse.profiling.response_accounting import response_accounting

        calls = Path(self.folder) / CALLS_FILE
        if not self.folder or not calls.is_file():
            return None
        with temporary_room("iocast-calls-") as room:
            return response_accounting(str(calls), room.place)

    @property
    def description(self) -> str:
        """The workload in a paragraph."""
        from iocast.report.profile.profile_sentences import description

        return description(self.profile)

    def events(self) -> DuckDBPyRelation:
        """The table of events, read when it is asked for: SQL, `.fetchnumpy()`, `.pl()`, `.df()`, `.to_arrow_table()`.

        The last three need Polars, pandas and pyarrow; the relation itself is an Arrow stream (`__arrow_c_stream__`).
        """
        from iocast.archive.parquet import relation_of

        return relation_of(profile_folder.events_of(self.folder))


def profile_traces(request: ProfileRequest) -> Profiled:
    """Reads traces and profiles them; a profile that is there already is only opened. Raises IocastError."""
    reading = _reading(request)
    (first, *others) = request.traces
    if not others and profile_folder.is_profile(first):
        return _opened(first, request)
    if mixed := [path for path in request.traces if profile_folder.is_profile(path)]:
        raise SpecError(f"{mixed[0]} is a profile and no trace", "compare profiles with `iocast compare A B`")
    return _profiled(request, reading)


def open_profile(path: str) -> Profiled:
    """The profile of a folder. Raises ArchiveError."""
    folder = path if os.path.isdir(path) else os.path.dirname(path) or "."
    return Profiled(profile_folder.load(path), folder)


def _opened(path: str, request: ProfileRequest) -> Profiled:
    """A profile that is there; with names to hide it becomes another one. Raises ArchiveError."""
    if request.names is None:
        return open_profile(path)
    return replace(open_profile(profile_without_names(path, request.out, request.names)), anonymous=True)


def _profiled(request: ProfileRequest, reading: _Reading) -> Profiled:
    from iocast import __version__
    from iocast.analyse.profiling.measure_profile import measure_profile

    name, names = trace_name(request.traces), request.names
    name = name if names is None else pseudonym(names, "file", name)
    with profile_folder.growing_profile(request.out, name) as folder:
        called = _events_into(folder, request, reading.options)
        profile = measure_profile(
            str(folder.place / EVENTS_FILE),
            name,
            __version__,
            reference_bytes=reading.reference_bytes,
            cache_bytes=reading.cache_bytes,
            spill=folder.place,
            may_lack_io=called,
            engine=request.engine,
        )
        profile_folder.save(folder, profile)
    return Profiled(profile, str(folder.path), names is not None)


def _events_into(folder: HeldFolder, request: ProfileRequest, options: TraceOptions) -> bool:
    """Puts the table of events into the folder, and that of calls where there are any; whether there are.

    With names to hide they are read into files that never get a name, and written anew from there.
    """
    from iocast.sessions.tracing.refused_traces import results_named
    from iocast.tools.traces import read_traces

    (first, *others), names = request.traces, request.names
    if not others and profile_folder.is_events(first):
        if names is None:
            folder.add(EVENTS_FILE, first)
        else:
            profile_folder.put_without_names(folder, EVENTS_FILE, first, names)
        return False
    with (
        results_named(request.traces),
        growing(folder.descriptor, EVENTS_FILE, PRIVATE) as events,
        growing(folder.descriptor, CALLS_FILE, PRIVATE) as calls,
    ):
        names_of = {events.place: folder.path / EVENTS_FILE, calls.place: folder.path / CALLS_FILE}
        with told_by_name(names_of):
            called = bool(read_traces(request.traces, events.place, options, calls_to=calls.place).calls)
        for file, name in ((events, EVENTS_FILE), (calls, CALLS_FILE))[: 2 if called else 1]:
            if names is None:
                sign(file.descriptor)
                file.take_name(None)
            else:
                profile_folder.put_without_names(folder, name, file.place, names)
    return called


def trace_name(traces: Sequence[str]) -> str:
    """The name of a profile: that of its first trace, and how many more there are."""
    first = os.path.basename(os.path.abspath(traces[0]).rstrip("/*.")) or "profile"
    return first if len(traces) == 1 else f"{first} and {len(traces) - 1} more"


def _reading(request: ProfileRequest) -> _Reading:
    """What texts say. Raises SpecError, which names the option."""
    page = None if request.block_size is None else option_value("--block-size", request.block_size, parse_size)
    options = TraceOptions(
        format=request.format,
        block_size_bytes=page,
        oracle_release=request.oracle_release,
        latency_unit=request.latency_unit,
        columns=request.columns,
    )
    caches = tuple(option_value("--cache", each, parse_size) for each in request.caches)
    return _Reading(options, _reference(request.block), caches)


def _reference(block: str | None) -> int | None:
    if block is None:
        return AUTOMATIC
    if block == "request":
        return None
    size = option_value("--block", block, parse_size)
    if size < 512 or size & (size - 1):
        raise SpecError(f"--block {block} is not a power of two from 512 on", "for example --block 8k, or request")
    return size
