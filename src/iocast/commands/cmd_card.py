"""iocast card PATH: measure, judge, show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import rich_click as click

from iocast.commands.live.watched_options import beside_options
from iocast.commands.shell.options import anonymous_option, full_option, grading, page_option, run_options, showing
from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.model.grading import GradeAsked
from iocast.sessions.requests.measure import MeasureRequest
from iocast.sessions.requests.run_options import RunOptions

if TYPE_CHECKING:
    from iocast.model.anonymity.pseudonyms import Pseudonyms
    from iocast.sessions.live.asked_sources import Asked


@click.command()
@click.argument("path", default=".")
@click.option(
    "--preset",
    type=click.Choice(["quick", "standard", "full"]),
    default="quick",
    show_default=True,
    help="quick takes about 1 min, standard 15 min, full 2 h.",
)
@click.option("--diagnose", "diagnosing", is_flag=True, help="Test findings by experiment after the measurement.")
@click.option(
    "--with",
    "server",
    metavar="SERVER",
    default="",
    help="Then run a database on PATH, and show the storage as it sees it: postgres, or postgres:DIR of its programs.",
)
@run_options(price=True)
@beside_options
@full_option
@showing
@page_option
@anonymous_option
@grading
def card(
    path: str,
    preset: str,
    diagnosing: bool,
    server: str,
    options: RunOptions,
    beside: Asked | None,
    form: str,
    page: bool,
    asked: GradeAsked,
    names: Pseudonyms | None,
) -> int:
    """Measure PATH and show its I/O report card.

    PATH is a directory (default: the current one), where work files are laid out and kept for later runs, a new
    file, an existing file (read-only), a block device (read-only without --destroy), or a simulated device such as
    `sim:hdd`.
    """
    from msgspec.structs import replace

    options = replace(options, beside=beside)
    job, listener = f"card-{preset}", TerminalListener(form)
    request = MeasureRequest(
        job=job, path=path, options=options, asked=asked, page=page, diagnosing=diagnosing, names=names
    )
    if server:
        from iocast.sessions.database.with_server import measure_with_server

        measured = measure_with_server(request, server, listener)
    else:
        from iocast.sessions.measure import measure

        measured = measure(request, listener)
    return listener.exit_code or int(not measured.passed)
