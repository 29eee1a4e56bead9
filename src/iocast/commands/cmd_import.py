"""iocast import FILE...: results of other tools become run folders."""

from __future__ import annotations

import os

import rich_click as click

from iocast import archive
from iocast.commands.options import showing
from iocast.commands.session import RUNS, say, show


@click.command("import")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--out", "-o", default=RUNS, show_default=True, metavar="DIR", help="Where run folders go.")
@showing
def import_(files: tuple[str, ...], out: str, form: str) -> int:
    """Read result FILES of fio, fioparse, ORION, vdbench, iostat or sar into run folders, and show them.

    Files of one format become the rows of one run. What a file does not say stays blank; what cannot be read is
    refused with its line.
    """
    from msgspec.structs import replace

    from iocast import __version__, imports
    from iocast.report.card.judged import judge

    for run in imports.read(files):
        run = replace(run, iocast_version=__version__)
        folder = archive.RunFolder.create(out, run)
        for number, record in enumerate(run.phases):
            folder.save_phase(number, record.phase.name, None, record.samples)
        say(f"run folder: {os.path.relpath(folder.path)}")
        show(judge(run, os.path.relpath(folder.path)), form)
    return 0
