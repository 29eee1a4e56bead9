"""The folder of an experiment with copies: copy.json, written anew after each copy."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from iocast.archive.guarded.regular_file import regular_bytes
from iocast.archive.json_files import decoded, not_understood, put_readable
from iocast.archive.profiles.profile_folder import create as create_folder
from iocast.errors import ArchiveError
from iocast.model.copying.copy_trials import VERSION, CopyRun

COPY = "copy.json"


class _Version(msgspec.Struct):
    schema_version: int


def create(out: str, name: str) -> Path:
    """A fresh folder, `out/<time>-copy-<name>`. Raises ArchiveError."""
    return create_folder(out, f"copy-{name}")


def save(folder: Path, run: CopyRun) -> None:
    """Writes copy.json: it is there whole, or as it was. Raises ArchiveError."""
    put_readable(folder / COPY, run)


def is_copy(path: str) -> bool:
    """Whether a path is the folder of copies."""
    return os.path.isfile(os.path.join(path, COPY))


def load(path: str) -> CopyRun:
    """The copies of a folder. Raises ArchiveError."""
    file = Path(path) / COPY
    try:
        text = regular_bytes(file)
    except OSError as error:
        raise ArchiveError(f"{file}: {error.strerror}", "name the folder of `iocast experiment copy`") from error
    version = decoded(file, text, _Version).schema_version
    if version != VERSION:
        hint = "use the iocast that wrote it"
        raise not_understood(file, f"it has version {version}; this iocast reads {VERSION}", hint)
    return decoded(file, text, CopyRun)
