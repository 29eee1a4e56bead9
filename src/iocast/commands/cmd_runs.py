"""iocast runs: the run folders below a directory, the newest first."""

from __future__ import annotations

import sys

import rich_click as click

from iocast.archive.catalogue import Found, runs_below
from iocast.commands.options import presenting
from iocast.commands.session import RUNS, present


@click.command()
@click.argument("directory", default=RUNS)
@click.option("--match", metavar="TEXT", help="Only runs whose name, target, host or status has this in it.")
@click.option("--limit", type=click.IntRange(1), metavar="NUMBER", help="No more than the newest so many.")
@presenting
def runs(directory: str, match: str | None, limit: int | None, form: str) -> int:
    """List the runs in DIRECTORY and below, the newest first."""
    found = [run for run in runs_below(directory) if _matches(run, match)]
    if not found:
        what = f'no run in {directory} has "{match}" in it' if match else f"there is no run in {directory}"
        print(f"{what}; `iocast card PATH` makes one", file=sys.stderr)
        return 0
    from iocast.report.listing import listing

    present(listing(tuple(found[:limit]), len(found), directory), form)
    return 0


def _matches(run: Found, match: str | None) -> bool:
    if not match:
        return True
    line = run.summary
    words = (run.name, line.name, line.target, line.host, line.status) if line else (run.name,)
    return any(match.lower() in word.lower() for word in words)
