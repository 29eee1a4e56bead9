"""The folder of an experiment with copies: copy.json, written anew after each copy."""

from __future__ import annotations

import os
from pathlib import Path

from iocast.archive.json_files import put_readable, versioned
from iocast.archive.writing.held_folder import HeldFolder, make_named
from iocast.model.copy_trials import VERSION, CopyRun

COPY = "copy.json"


def create(out: str, name: str) -> HeldFolder:
    """A folder that was not there, `out/<time>-copy-<name>`. Raises ArchiveError."""
    return make_named(out, f"copy-{name}")


def save(folder: HeldFolder, run: CopyRun) -> None:
    """Writes copy.json: it is there whole, or as it was. Raises ArchiveError."""
    put_readable(folder, COPY, run)


def is_copy(path: str) -> bool:
    """Whether a path is the folder of copies."""
    return os.path.isfile(os.path.join(path, COPY))


def load(path: str) -> CopyRun:
    """The copies of a folder. Raises ArchiveError."""
    hint = "use the iocast that wrote it"
    return versioned(Path(path) / COPY, CopyRun, VERSION, "name the folder of `iocast experiment copy`", hint)
