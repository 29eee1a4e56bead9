"""The folder that holds all the runs of one command: repeats, and two sides."""

from __future__ import annotations

from pathlib import Path

from iocast.errors import ArchiveError


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
