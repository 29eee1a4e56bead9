"""iocast compare A B: two runs or groups of repeats, row by row, with a verdict."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from iocast.catalogue import labels, runs_in
from iocast.commands.options import presenting
from iocast.commands.session import present, say
from iocast.commands.writing import THEMES, form_of, write_file


@click.command()
@click.argument("folders", nargs=-1, required=True, metavar="A B [C...]")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write a file instead, with charts: .html, .md, .json, .csv, .txt; .png or .svg for one picture a chart.",
)
@click.option(
    "--theme", type=click.Choice(THEMES), default="light", show_default=True, help="Colours of .png and .svg."
)
@presenting
def compare(folders: tuple[str, ...], output: str | None, theme: str, form: str) -> int:
    """Compare runs: everything against A.

    Each of A, B ... is a run folder, or a folder of run folders (as `iocast repeat` and `iocast ab` make them),
    whose runs then count as repeats. Rows are compared where they have the same workload; what differs between
    hosts, targets and plans is told first.
    """
    if len(folders) < 2:
        raise click.UsageError("two folders at least are needed: the first is what the others are compared with")
    if output is not None:
        form_of(Path(output))  # a mistake is said before anything is read
    from iocast.diagnose.comparable import side
    from iocast.report.comparison import compare as report_of

    sides = [side(label, runs_in(folder)) for label, folder in zip(labels(folders), folders, strict=True)]
    if output is None:
        present(report_of(sides), form)
        return 0
    for file in write_file(report_of(sides, charts=True), Path(output), theme):
        say(f"wrote {file}")
    return 0
