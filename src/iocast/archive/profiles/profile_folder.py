"""A profile's folder: profile.json, for people and programs, and events.parquet, the table that it was made from;
beside it calls.parquet, where the trace has the calls of a database.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from iocast.archive.guarded.regular_file import first_bytes
from iocast.archive.json_files import put, versioned
from iocast.archive.writing.fresh_folders import fresh_folder
from iocast.errors import ArchiveError
from iocast.model.profiling.profile import VERSION, Profile

PARQUET = b"PAR1"  # how such a file begins
PROFILE, EVENTS, CALLS = "profile.json", "events.parquet", "calls.parquet"


def create(out: str, name: str) -> Path:
    """A fresh folder, `out/<time>-<name>`. Raises ArchiveError."""
    return fresh_folder(out, name or "profile")


def save(folder: Path, profile: Profile) -> None:
    """Writes profile.json. Raises ArchiveError."""
    put(folder / PROFILE, msgspec.json.encode(profile))


def is_profile(path: str) -> bool:
    """Whether a path is a profile's folder, or its profile.json."""
    found = Path(path)
    return os.path.isfile(found / PROFILE) or (found.name == PROFILE and os.path.isfile(found))


def is_events(path: str) -> bool:
    """Whether a file is a table of events: Parquet, by its first bytes."""
    try:
        return first_bytes(Path(path), len(PARQUET)) == PARQUET
    except OSError:
        return False


def events_of(path: str) -> str:
    """The table of events of a profile. Raises ArchiveError where it is gone."""
    folder = Path(path) if os.path.isdir(path) else Path(path).parent
    events = folder / EVENTS
    if not os.path.isfile(events):
        raise ArchiveError(f"{events} is missing", "profile the trace again: its events were deleted")
    return str(events)


def load(path: str) -> Profile:
    """The profile of a folder, or of a profile.json. Raises ArchiveError."""
    file = Path(path) / PROFILE if os.path.isdir(path) else Path(path)
    hint = "profile the trace again, or use the iocast that wrote it"
    return versioned(file, Profile, VERSION, "name a profile's folder or its profile.json", hint)
