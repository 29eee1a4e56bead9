"""iocast profile TRACE...: what a workload is like, from a trace of its I/Os."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import rich_click as click

from iocast.commands.shell.options import filing_with_force, presenting
from iocast.commands.shell.request_options import asked_by
from iocast.commands.shell.showing import Into, deliver_report, say
from iocast.sessions.requests.profile import ProfileRequest
from iocast.text import harmless

if TYPE_CHECKING:
    from iocast.sessions.profiling.profile_traces import Profiled

_INSTEAD = (
    click.option(
        "--to", metavar="JOB", help="Write a load like it: job.toml, job.fio, job.vdbench; or toml, fio, vdbench."
    ),
    click.option("--check", is_flag=True, help="Hold TRACE 2, a generated load, against TRACE 1, the original."),
)


@click.command()
@asked_by(ProfileRequest, out=_INSTEAD, names=(filing_with_force, presenting))
def profile(request: ProfileRequest, to: str | None, check: bool, into: Into | None, force: bool, form: str) -> int:
    """Profile a workload from traces of its I/Os.

    TRACE is a trace (blktrace, blkparse, Oracle 10046, fio logs, MSR and other block traces), a folder of traces, a
    pattern, or a profile that was made before. The profile is kept in DIR with its table of events.

    `--to` fits a small model to it and writes a job that `iocast run` accepts. `--check ORIGINAL GENERATED` says
    whether a generated load is like its original.
    """
    from iocast.errors import SpecError
    from iocast.sessions.profiling.profile_traces import profile_traces

    if check:
        from iocast.sessions.profiling.check_likeness import check_likeness

        if to is not None:
            raise SpecError("--check and --to do not go together", "omit one of them")
        checked = check_likeness(request)
        deliver_report(checked.report(charts=into is not None), form, into)
        return 0 if checked.check.verdict == "alike" else 1
    if to is not None:
        from iocast.sessions.profiling.profile_job import check_job_file

        check_job_file(to, force=force)
    profiled = profile_traces(request)
    if to is not None:
        return _write_job(profiled, to, force)
    deliver_report(profiled.report(charts=into is not None), form, into)
    if profiled.folder:
        say(f"profile: {profiled.folder}")
    return 0


def _write_job(profiled: Profiled, to: str, force: bool) -> int:
    """The job into its file, or on stdout; notes on stderr."""
    from iocast.sessions.profiling.profile_job import generate_job

    generated = generate_job(profiled, to, force=force)
    for note in generated.notes:
        say(f"note: {note}")
    if profiled.folder:
        say(f"profile: {profiled.folder}")
    if generated.path:
        say(f"wrote {generated.path}")
    else:
        sys.stdout.write(harmless(generated.text))
    return 0
