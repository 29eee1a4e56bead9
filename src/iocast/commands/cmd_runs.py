"""iocast runs: the run folders below a directory, the newest first."""

from __future__ import annotations

import sys

import rich_click as click

from iocast.archive.catalogue import Found, runs_below
from iocast.commands.shell.options import presenting
from iocast.commands.shell.showing import present
from iocast.sessions.requests import RUNS


@click.command()
@click.argument("directory", default=RUNS)
@click.option("--match", metavar="TEXT", help="List only runs whose name, target, host or status contains TEXT.")
@click.option("--limit", type=click.IntRange(1), metavar="NUMBER", help="List only the newest NUMBER runs.")
@presenting
def runs(directory: str, match: str | None, limit: int | None, form: str) -> int:
    """List the runs in DIRECTORY and below, newest first."""
    found = [run for run in runs_below(directory) if _matches(run, match)]
    if not found:
        what = f'no run in {directory} matches "{match}"' if match else f"no runs in {directory}"
        print(f"{what}; `iocast card PATH` creates one", file=sys.stderr)
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
