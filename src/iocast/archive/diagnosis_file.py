"""diagnosis.json: what was tested about a run. It has a schema of its own: an old run can be diagnosed now."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from iocast.archive.file_names import DIAGNOSIS_FILE, folder_of
from iocast.archive.json_files import BROKEN, converted, decoded, not_understood, parsed, put_readable, untyped
from iocast.archive.migrations import migrated_diagnosis
from iocast.archive.own_files import open_run_folder
from iocast.archive.regular_file import regular_bytes
from iocast.archive.writing.leftovers import sweep_run
from iocast.errors import ArchiveError
from iocast.model.experiment import Diagnosis
from iocast.model.run import SCHEMA_VERSION

_HINT = "remove it, then run `iocast diagnose` again"


class _Version(msgspec.Struct):
    schema_version: int = 1


def save_diagnosis(folder: Path, diagnosis: Diagnosis) -> None:
    """Keeps what was tested about a run beside it. Raises ArchiveError."""
    held = open_run_folder(folder)
    sweep_run(held)
    put_readable(held, DIAGNOSIS_FILE, {"schema_version": SCHEMA_VERSION, **msgspec.structs.asdict(diagnosis)})


def load_diagnosis(folder: str) -> Diagnosis | None:
    """What was tested about a run; None when nothing was. Raises ArchiveError."""
    path = folder_of(folder) / DIAGNOSIS_FILE
    try:
        text = regular_bytes(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise not_understood(path, error.strerror, _HINT) from error
    version = decoded(path, text, _Version, _HINT).schema_version
    if version > SCHEMA_VERSION:
        raise ArchiveError(
            f"{path} was written by a newer iocast (schema {version}; this one reads up to {SCHEMA_VERSION})",
            "read it with the version of iocast that wrote it, or a newer one",
        )
    try:
        if version == SCHEMA_VERSION:
            return parsed(text, Diagnosis)
        document: Any = untyped(text)
        return converted(migrated_diagnosis(version, document), Diagnosis)
    except BROKEN as error:
        raise not_understood(path, error, _HINT) from error
