"""iocast compare A B: two runs or groups of repeats, row by row, with a verdict."""

from __future__ import annotations

import rich_click as click

from iocast.archive.catalogue import labels, runs_in
from iocast.commands.options import filing, presenting
from iocast.commands.writing import Into, deliver, get_ready


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
    if len(folders) < 2:
        raise click.UsageError("two folders at least are needed: the first is what the others are compared with")
    get_ready(into)
    from iocast.diagnose.comparable import side
    from iocast.report.comparison.comparison_report import compare as report_of

    sides = [side(label, runs_in(folder)) for label, folder in zip(labels(folders), folders, strict=True)]
    deliver(report_of(sides, charts=into is not None), form, into)
    return 0
