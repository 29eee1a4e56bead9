"""Claims a folder that was not there: OUT/<time>-<name>, with a number behind it where two begin in one second."""

from __future__ import annotations

import time
from pathlib import Path

from iocast.errors import ArchiveError

_MOST = 1000  # of one second


def fresh_folder(out: str | Path, name: str) -> Path:
    """Makes the folder and returns it. Raises ArchiveError."""
    stamp = time.strftime("%Y-%m-%dT%H%M%S")
    plain = "".join(sign if sign.isalnum() or sign in "._-" else "-" for sign in name)[:80] or "unnamed"
    for attempt in range(1, _MOST):
        folder = Path(out) / (f"{stamp}-{plain}" if attempt == 1 else f"{stamp}-{plain}-{attempt}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise ArchiveError(
                f"cannot create a folder in {out}: {error.strerror or error}", "choose another directory with --out DIR"
            ) from error
        return folder
    raise ArchiveError(f"{out} already has {_MOST} folders of this second", "choose another directory with --out DIR")
