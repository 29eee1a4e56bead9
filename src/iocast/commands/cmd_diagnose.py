"""iocast diagnose PATH: observe, suspect, test, conclude."""

from __future__ import annotations

import rich_click as click

from iocast.commands.shell.options import presenting, run_options, within
from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.sessions.requests.run_options import RunOptions


@click.command()
@click.argument("path", required=False)
@click.option("--for", "folder", metavar="RUN", help="Diagnose this run instead of measuring PATH.")
@click.option("--job", help="Job to run first, unless --for is given. Default: survey; card-quick below 1 GiB.")
@click.option("--budget", default="10min", show_default=True, metavar="TIME", help="Time limit for all experiments.")
@click.option(
    "--bytes", "most", default="64GiB", show_default=True, metavar="SIZE", help="I/O limit for all experiments."
)
@run_options(destroy=False)
@within
@presenting
def diagnose(
    path: str | None,
    folder: str | None,
    job: str | None,
    budget: str,
    most: str,
    options: RunOptions,
    directory: str,
    form: str,
) -> int:
    """Find the causes of abnormal figures of PATH (default: the current directory) by experiment.

    Measures PATH (or takes the run of --for), lists findings, tests each suspected cause by experiment
    and gives a verdict. Experiments only read, or write to work files that iocast created.
    """
    from iocast.archive.catalogue import find_run
    from iocast.sessions.inquire import DiagnoseRequest, budget_of
    from iocast.sessions.inquire import diagnose as inquire

    if folder is not None:
        folder = find_run(directory, folder)
    elif path is None:
        path = "."
    listener, allowed = TerminalListener(form), budget_of(budget, most)
    inquire(DiagnoseRequest(path=path, folder=folder, job=job, options=options, budget=allowed), listener)
    return listener.exit_code
