"""iocast clean PATH: the work files that iocast made there, and nothing else, are removed."""

from __future__ import annotations

import rich_click as click

from iocast.commands.shell.showing import say


@click.command()
@click.argument("path", default=".")
@click.option("--dry-run", is_flag=True, help="List what would be removed; remove nothing.")
def clean(path: str, dry_run: bool) -> int:
    """Remove the work files that iocast created in PATH (default: the current directory)."""
    from iocast.sessions.clean_up import clean_up
    from iocast.text import capacity

    cleaned = clean_up(path, dry_run=dry_run)
    verb = "would remove" if dry_run else "removed"
    for name, freed_bytes in cleaned.removed:
        print(f"{verb} {name} ({capacity(freed_bytes)})")
    for name, why in cleaned.left:
        say(f"kept: {name} {why}")
    if not cleaned.removed:
        print(f"no iocast work files in {path}")
    return 0
