"""iocast card PATH: measure, judge, show."""

from __future__ import annotations

import rich_click as click

from iocast.commands.options import destroying, grading, measuring, out_option, page_option, showing
from iocast.commands.session import adjust, perform
from iocast.commands.targets import find_target
from iocast.jobs import load_job
from iocast.model.grading import GradeAsked


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
@measuring
@destroying
@out_option
@showing
@page_option
@grading
def card(
    path: str,
    preset: str,
    diagnosing: bool,
    size: str | None,
    time: str | None,
    seed: int,
    destroy: str,
    out: str,
    form: str,
    page: bool,
    asked: GradeAsked,
) -> int:
    """Measure PATH and show its I/O report card.

    PATH is a directory (work files are laid out in it and kept for the next time), a file to be made, an
    existing file (only read), a block device (only read without --destroy), or a simulated device such as `sim:hdd`.
    """
    job = adjust(load_job(f"card-{preset}"), size, time)
    return perform(job, find_target(path, destroy), seed, size, out, form, page, asked, diagnosing=diagnosing)
