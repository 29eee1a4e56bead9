"""iocast run JOB: a job file or preset on a target."""

from __future__ import annotations

import rich_click as click

from iocast.commands.options import destroying, grading, measuring, out_option, page_option, showing
from iocast.commands.session import adjust, perform
from iocast.commands.targets import find_target
from iocast.jobs import load_job
from iocast.model.grading import GradeAsked


@click.command()
@click.argument("job")
@click.argument("path", default=".")
@measuring
@destroying
@out_option
@showing
@page_option
@grading
def run(
    job: str,
    path: str,
    size: str | None,
    time: str | None,
    seed: int,
    destroy: str,
    out: str,
    form: str,
    page: bool,
    asked: GradeAsked,
) -> int:
    """Run JOB (a TOML job file, or a preset) on PATH, by default the current directory.

    Work files are laid out in PATH if it is a directory. Jobs that write are refused on files that iocast
    did not make, and on block devices that --destroy does not name. `iocast plan JOB PATH` shows first what
    would be done.
    """
    made = adjust(load_job(job), size, time)
    return perform(made, find_target(path, destroy), seed, size, out, form, page, asked)
