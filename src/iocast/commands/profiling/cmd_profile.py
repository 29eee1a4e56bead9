"""iocast profile TRACE...: what a workload is like, from a trace of its I/Os."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import rich_click as click

from iocast.commands.shell.options import anonymous_option, filing_with_force, presenting
from iocast.commands.shell.showing import Into, deliver_report, say
from iocast.text import harmless

if TYPE_CHECKING:
    from iocast.model.anonymity.pseudonyms import Pseudonyms
    from iocast.model.codes import CountingEngine
    from iocast.sessions.profiling.profile_traces import Profiled


@click.command()
@click.argument("traces", nargs=-1, required=True, metavar="TRACE...")
@click.option("--input-format", "format_", metavar="NAME", help="Format of the traces, where it is not recognised.")
@click.option("--block-size", metavar="SIZE", help="Size of a database block in Oracle traces, e.g. 8k.")
@click.option("--oracle-release", metavar="RELEASE", help="Release of Oracle, where the trace does not say it.")
@click.option("--latency-unit", metavar="UNIT", help="Unit of latencies in old fio logs: us or ns.")
@click.option(
    "--block",
    metavar="SIZE",
    help="Size of a block for working set and caches; `request`: a request is one block. Default: the usual page size.",
)
@click.option("--cache", "caches", multiple=True, metavar="SIZE", help="A cache to add to the miss ratios, e.g. 40GiB.")
@click.option(
    "--engine",
    type=click.Choice(("duckdb", "spark")),
    default="duckdb",
    show_default=True,
    help="Who counts; spark for tables that outgrow this machine (pip install iocast[spark], and Java).",
)
@click.option(
    "--to", metavar="JOB", help="Write a load like it: job.toml, job.fio, job.vdbench; or toml, fio, vdbench."
)
@click.option("--check", is_flag=True, help="Hold TRACE 2, a generated load, against TRACE 1, the original.")
@click.option("--out", default="iocast-profiles", show_default=True, metavar="DIR", help="Directory for profiles.")
@filing_with_force
@presenting
@anonymous_option
def profile(
    traces: tuple[str, ...],
    format_: str | None,
    block_size: str | None,
    oracle_release: str | None,
    latency_unit: str | None,
    block: str | None,
    caches: tuple[str, ...],
    engine: CountingEngine,
    to: str | None,
    check: bool,
    out: str,
    into: Into | None,
    force: bool,
    form: str,
    names: Pseudonyms | None,
) -> int:
    """Profile a workload from traces of its I/Os.

    TRACE is a trace (blktrace, blkparse, Oracle 10046, fio logs, MSR and other block traces), a folder of traces, a
    pattern, or a profile that was made before. The profile is kept in DIR with its table of events.

    `--to` fits a small model to it and writes a job that `iocast run` accepts. `--check ORIGINAL GENERATED` says
    whether a generated load is like its original.
    """
    from iocast.errors import SpecError
    from iocast.sessions.profiling.profile_traces import profile_request, profile_traces

    request = profile_request(
        traces,
        format=format_,
        block_size=block_size,
        oracle_release=oracle_release,
        latency_unit=latency_unit,
        block=block,
        caches=caches,
        engine=engine,
        out=out,
        names=names,
    )
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
    found = profile_traces(request)
    if to is not None:
        return _write_job(found, to, force)
    deliver_report(found.report(charts=into is not None), form, into)
    if found.folder:
        say(f"profile: {found.folder}")
    return 0


def _write_job(found: Profiled, to: str, force: bool) -> int:
    """The job into its file, or on stdout; notes on stderr."""
    from iocast.sessions.profiling.profile_job import generate_job

    made = generate_job(found, to, force=force)
    for note in made.notes:
        say(f"note: {note}")
    if found.folder:
        say(f"profile: {found.folder}")
    if made.path:
        say(f"wrote {made.path}")
    else:
        sys.stdout.write(harmless(made.text))
    return 0
