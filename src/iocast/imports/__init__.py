"""Results of other tools become runs: one module a format, recognised by its first lines, never guessed."""

from __future__ import annotations

import contextlib
import os
from typing import Protocol

from iocast.errors import SourceError
from iocast.formats.source_files import Head, head_of, read_text
from iocast.imports import (
    calibrate_io,
    crystaldiskmark,
    diskspd,
    fio_json,
    fio_log,
    fio_terse,
    fio_text,
    fioparse,
    ioping,
    iozone,
    latency_map,
    orion,
    vdbench,
)
from iocast.imports.series import collectl, diskstats_series, dstat, iostat, sar
from iocast.model.run import Run


class Importer(Protocol):
    """A module that reads one format of another tool; its docstring is its manual page."""

    def sniff(self, head: Head) -> bool:
        """Whether a file that begins so is of this format."""
        ...

    def read(self, paths: tuple[str, ...]) -> Run:
        """One run of all these files. Raises SourceError with file and line."""
        ...


# The first that knows a file takes it.
IMPORTERS: tuple[Importer, ...] = (
    fio_json,
    fio_text,
    fio_terse,
    fio_log,
    fioparse,
    orion,
    vdbench,
    iostat,
    sar,
    dstat,
    collectl,
    diskstats_series,
    latency_map,
    diskspd,
    crystaldiskmark,
    ioping,
    iozone,
    calibrate_io,
)

KNOWN = (
    "fio (text, terse, JSON, logs), fioparse, ORION, CALIBRATE_IO, vdbench, diskspd, CrystalDiskMark, ioping, iozone,"
    " iostat, sar, dstat, collectl, /proc/diskstats and latency records are supported"
)


def importer_of(path: str) -> Importer:
    """The importer that knows this file. Raises SourceError when none does."""
    text = read_text(path)
    if not text.strip():
        raise SourceError(f"{path} is empty", "give result files of another tool")
    head = head_of(path, text)
    found = next((each for each in IMPORTERS if each.sniff(head)), None)
    if found is None:
        raise SourceError(f"{path} has no format that iocast knows", f"{KNOWN}; see docs/guide/import.md")
    return found


def read(paths: tuple[str, ...]) -> tuple[Run, ...]:
    """Runs of the given files: those of one format are the rows of one run. Raises SourceError.

    Of a folder, the files that iocast knows.
    """
    groups: dict[int, tuple[Importer, list[str]]] = {}
    for given in paths:
        for path, found in _known(given):
            groups.setdefault(id(found), (found, []))[1].append(path)
    return tuple(importer.read(tuple(files)) for importer, files in groups.values())


def _known(path: str) -> list[tuple[str, Importer]]:
    """A file with its importer, or the known files of a folder. Raises SourceError when there is none."""
    if not os.path.isdir(path):
        return [(path, importer_of(path))]
    found = []
    for name in sorted(os.listdir(path)):
        each = os.path.join(path, name)
        with contextlib.suppress(SourceError):
            found += [(each, importer_of(each))] if os.path.isfile(each) else []
    if not found:
        raise SourceError(f"{path} has no file of a format that iocast knows", f"{KNOWN}; see docs/guide/import.md")
    return found
