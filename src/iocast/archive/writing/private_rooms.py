"""Rooms for what is only needed for a while: folders that nobody else can open, held by their descriptors.

Whoever may rename in the directory above can put a link in the place of a room: what is made in it still lands in the
room, and its removal touches nothing else.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path

from iocast.archive.writing.file_identity import belongs_to
from iocast.archive.writing.held_folder import HeldFolder, make_folder, open_base, open_folder
from iocast.errors import ArchiveError

_FOR_A_WHILE = ("TMPDIR", "TEMP", "TMP")  # variables that name the directory of temporary files
_TRIES = 10  # for a name that somebody has, or for a room that was moved away while it was made


@contextlib.contextmanager
def private_room(directory: str | Path, prefix: str) -> Iterator[HeldFolder]:
    """A folder below `directory` while entered; open what is in it by its `place`. Raises ArchiveError.

    At the end it is emptied wherever it is by then, and removed where it still has its name.
    """
    try:
        above = open_base(directory)
        room = _new_room(above, prefix)
    except OSError as error:
        said = f"cannot make a folder in {directory}: {error.strerror or error}"
        hint = "choose a directory that only you can change; TMPDIR names the one for temporary files"
        raise ArchiveError(said, hint) from error
    try:
        yield room
    finally:
        with contextlib.suppress(OSError):  # what was made of it says more
            room.empty()
        room.remove_if_empty()


@contextlib.contextmanager
def temporary_room(prefix: str) -> Iterator[HeldFolder]:
    """A room where temporary files belong. Raises ArchiveError."""
    with private_room(_for_a_while(), prefix) as room:
        yield room


def sweep_rooms(prefix: str) -> None:
    """Removes the rooms where temporary files belong whose process, of this user, was killed: their lock is free."""
    room_name = re.compile(re.escape(prefix) + r"[0-9a-f]{16}")
    with contextlib.suppress(OSError, ArchiveError):
        above = open_folder(Path(_for_a_while()), links=True)
        for name in filter(room_name.fullmatch, above.names()):
            with contextlib.suppress(OSError, ArchiveError):
                room = open_folder(above.place / name)  # never made anew: another process may remove it now
                if room.is_proven and belongs_to(os.fstat(room.descriptor), room.place, (os.geteuid(),)):
                    room.claim()
                    room.empty()
                    above.remove_folder(name, room)


def unguessable(prefix: str) -> str:
    """A path for temporary files that nobody can guess, for a library that creates the folder itself and gives its
    files known names: no link can be waiting there.
    """
    return os.path.join(_for_a_while(), f"{prefix}{secrets.token_hex(16)}")


def _for_a_while() -> str:
    named = filter(None, map(os.environ.get, _FOR_A_WHILE))
    known = (each for each in (*named, "/tmp", "/var/tmp") if os.access(each, os.W_OK | os.X_OK))
    return next(known, "/tmp")


def _new_room(above: HeldFolder, prefix: str) -> HeldFolder:
    for _ in range(_TRIES):
        with contextlib.suppress(FileExistsError, FileNotFoundError):
            return make_folder(above, f"{prefix}{secrets.token_hex(8)}", private=True)
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
