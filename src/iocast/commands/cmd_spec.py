"""iocast spec JOB: the same job as a job file of fio, or of iocast, on stdout."""

from __future__ import annotations

import sys

import rich_click as click

from iocast.commands.shell.options import json_option
from iocast.commands.shell.request_options import asked_by
from iocast.commands.shell.showing import print_json, say
from iocast.sessions.requests.plan import SpecRequest
from iocast.text import harmless


@click.command()
@asked_by(SpecRequest, size_bytes=(json_option,))
def spec(request: SpecRequest, as_json: bool) -> int:
    """Convert JOB (a preset, or a job file of iocast or fio) to a fio or iocast job file.

    Settings that the other format lacks are refused, phase by phase. The job file goes to stdout, notes to stderr.
    """
    from iocast.model.results.answers import WrittenJob
    from iocast.sessions.plan_job import write_job

    written = write_job(request)
    if as_json:
        print_json(WrittenJob(format=request.to, job=written.text, notes=tuple(written.notes)))
        return 0
    for note in written.notes:
        say(f"note: {note}")
    sys.stdout.write(harmless(written.text))
    return 0
