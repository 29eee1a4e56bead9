"""The directories of work files, opened once: what is looked at in them and what is written to is in the same one,
whatever takes their paths meanwhile.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_DIRECTORY = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC


class _Held:
    """A directory that is open, and how many hold it."""

    def __init__(self, directory: str) -> None:
        self.descriptor = os.open(directory, _DIRECTORY)
        self.holders = 0


_held: dict[str, _Held] = {}  # by the path that a person knows
_changing = threading.Lock()


@contextmanager
def holding(directory: str) -> Iterator[None]:
    """While entered, `held_path` leads into the directory that has this path now. Raises OSError."""
    with _changing:
        if directory not in _held:
            _held[directory] = _Held(directory)
        held = _held[directory]
        held.holders += 1
    try:
        yield
    finally:
        with _changing:
            held.holders -= 1
            if not held.holders:
                del _held[directory]
                os.close(held.descriptor)


def directory_of(path: str) -> str:
    """The directory that a file is in, as its path says it."""
    return os.path.dirname(path) or "."


def held_path(path: str) -> str:
    """A path to the same name in the directory that is held; without one, the path itself."""
    held = _held.get(directory_of(path))
    return path if held is None else f"/proc/self/fd/{held.descriptor}/{os.path.basename(path)}"


def held_directory(directory: str) -> str:
    """A path to the directory that is held; without one, its own path."""
    held = _held.get(directory)
    return directory if held is None else f"/proc/self/fd/{held.descriptor}"
