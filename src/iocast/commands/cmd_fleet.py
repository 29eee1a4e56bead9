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
    help="Who adds up; spark for runs that outgrow this machine (needs the extra `spark`, and Java).",
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

    Hosts are compared by the rows of one job. A host is slow where it takes longer than the others with disks of its
    model let expect at its load (after Perseus, FAST '23): one that is only busy is not slow. Five hosts are needed;
    of fewer the ranking is shown. Each run is read from its summary.json.
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
