"""iocast trend TARGET: the runs of one job on one target over time, and what changed."""

from __future__ import annotations

import rich_click as click

from iocast.commands.shell.options import filing, presenting
from iocast.commands.shell.showing import Into, deliver_report
from iocast.sessions.requests.run_options import RUNS


@click.command()
@click.argument("target")
@click.argument("directory", default=RUNS)
@click.option("--job", metavar="JOB", default="", help="Follow this job; default that of the newest run.")
@click.option("--host", metavar="HOST", default="", help="Follow runs of this host; default that of the newest run.")
@filing
@presenting
def trend(target: str, directory: str, job: str, host: str, into: Into | None, form: str) -> int:
    """Show the runs of one job on TARGET over time: IOPS, p99 and grade, and where they changed.

    TARGET is a path or device as `iocast runs` lists it; DIRECTORY (default: iocast-runs) holds the runs. A change is
    a shift of 10% or more that lasted at least five runs; ten runs with trust C or better are needed.
    """
    from iocast.archive.followed_runs import Followed
    from iocast.sessions.target_trend import trend as trend_in

    followed = Followed(target=target, host=host, job=job)
    deliver_report(trend_in(directory, followed, charts=into is not None), form, into)
    return 0
