"""iocast compare A B: two runs or groups of repeats, row by row, with a verdict."""

from __future__ import annotations

import rich_click as click

from iocast.commands.shell.options import filing, presenting
from iocast.commands.shell.showing import Into, deliver


@click.command()
@click.argument("folders", nargs=-1, required=True, metavar="A B [C...]")
@filing
@presenting
def compare(folders: tuple[str, ...], into: Into | None, form: str) -> int:
    """Compare runs: everything against A.

    Each of A, B ... is a run folder, or a folder of run folders (as `iocast repeat` and `iocast ab` make them),
    whose runs then count as repeats. Rows are compared where they have the same workload; what differs between
    hosts, targets and plans is told first.
    """
    from iocast.sessions.report_files import get_ready

    if len(folders) < 2:
        raise click.UsageError("two folders at least are needed: the first is what the others are compared with")
    get_ready(into and into.path)
    from iocast.sessions.comparing import compare as compared

    deliver(compared(folders), form, into)
    return 0
