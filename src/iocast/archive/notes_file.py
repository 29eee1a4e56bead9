"""notes.json: what people say about a run. It has a version of its own, and the measurement never depends on it."""

from __future__ import annotations

import contextlib
import os
import re

import msgspec

from iocast.archive.file_names import NOTES_FILE, RUN_FILE, folder_of
from iocast.archive.json_files import STAYS, decoded, not_understood, put_readable
from iocast.archive.own_files import open_run_folder, run_in
from iocast.archive.regular_file import LARGEST_SMALL, regular_bytes
from iocast.archive.writing.held_folder import ForeignFile
from iocast.archive.writing.leftovers import sweep_run
from iocast.errors import ArchiveError, SpecError
from iocast.model.summary import Notes

VERSION = 1
LONGEST_NOTE = 10_000  # signs
LONGEST_TAG = 40
MOST_TAGS = 20
_NO_TAG = re.compile(r"[\s,\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")  # a terminal would obey them
_HINT = "mend the file by hand, or remove it: only the notes are lost"


class _Version(msgspec.Struct):
    notes_version: int = 1


def save_notes(folder: str, notes: Notes) -> Notes:
    """Keeps the notes of a run beside it, and returns them as kept; none leave no file. Raises ArchiveError, SpecError.

    What is there and cannot be read is not overwritten.
    """
    kept, path = _checked(notes), folder_of(folder) / NOTES_FILE
    load_notes(folder)
    held = open_run_folder(folder)
    if run_in(held) is None:
        raise ArchiveError(f"{path.parent} is not a run folder", "notes belong to one run: `iocast runs` lists them")
    sweep_run(held)
    if kept:
        put_readable(held, NOTES_FILE, {"notes_version": VERSION, **msgspec.structs.asdict(kept)})
        return kept
    try:
        held.remove(NOTES_FILE)
    except ForeignFile as error:
        raise ArchiveError(f"cannot remove {path}: {error.strerror}", STAYS) from error
    except OSError as error:
        raise ArchiveError(f"cannot remove {path}: {error.strerror}", "check the permissions of the folder") from error
    return kept


def change_notes(folder: str, text: str | None, *, add: tuple[str, ...] = (), remove: tuple[str, ...] = ()) -> Notes:
    """Changes the note (None: leaves it) and the tags of a run; returns what is kept. Raises IocastError."""
    if not os.path.isfile(folder_of(folder) / RUN_FILE):
        raise ArchiveError(f"{folder} is not a run folder", "notes belong to one run: `iocast runs` lists them")
    notes = load_notes(folder)
    if unknown := [tag for tag in remove if tag not in notes.tags]:
        have = f"its tags are {', '.join(notes.tags)}" if notes.tags else "it has no tags"
        raise SpecError(f'the run has no tag "{unknown[0]}"', have)
    if text is None and not add and not remove:
        return notes
    tags = tuple(tag for tag in (*notes.tags, *add) if tag not in remove)
    return save_notes(folder, Notes(note=notes.note if text is None else text, tags=tags))


def load_notes(folder: str) -> Notes:
    """What people say about a run, nothing where there is no file. Raises ArchiveError."""
    path = folder_of(folder) / NOTES_FILE
    try:
        text = regular_bytes(path, LARGEST_SMALL)
    except (FileNotFoundError, NotADirectoryError):
        return Notes()
    except OSError as error:
        raise not_understood(path, error.strerror, _HINT) from error
    version = decoded(path, text, _Version, _HINT).notes_version
    if version > VERSION:
        raise ArchiveError(
            f"{path} was written by a newer iocast (version {version}; this one reads {VERSION})",
            "read it with the version of iocast that wrote it, or a newer one",
        )
    try:
        return _checked(decoded(path, text, Notes, _HINT))
    except SpecError as error:
        raise not_understood(path, error.message, _HINT) from error


def notes_in_list(folder: str) -> Notes:
    """The same for lists, which do without notes that cannot be read."""
    with contextlib.suppress(ArchiveError):
        return load_notes(folder)
    return Notes()


def one_tag(text: str) -> str:
    """A tag as it is kept. Raises SpecError where it is none."""
    tags = _checked(Notes(tags=(text,))).tags
    if not tags:
        raise SpecError("a tag has at least one letter", f"a tag is one word of at most {LONGEST_TAG} characters")
    return tags[0]


def _checked(notes: Notes) -> Notes:
    """The notes as they are kept: trimmed, each tag once. Raises SpecError for what is too long or no tag."""
    note = _CONTROL.sub("", notes.note.replace("\r\n", "\n")).strip()
    if len(note) > LONGEST_NOTE:
        raise SpecError(f"the note has {len(note)} characters, more than {LONGEST_NOTE}", "shorten it, or link to it")
    tags = tuple(dict.fromkeys(tag.strip() for tag in notes.tags if tag.strip()))
    for tag in tags:
        if len(tag) > LONGEST_TAG or _NO_TAG.search(tag):
            raise SpecError(
                f'"{tag}" is not a tag', f"a tag is one word of at most {LONGEST_TAG} characters, without commas"
            )
    if len(tags) > MOST_TAGS:
        raise SpecError(f"{len(tags)} tags are more than {MOST_TAGS}", "remove some of them")
    return Notes(note=note, tags=tags)
