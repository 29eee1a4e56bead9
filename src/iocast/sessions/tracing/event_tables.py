"""A trace as an event table: the file itself where it is one, else one that is made for as long as it is needed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from iocast.archive.file_names import EVENTS_FILE
from iocast.archive.regular_file import PARQUET, first_bytes
from iocast.archive.writing.private_rooms import temporary_room
from iocast.errors import SourceError

if TYPE_CHECKING:
    from iocast.tools.traces import TraceOptions


def is_table(path: str) -> bool:
    """Whether a file begins as Parquet does. Raises SourceError when it cannot be read."""
    if not os.path.isfile(path):
        return False  # a folder, a pattern, or a pipe of traces, from which nothing may be taken
    try:
        return first_bytes(Path(path), len(PARQUET)) == PARQUET
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror}", "give a trace, or a table that iocast made of one") from error


@contextmanager
def event_table(trace: str, options: TraceOptions | None = None) -> Iterator[str]:
    """The path of the event table of a trace (a file, a folder or a pattern), while entered. Raises SourceError."""
    if is_table(trace):
        yield trace
        return
    from iocast.sessions.tracing.refused_traces import results_named
    from iocast.tools.traces import read_traces

    with temporary_room("iocast-replay-") as room:
        table = str(room.place / EVENTS_FILE)
        with results_named((trace,)):
            read_traces((trace,), table, options)
        yield table
