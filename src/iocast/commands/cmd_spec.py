"""iocast spec JOB: the same job as a job file of fio, or of iocast, on stdout."""

from __future__ import annotations

import sys

import rich_click as click

from iocast.commands.session import adjust, say
from iocast.jobs import load_job


@click.command()
@click.argument("job")
@click.option("--to", type=click.Choice(["fio", "toml"]), default="toml", show_default=True, help="Whose job file.")
@click.option("--size", metavar="SIZE", help="Size of each work file, e.g. 4GiB, instead of the job's.")
@click.option("--time", metavar="TIME", help="Length of every row, e.g. 10s, instead of the job's.")
def spec(job: str, to: str, size: str | None, time: str | None) -> int:
    """Write JOB, a preset or a job file of iocast or of fio, as a job file of fio or of iocast.

    What the other cannot say is refused, phase by phase. Notes go to stderr, the job file to stdout.
    """
    from iocast.jobs.fio.fio_writing import fio_text, notes_on
    from iocast.jobs.toml.job_writing import toml_notes, toml_text

    loaded = adjust(load_job(job), size, time)
    text, notes = (fio_text(loaded), notes_on(loaded)) if to == "fio" else (toml_text(loaded), toml_notes(loaded))
    for note in (*loaded.notes, *notes):
        say(f"note: {note}")
    sys.stdout.write(text)
    return 0
