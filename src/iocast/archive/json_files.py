"""JSON files of a run folder: written whole or not at all, and refused by name when they cannot be understood."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from iocast.archive.regular_file import regular_bytes
from iocast.archive.writing.held_folder import ForeignFile, HeldFolder
from iocast.archive.writing.whole_files import more_space_or
from iocast.errors import ArchiveError

T = TypeVar("T")
# msgspec 0.22 crashes the process when two threads are the first to need a type.
_ONE_AT_A_TIME = threading.Lock()
# What decoding raises: besides its own errors, text that is not UTF-8 and nesting deeper than Python's stack.
BROKEN = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
STAYS = "iocast changes only what it wrote: what is there stays until you move it away"
MOST_VALUES = 6_000_000  # of a document: each takes up to 200 bytes of memory, and two of the file


def parsed(text: bytes, kind: type[T]) -> T:
    """What a text says, as a type. Raises what BROKEN lists."""
    refuse_swollen(text)
    with _ONE_AT_A_TIME:
        return msgspec.json.decode(text, type=kind)


def converted(document: Any, kind: type[T]) -> T:
    """The same for what was decoded already."""
    with _ONE_AT_A_TIME:
        return msgspec.convert(document, kind)


def untyped(text: bytes) -> Any:
    """The same where the type is not known yet."""
    refuse_swollen(text)
    return msgspec.json.decode(text)


def refuse_swollen(text: bytes) -> None:
    """Raises ValidationError for a document of more values than any run has: it would take all memory."""
    if len(text) > MOST_VALUES and sum(map(text.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise msgspec.ValidationError(f"it has more than {MOST_VALUES:,} values")


def put(folder: HeldFolder, name: str, text: bytes) -> None:
    """Writes a file of a folder: it is there whole, or as it was. Raises ArchiveError."""
    try:
        folder.put(name, text + b"\n")
    except ForeignFile as error:
        raise ArchiveError(f"cannot write {folder.path}: {error.strerror}", STAYS) from error
    except OSError as error:
        raise unwritable(folder.path, error) from error


def put_readable(folder: HeldFolder, name: str, value: object) -> None:
    """The same for a value, indented for people."""
    put(folder, name, msgspec.json.format(msgspec.json.encode(value), indent=1))


def unwritable(path: Path, error: OSError) -> ArchiveError:
    """The refusal for what cannot be written."""
    hint = more_space_or("choose another directory with --out DIR", error)
    return ArchiveError(f"cannot write {path}: {error.strerror or error}", hint)


def not_understood(path: Path, why: object, hint: str = "the file was modified or truncated") -> ArchiveError:
    """The refusal for a file that is not what it should be."""
    return ArchiveError(f"{path} is invalid: {why}", hint)


class _Version(msgspec.Struct):
    schema_version: int


def versioned(path: Path, kind: type[T], version: int, lost: str, other: str) -> T:
    """What a file of that schema version says. `lost` is the way out where it cannot be read, `other` where it has
    another version. Raises ArchiveError.
    """
    try:
        text = regular_bytes(path)
    except OSError as error:
        raise ArchiveError(f"{path}: {error.strerror}", lost) from error
    stated = decoded(path, text, _Version).schema_version
    if stated != version:
        raise not_understood(path, f"it has version {stated}; this iocast reads {version}", other)
    return decoded(path, text, kind)


def decoded(path: Path, text: bytes, kind: type[T], hint: str = "the file was modified or truncated") -> T:
    """What a file says. Raises ArchiveError."""
    try:
        return parsed(text, kind)
    except BROKEN as error:
        raise not_understood(path, error, hint) from error
