"""clean: the work files that iocast made are removed, and nothing else."""

from __future__ import annotations

from iocast.load.removal import Cleaned, clean

__all__ = ["Cleaned", "clean_up"]


def clean_up(path: str, *, dry_run: bool = False) -> Cleaned:
    """Removes the work files in a path; with `dry_run` only says which. Raises IocastError."""
    return clean(path, dry_run=dry_run)
