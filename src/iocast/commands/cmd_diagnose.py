"""iocast diagnose PATH: observe, suspect, test, conclude."""

from __future__ import annotations

import rich_click as click

from iocast.commands.shell.options import presenting, run_options
from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.sessions.requests import RunOptions


@click.command()
@click.argument("path", required=False)
@click.option("--for", "folder", metavar="RUN", help="Diagnose this run instead of making a new one.")
@click.option(
    "--job", help="What is measured first, when no run is given. Default: survey, and on less than 1 GiB card-quick."
)
@click.option("--budget", default="10min", show_default=True, metavar="TIME", help="What experiments may take.")
@click.option("--bytes", "most", default="64GiB", show_default=True, metavar="SIZE", help="What they may move.")
@run_options(destroy=False)
@presenting
def diagnose(
    path: str | None, folder: str | None, job: str | None, budget: str, most: str, options: RunOptions, form: str
) -> int:
    """Find out what is behind the figures of PATH, by experiment.

    Measures PATH (or takes the run of --for), tells what looks abnormal, makes an experiment for each suspicion,
    and concludes. Experiments read, or write to work files of iocast's own; nothing else is written to.
    """
    from iocast.sessions.inquire import DiagnoseRequest, budget_of
    from iocast.sessions.inquire import diagnose as inquire

    listener, allowed = TerminalListener(form), budget_of(budget, most)
    inquire(DiagnoseRequest(path=path, folder=folder, job=job, options=options, budget=allowed), listener)
    return listener.exit_code
