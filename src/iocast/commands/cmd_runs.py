"""iocast runs: the run folders below a directory, the newest first."""

from __future__ import annotations

import shlex

import rich_click as click

from iocast.archive.catalogue import CatalogueEntry, runs_below
from iocast.commands.shell.options import filing, presenting
from iocast.commands.shell.showing import Into, deliver_report, say
from iocast.sessions.requests.run_options import RUNS


@click.command()
@click.argument("directory", default=RUNS)
@click.option(
    "--match", metavar="TEXT", help="List only runs whose name, target, host, status, note or tags contain TEXT."
)
@click.option("--tag", "tags", metavar="TAG", multiple=True, help="List only runs with this tag; repeat for more.")
@click.option("--limit", type=click.IntRange(1), metavar="NUMBER", help="List only the newest NUMBER runs.")
@click.option("--mend", "mending", is_flag=True, help="First close runs whose process died; measured rows are kept.")
@filing
@presenting
def runs(
    directory: str,
    match: str | None,
    tags: tuple[str, ...],
    limit: int | None,
    mending: bool,
    into: Into | None,
    form: str,
) -> int:
    """List the runs in DIRECTORY (default: iocast-runs) and below, newest first.

    A run whose process was killed has the status `dead`, until `--mend` makes it `interrupted`.
    """
    if mending:
        _mend(directory)
    matching = [run for run in runs_below(directory) if _matches(run, match) and set(tags) <= set(run.notes.tags)]
    if not matching:
        say(_nothing(directory, match, tags))
        return 0
    from iocast.report.listing import listing

    inside = "" if directory == RUNS else f" --in {shlex.quote(directory)}"
    deliver_report(listing(tuple(matching[:limit]), len(matching), directory, inside), form, into)
    return 0


def _nothing(directory: str, match: str | None, tags: tuple[str, ...]) -> str:
    """What to say when no run is listed, and the way out."""
    filters = [*([f'--match "{match}"'] if match else []), *(f"--tag {tag}" for tag in tags)]
    if filters:
        return f"no run in {directory} has {' and '.join(filters)}; `iocast runs {directory}` lists all"
    return f"no runs in {directory}; `iocast card PATH` creates one"


def _mend(directory: str) -> None:
    from iocast.sessions.clean_up import mend_runs

    mended = mend_runs(directory)
    for run in mended.closed:
        rows = f"{run.summary.rows} of {run.summary.planned} rows kept" if run.summary else ""
        say(f"closed: {run.name}: {rows}")
    for name, why in mended.left:
        say(f"not closed: {name}: {why}")
    if not mended.closed and not mended.left:
        say(f"no dead runs in {directory}")


def _matches(run: CatalogueEntry, match: str | None) -> bool:
    if not match:
        return True
    line = run.summary
    said = (run.notes.note, *run.notes.tags)
    words = (*said, run.name, line.name, line.target, line.host, line.status) if line else (*said, run.name)
    return any(match.lower() in word.lower() for word in words)
