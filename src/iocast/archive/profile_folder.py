"""A profile's folder: profile.json, for people and programs, and events.parquet, the table that it was made from;
beside it calls.parquet, where the trace has the calls of a database.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from iocast.archive.file_names import EVENTS_FILE, PROFILE_FILE
from iocast.archive.json_files import put, unwritable, versioned
from iocast.archive.regular_file import PARQUET, first_bytes
from iocast.archive.trace_tables import write_without_names
from iocast.archive.writing.growing_folders import growing_folder
from iocast.archive.writing.held_folder import HeldFolder, names_of_now
from iocast.errors import ArchiveError
from iocast.model.anonymity.pseudonyms import Pseudonyms
from iocast.model.profiling.profile import VERSION, Profile


@contextlib.contextmanager
def growing_profile(out: str, name: str) -> Iterator[HeldFolder]:
    """A new folder, which becomes `out/<time>-<name>` when all went well; an error, or a kill, leaves none that is
    listed. Raises ArchiveError.
    """
    with growing_folder(out, names_of_now(name or "profile"), private=True, kind="profile") as folder:
        yield folder


def save(folder: HeldFolder, profile: Profile) -> None:
    """Writes profile.json. Raises ArchiveError."""
    put(folder, PROFILE_FILE, msgspec.json.encode(profile))


def put_without_names(folder: HeldFolder, name: str, source: str, names: Pseudonyms) -> None:
    """Puts a table of events or calls into the folder, its names as pseudonyms. Raises ArchiveError."""
    try:
        with folder.growing(name) as file:
            write_without_names(Path(source), file.place, names)
    except OSError as error:
        raise unwritable(folder.path, error) from error


def is_profile(path: str) -> bool:
    """Whether a path is a profile's folder, or its profile.json."""
    folder = Path(path)
    return os.path.isfile(folder / PROFILE_FILE) or (folder.name == PROFILE_FILE and os.path.isfile(folder))


def is_events(path: str) -> bool:
    """Whether a file is a table of events: Parquet, by its first bytes."""
    try:
        return first_bytes(Path(path), len(PARQUET)) == PARQUET
    except OSError:
        return False


def events_of(path: str) -> str:
    """The table of events of a profile. Raises ArchiveError where it is gone."""
    folder = Path(path) if os.path.isdir(path) else Path(path).parent
    events = folder / EVENTS_FILE
    if not os.path.isfile(events):
        raise ArchiveError(f"{events} is missing", "profile the trace again: its events were deleted")
    return str(events)


def load(path: str) -> Profile:
    """The profile of a folder, or of a profile.json. Raises ArchiveError."""
    file = Path(path) / PROFILE_FILE if os.path.isdir(path) else Path(path)
    hint = "profile the trace again, or use the iocast that wrote it"
    return versioned(file, Profile, VERSION, "name a profile's folder or its profile.json", hint)
