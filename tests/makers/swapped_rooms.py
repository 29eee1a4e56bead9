"""Somebody who may rename in a directory, and puts a folder of others in the place of a room of ours."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any


def swapping(directory: Path, prefix: str, foreign: Path, then: Callable[..., Any]) -> Callable[..., Any]:
    """A function that first puts `foreign`, or a link to it where it lies elsewhere, in the place of the room."""

    def swapped(*words: Any, **named: Any) -> Any:
        rooms = [each for each in directory.iterdir() if each.name.startswith(prefix)]
        for room in rooms:
            os.rename(room, directory / "aside")
            if foreign.parent == directory:
                os.rename(foreign, room)
            else:
                room.symlink_to(foreign)
        assert len(rooms) == 1
        return then(*words, **named)

    return swapped
