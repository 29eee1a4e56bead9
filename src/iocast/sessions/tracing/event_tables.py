"""A trace as an event table: the file itself where it is one, else one that is made for as long as it is needed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from iocast.errors import SourceError
from iocast.formats.source_files import unwaiting

if TYPE_CHECKING:
    from iocast.traces.read_traces import TraceOptions

_MAGIC = b"PAR1"


def is_table(path: str) -> bool:
    """Whether a file begins as Parquet does. Raises SourceError when it cannot be read."""
    if not os.path.isfile(path):
        return False  # a folder, a pattern, or a pipe of traces, from which nothing may be taken
    try:
        with open(path, "rb", opener=unwaiting) as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror}", "give a trace, or a table that iocast made of one") from error


@contextmanager
def event_table(trace: str, options: TraceOptions | None = None) -> Iterator[str]:
    """The path of the event table of a trace (a file, a folder or a pattern), while entered. Raises SourceError."""
    if is_table(trace):
        yield trace
        return
    from iocast.sessions.tracing.refused_traces import results_named
    from iocast.traces.read_traces import read_traces

    with tempfile.TemporaryDirectory(prefix="iocast-replay-") as folder:
        table = os.path.join(folder, "events.parquet")
        with results_named((trace,)):
            read_traces((trace,), table, options)
        yield table
