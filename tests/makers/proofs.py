"""Attributes by which iocast knows what it made, set as it sets them."""

from __future__ import annotations

import os
from pathlib import Path

from iocast.archive.writing.proofs import prove_folder
from iocast.archive.writing.whole_files import mark_growing


def growing(path: Path) -> None:
    """A file that says that it is being written."""
    descriptor = os.open(path, os.O_RDWR)
    mark_growing(descriptor)
    os.close(descriptor)


def made(path: Path) -> None:
    """A folder that says that iocast made it."""
    descriptor = os.open(path, os.O_RDONLY)
    prove_folder(descriptor)
    os.close(descriptor)
