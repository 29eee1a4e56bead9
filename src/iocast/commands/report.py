"""iocast report FOLDER: the card of a finished run, from its folder alone."""

from __future__ import annotations

import rich_click as click

from iocast import archive
from iocast.commands.options import showing
from iocast.commands.session import show


@click.command()
@click.argument("folder")
@showing
def report(folder: str, form: str) -> int:
    """Show the card of the run in FOLDER again, without touching any device."""
    show(archive.load(folder), folder, form)
    return 0
