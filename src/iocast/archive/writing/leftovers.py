"""What a killed iocast left half written in a run folder."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

from iocast.archive.file_names import DOCUMENTS, INTERVALS, REPORT_PAGE, SAMPLES
from iocast.archive.ownership import owner_alive
from iocast.archive.writing.held_folder import HeldFolder

_NUMBER = r"\.[0-9a-f]{8}"
_DOCUMENT = "|".join(map(re.escape, DOCUMENTS))
# The second and third are of older versions.
_FILE = re.compile(
    rf"\.({_DOCUMENT}){_NUMBER}\.new|({_DOCUMENT})({_NUMBER})?\.new|\.{re.escape(REPORT_PAGE)}\.iocast({_NUMBER})?\.new"
)
_TABLE = re.compile(rf"\.\d+\.parquet{_NUMBER}\.new|\d+(\.parquet)?({_NUMBER})?\.new")


def leftovers_of(run: HeldFolder) -> Iterator[tuple[HeldFolder, str]]:
    """The files of a run folder that have the names of what is not whole yet, and where they are. Raises OSError."""
    yield from ((run, name) for name in run.names() if _FILE.fullmatch(name))
    for room in tables_of(run):
        yield from ((room, name) for name in room.names() if _TABLE.fullmatch(name))


def tables_of(run: HeldFolder) -> Iterator[HeldFolder]:
    """The folders of a run that have tables. Raises OSError."""
    for name in (INTERVALS, SAMPLES):
        if run.has_folder(name):
            yield run.folder(name)


def sweep_run(run: HeldFolder) -> None:
    """Removes what a killed iocast left in a run folder; nothing while the process that makes the run lives."""
    with contextlib.suppress(OSError):
        half_written = list(leftovers_of(run))
        if half_written and not owner_alive(str(run.place)):
            for room, name in half_written:
                room.remove_leftover(name)
