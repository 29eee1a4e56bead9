"""Files of a run that are known by what is in them, where their attribute was lost: in a copy, or where none is kept.

Of a document all has to be what iocast would write of it, of a table the rows have to be of this run. A page cannot be
known so: somebody may have added to it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from iocast.archive.file_names import (
    DIAGNOSIS_FILE,
    INTERVALS,
    NOTES_FILE,
    ROWS_FILE,
    RUN_FILE,
    SAMPLES,
    SUMMARY_FILE,
    UNDER_WAY_FILE,
    folder_of,
)
from iocast.archive.interval_tables import INTERVAL_COLUMNS
from iocast.archive.json_files import BROKEN, converted, untyped
from iocast.archive.migrations import migrated_diagnosis
from iocast.archive.parquet import KEYS, columns_in, run_ids_in
from iocast.archive.regular_file import regular_bytes
from iocast.archive.run_document import run_of, version_of
from iocast.archive.sample_tables import SAMPLE_COLUMNS
from iocast.archive.saved_rows import are_rows
from iocast.archive.tapes.unfinished_reels import is_reel
from iocast.archive.writing.held_folder import HeldFolder, open_folder
from iocast.errors import ArchiveError
from iocast.model.experiment import Diagnosis
from iocast.model.run import SCHEMA_VERSION, Run
from iocast.model.summary import Notes, Summary, UnderWay

_TABLES = {INTERVALS: re.compile(r"\d{3,}\.parquet"), SAMPLES: re.compile(r"\d{3,}\.(parquet|jsonl)")}
_DOCUMENTS: dict[str, type[msgspec.Struct]] = {
    NOTES_FILE: Notes,
    SUMMARY_FILE: Summary,
    UNDER_WAY_FILE: UnderWay,
    DIAGNOSIS_FILE: Diagnosis,
}
_COLUMNS = {INTERVALS: INTERVAL_COLUMNS, SAMPLES: SAMPLE_COLUMNS}
_VERSIONS = ("notes_version", "schema_version")


def open_run_folder(folder: str | Path) -> HeldFolder:
    """The folder of a run, to change what is in it. Raises ArchiveError."""
    return open_folder(folder_of(str(folder)), knows=is_known)


def is_known(folder: HeldFolder, name: str) -> bool:
    """Whether a file of a run folder, or of a folder of tables in one, says by its content that iocast wrote it."""
    path, room = folder.place / name, folder.path.name
    try:
        if room in _TABLES and _TABLES[room].fullmatch(name):
            return is_reel(path) if name.endswith(".jsonl") else _is_table(path, folder.place / ".." / RUN_FILE, room)
        if name == RUN_FILE:
            return run_in(folder) is not None
        if name == ROWS_FILE:
            return are_rows(regular_bytes(path))
        return name in _DOCUMENTS and _says_no_more(name, untyped(regular_bytes(path)))
    except (OSError, ArchiveError, *BROKEN):
        return False


def run_in(folder: HeldFolder) -> Run | None:
    """What run.json in a folder says; None where it says nothing of a run: such a file is somebody's."""
    path = folder.place / RUN_FILE
    try:
        run = run_of(path, regular_bytes(path))
    except (OSError, ArchiveError):
        return None
    return run if run.run_id else None


def is_table_name(room: str, name: str) -> bool:
    """Whether a folder of a run has tables of such names."""
    return _TABLES[room].fullmatch(name) is not None


def _is_table(path: Path, run: Path, room: str) -> bool:
    text = regular_bytes(run)
    named = {column.name for column in _COLUMNS[room]}
    if version_of(run, text) < SCHEMA_VERSION:  # its rows say nothing of the run
        return named <= columns_in(path)
    keys = {column.name for column in KEYS}
    return columns_in(path) == named | keys and run_ids_in(path) == {run_of(run, text).run_id}


def _says_no_more(name: str, document: Any) -> bool:
    if not isinstance(document, dict):
        return False
    version = document.get("schema_version", 1)
    if name == DIAGNOSIS_FILE and isinstance(version, int) and 0 < version < SCHEMA_VERSION:
        return bool(converted(migrated_diagnosis(version, document), Diagnosis).steps)
    kind = _DOCUMENTS[name]
    said = {key: value for key, value in document.items() if key not in _VERSIONS}
    known = untyped(msgspec.json.encode(converted(said, kind)))
    if name == SUMMARY_FILE:  # older ones say less
        known = {key: value for key, value in known.items() if key in said}
    return bool(known == said)
