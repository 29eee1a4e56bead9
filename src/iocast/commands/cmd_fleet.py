"""iocast fleet DIR: the hosts of many run folders beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import rich_click as click

from iocast.commands.shell.options import fail_on, filing, presenting
from iocast.commands.shell.showing import Into, deliver_report
from iocast.model.codes import CountingEngine
from iocast.sessions.requests.run_options import RUNS

if TYPE_CHECKING:
    from iocast.model.codes import StandingCode


@click.command()
@click.argument("directories", nargs=-1, metavar="[DIR...]")
@click.option("--job", metavar="JOB", default="", help="Compare runs of this job; default: that of most hosts.")
@click.option(
    "--engine",
    type=click.Choice(get_args(CountingEngine)),
    default="duckdb",
    show_default=True,
    help="SQL engine; spark for more runs than this machine can handle (needs the extra `spark`, and Java).",
)
@filing
@presenting
@fail_on("slow", "busy")
def fleet(
    directories: tuple[str, ...],
    job: str,
    engine: CountingEngine,
    into: Into | None,
    form: str,
    fail_on: frozenset[StandingCode],
) -> int:
    """Rank the hosts whose runs are in DIR (default: iocast-runs) and below, and find slow ones.

    Hosts are compared row by row, by runs of one job. A host is slow if it takes longer than hosts with the same disk
    model would at the same load (the method of Perseus, FAST '23); a host that is only busy is not slow. At least five
    hosts are needed; with fewer, only the ranking is shown. Only the summary.json of each run is read.
    """
    from iocast.commands.shell.terminal_listener import TerminalListener
    from iocast.model.results.fleet import Fleet
    from iocast.sessions.fleet import FleetRequest
    from iocast.sessions.fleet import fleet as compared

    request = FleetRequest(directories=directories or (RUNS,), job=job, engine=engine)
    report = compared(request, TerminalListener())
    deliver_report(report, form, into)
    standings = {each.standing for each in report.result.slow} if isinstance(report.result, Fleet) else set()
    return int(bool(fail_on & standings))
