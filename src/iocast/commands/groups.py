"""A folder named on the command line becomes runs: one run folder, or a folder of several (repeats)."""

from __future__ import annotations

import os
from pathlib import Path

from iocast import archive
from iocast.errors import ArchiveError
from iocast.model.run import Run


def runs_in(folder: str) -> tuple[Run, ...]:
    """The run in `folder`, or all runs in the folders right below it, by name. Raises ArchiveError."""
    path = Path(folder)
    if (path / archive.RUN_FILE).exists() or not path.is_dir():
        return (archive.load(folder),)
    below = sorted(child for child in path.iterdir() if (child / archive.RUN_FILE).exists())
    if not below:
        raise ArchiveError(
            f"{folder} holds no run folder",
            "give the folder that `iocast card`, `run` or `repeat` named when it ended",
        )
    return tuple(archive.load(str(child)) for child in below)


def labels(folders: tuple[str, ...]) -> tuple[str, ...]:
    """A short name for each folder: its last part, or as much of its path as tells them apart."""
    parts = [Path(os.path.abspath(folder)).parts for folder in folders]
    for length in range(1, max(map(len, parts)) + 1):
        names = tuple("/".join(each[-length:]) for each in parts)
        if len(set(names)) == len(names):
            return names
    return tuple(f"{name} ({at})" for at, name in enumerate(names, 1))


def group_folder(out: str, name: str) -> str:
    """A fresh folder for the runs of one command, `out/<time>-<name>`. Raises ArchiveError."""
    import time

    stamp = time.strftime("%Y-%m-%dT%H%M%S")
    for attempt in range(1, 1000):
        folder = Path(out) / (f"{stamp}-{name}" if attempt == 1 else f"{stamp}-{name}-{attempt}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise ArchiveError(
                f"cannot make a folder in {out}: {error.strerror}", "say where run folders go with --out DIR"
            ) from error
        return str(folder)
    raise ArchiveError(f"a thousand folders of this second are in {out}", "say where run folders go with --out DIR")
