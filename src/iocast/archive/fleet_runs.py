"""What fleets read of thousands of run folders: one small file of each, whose rows stay text until they are counted."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

import msgspec
from msgspec import Struct

from iocast.archive.catalogue import run_folders
from iocast.archive.file_names import RUN_FILE, SUMMARY_FILE
from iocast.archive.json_files import BROKEN
from iocast.archive.regular_file import LARGEST_SMALL, regular_bytes
from iocast.errors import ArchiveError
from iocast.model.codes import DifferenceCode
from iocast.model.summary import Figures, RowFigures
from iocast.text import shown

LINES = "lines.ndjson"


_ROWS = msgspec.json.Decoder(tuple[RowFigures, ...])


class FiguresAsRead(Struct, frozen=True):
    """Figures whose rows are still text."""

    setting: dict[DifferenceCode, str] = {}
    model: str | None = None
    rows: msgspec.Raw = msgspec.Raw(b"[]")


class FleetRun(Struct, kw_only=True):
    """A finished run as a fleet needs it; `figures` are None where its folder keeps none."""

    name: str  # of the job
    target: str
    host: str
    status: str
    started_unix_ns: int
    run_id: str = ""
    figures: FiguresAsRead | None = None
    folder: str = ""

    @property
    def subject(self) -> tuple[str, str]:
        """What is ranked: a target of a host."""
        return self.host, self.target


def fleet_runs(directories: Sequence[str]) -> Iterator[FleetRun]:
    """The runs at and below some directories, each once, though it were copied; those without a line have no host.

    Raises ArchiveError for a directory that cannot be listed.
    """
    decode = msgspec.json.Decoder(FleetRun).decode
    known = set[str]()
    for directory in directories:
        for folder in run_folders(directory):
            run = _read(folder, decode)
            if run.run_id and run.run_id in known:
                continue
            known.add(run.run_id)
            run.folder = folder
            yield run


def _read(folder: str, decode: Callable[[bytes], FleetRun]) -> FleetRun:
    try:
        run = decode(regular_bytes(os.path.join(folder, SUMMARY_FILE), LARGEST_SMALL))
        if run.figures is not None:
            _ROWS.decode(run.figures.rows)  # one damaged line would spoil the table of all
        return run
    except (OSError, *BROKEN):
        return FleetRun(name="", target="", host="", status="", started_unix_ns=0)


def as_read(figures: Figures) -> FiguresAsRead:
    """Figures that were made anew, as those that were read."""
    return FiguresAsRead(figures.setting, figures.model, msgspec.Raw(msgspec.json.encode(figures.rows)))


def table_lines(runs: Sequence[FleetRun], subjects: dict[tuple[str, str], int]) -> bytes:
    """A line of JSON for each run: its number, that of its subject, the model of its disks, its rows."""
    encode = msgspec.json.encode
    return b"".join(
        b'{"run":%d,"subject":%d,"model":%b,"rows":%b}\n'
        % (number, subjects[run.subject], encode(run.figures.model or ""), bytes(run.figures.rows).replace(b"\n", b" "))
        for number, run in enumerate(runs)
        if run.figures is not None
    )


def run_name(folder: str, directories: Sequence[str]) -> str:
    """A run folder as people are told of it: its path below the directory that was searched."""
    inside = next((each for each in directories if folder.startswith(each.rstrip(os.sep) + os.sep)), "")
    return shown(os.path.relpath(folder, inside) if inside else os.path.basename(folder))


def refuse_no_run(directories: Sequence[str]) -> ArchiveError:
    """The refusal where no finished run was read."""
    return ArchiveError(
        f"no finished runs in {', '.join(directories)}", f"a run folder has a {RUN_FILE}; `iocast card PATH` makes one"
    )
