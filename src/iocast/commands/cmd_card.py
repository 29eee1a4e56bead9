"""iocast card PATH: measure, judge, show."""

from __future__ import annotations

import rich_click as click

from iocast.commands.shell.options import grading, page_option, run_options, showing
from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.model.grading import GradeAsked
from iocast.sessions.requests import MeasureRequest, RunOptions


@click.command()
@click.argument("path")
@click.option(
    "--preset",
    type=click.Choice(["quick", "standard", "full"]),
    default="quick",
    show_default=True,
    help="About a minute, a quarter of an hour, two hours.",
)
@click.option("--diagnose", "diagnosing", is_flag=True, help="Test what looks abnormal by experiment afterwards.")
@run_options()
@showing
@page_option
@grading
def card(
    path: str, preset: str, diagnosing: bool, options: RunOptions, form: str, page: bool, asked: GradeAsked
) -> int:
    """Measure PATH and show its I/O report card.

    PATH is a directory (work files are laid out in it and kept for the next time), a file to be made, an
    existing file (only read), a block device (only read without --destroy), or a simulated device such as `sim:hdd`.
    """
    from iocast.sessions.measure import measure

    job, listener = f"card-{preset}", TerminalListener(form)
    request = MeasureRequest(job=job, path=path, options=options, asked=asked, page=page, diagnosing=diagnosing)
    measured = measure(request, listener)
    return listener.exit_code or int(not measured.passed)
