"""A file that is refused as a trace may be the result of a tool: then that is said, and what takes it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence

from iocast.errors import SourceError


@contextlib.contextmanager
def results_named(traces: Sequence[str]) -> Iterator[None]:
    """Reading these traces: what is refused, and `iocast import` reads, is refused as that. Raises SourceError."""
    try:
        yield
    except SourceError as refusal:
        if path := next((each for each in traces if _is_result(each)), None):
            raise SourceError(f"{path} is a result of a tool, and no trace of single I/Os", _way(path)) from refusal
        raise


def _way(path: str) -> str:
    return f"`iocast import {path}` makes a run of it; docs/guide/traces.md lists what is a trace"


def _is_result(path: str) -> bool:
    from iocast.imports import fio_log, importer_of, strace

    if not os.path.isfile(path):
        return False
    with contextlib.suppress(SourceError):
        # Some files of these two are traces: why this one is none, its reader has said.
        return importer_of(path) not in (fio_log, strace)
    return False
