"""iocast spec JOB: the same job as a job file of fio, or of iocast, on stdout."""

from __future__ import annotations

import sys
from typing import Literal

import rich_click as click

from iocast.commands.shell.options import json_option, sizing
from iocast.commands.shell.showing import print_json, say
from iocast.sessions.requests.run_options import RunOptions
from iocast.text import harmless


@click.command()
@click.argument("job")
@click.option(
    "--to", type=click.Choice(["fio", "toml"]), default="toml", show_default=True, help="Format of the job file."
)
@json_option
@sizing
def spec(job: str, to: Literal["fio", "toml"], as_json: bool, size_bytes: int | None, duration_ns: int | None) -> int:
    """Convert JOB (a preset, or a job file of iocast or fio) to a fio or iocast job file.

    Settings that the other format lacks are refused, phase by phase. The job file goes to stdout, notes to stderr.
    """
    from iocast.model.results.answers import WrittenJob
    from iocast.sessions.plan_job import write_job

    written = write_job(job, to, RunOptions(size_bytes=size_bytes, duration_ns=duration_ns))
    if as_json:
        print_json(WrittenJob(format=to, job=written.text, notes=tuple(written.notes)))
        return 0
    for note in written.notes:
        say(f"note: {note}")
    sys.stdout.write(harmless(written.text))
    return 0
