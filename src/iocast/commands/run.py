"""iocast run JOB: a job file or preset on a target."""

from __future__ import annotations

import rich_click as click

from iocast.commands.options import measuring, showing
from iocast.commands.session import adjust, make_plan, perform
from iocast.commands.targets import find_target
from iocast.spec import load_job


@click.command()
@click.argument("job")
@click.argument("path", default=".")
@measuring
@showing
def run(job: str, path: str, size: str | None, time: str | None, out: str, seed: int, form: str) -> int:
    """Run JOB (a TOML job file, or a preset) on PATH, by default the current directory.

    Work files are laid out in PATH if it is a directory. Jobs that write are refused on devices and on
    files that iocast did not make. `iocast plan JOB PATH` shows first what would be done.
    """
    target = find_target(path)
    plan, omitted = make_plan(adjust(load_job(job), size, time), target, seed, read_only=False)
    return perform(plan, omitted, out, form)
