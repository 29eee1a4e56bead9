"""A trace that is given as a result, or a result as a trace, is refused as what it is, with the verb that takes it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from iocast.archive.file_names import CALLS_FILE, EVENTS_FILE
from iocast.archive.regular_file import first_bytes
from iocast.archive.writing.private_rooms import temporary_room
from iocast.errors import IocastError, SourceError

_BEGINNING_BYTES = 1 << 16


@contextlib.contextmanager
def results_named(traces: Sequence[str]) -> Iterator[None]:
    """Reading these traces: what is refused, and `iocast import` reads, is refused as that. Raises SourceError."""
    try:
        yield
    except SourceError as refusal:
        if path := next((each for each in traces if _is_result(each)), None):
            raise _refused_result(path) from refusal
        raise


@contextlib.contextmanager
def traces_named(files: Sequence[str]) -> Iterator[None]:
    """Reading these results: a trace that iocast reads is refused as that. Raises SourceError."""
    try:
        yield
    except SourceError as refusal:
        for path in files:
            if not _is_known(path) and (name := _trace_format(path)):
                message = f"{path} is a trace of single I/Os ({name}), and no result of a test"
                raise SourceError(message, f"`iocast profile {path}` says what the workload is like") from refusal
        raise


def _is_known(path: str) -> bool:
    """Whether an importer knows it: its refusal has its own reason then."""
    from iocast.tools.importers import importer_of

    with contextlib.suppress(SourceError):
        return bool(importer_of(path))
    return False


def _trace_format(path: str) -> str | None:
    """The format of a trace, by its beginning; None where it is none."""
    from iocast.tools.traces import read_traces

    if not os.path.isfile(path):
        return None
    with contextlib.suppress(IocastError, OSError), temporary_room("iocast-trace-") as room:
        # Under its own name: that of a block trace tells its processor.
        name, beginning = os.path.basename(path), room.folder("beginning")
        beginning.put(name, first_bytes(Path(path), _BEGINNING_BYTES))
        tables = [str(room.place / table) for table in (EVENTS_FILE, CALLS_FILE)]
        return read_traces((str(beginning.place / name),), tables[0], calls_to=tables[1]).files[0].format
    return None


def _refused_result(path: str) -> SourceError:
    from iocast.tools.importers import read

    try:
        read((path,))
    except SourceError as why:  # to send somebody there would be one refusal more
        return SourceError(f"{why.message} (a result of a tool, and no trace of single I/Os)", why.hint)
    return SourceError(
        f"{path} is a result of a tool, and no trace of single I/Os",
        f"`iocast import {path}` makes a run of it; docs/guide/traces.md lists what is a trace",
    )


def _is_result(path: str) -> bool:
    from iocast.tools import strace
    from iocast.tools.fio import fio_log
    from iocast.tools.importers import importer_of

    if not os.path.isfile(path):
        return False
    with contextlib.suppress(SourceError):
        # Some files of these two are traces: why this one is none, its reader has said.
        return importer_of(path) not in (fio_log, strace)
    return False
