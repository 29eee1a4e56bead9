"""iocast clean PATH: the work files that iocast made there, and nothing else, are removed."""

from __future__ import annotations

import rich_click as click

from iocast.commands.shell.options import json_option
from iocast.commands.shell.showing import print_json, put, say


@click.command()
@click.argument("path", default=".")
@click.option("--dry-run", is_flag=True, help="List what would be removed; remove nothing.")
@json_option
def clean(path: str, dry_run: bool, as_json: bool) -> int:
    """Remove what iocast created in PATH (default: the current directory): work files, a server that a kill left."""
    from iocast.model.results.answers import Cleaned, KeptFile, RemovedFile
    from iocast.sessions.clean_up import clean_up
    from iocast.text import capacity, shown

    cleaned = clean_up(path, dry_run=dry_run)
    if as_json:
        removed = tuple(RemovedFile(path=name, freed_bytes=freed_bytes) for name, freed_bytes in cleaned.removed)
        kept = tuple(KeptFile(path=name, why=why) for name, why in cleaned.left)
        print_json(Cleaned(dry_run=dry_run, removed=removed, kept=kept))
        return 0
    verb = "would remove" if dry_run else "removed"
    for name, freed_bytes in cleaned.removed:
        put(f"{verb} {shown(name)} ({capacity(freed_bytes)})")
    for name, why in cleaned.left:
        say(f"kept: {shown(name)} {why}")
    if not cleaned.removed and not cleaned.left:
        put(f"no iocast work files in {path}")
    return 0
