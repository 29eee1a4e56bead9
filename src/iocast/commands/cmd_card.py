"""iocast card PATH: measure, judge, show."""

from __future__ import annotations

import rich_click as click

from iocast.commands.shell.options import filing, full_option, showing
from iocast.commands.shell.request_options import asked_by
from iocast.commands.shell.showing import Into
from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.sessions.requests.measure import MeasureRequest


def _job(_context: click.Context, _param: click.Parameter, preset: str) -> str:
    return f"card-{preset}"


@click.command()
@click.option(
    "--preset",
    "job",
    type=click.Choice(["quick", "standard", "full"]),
    default="quick",
    show_default=True,
    callback=_job,
    help="quick takes about 1 min, standard 15 min, full 2 h.",
)
@asked_by(MeasureRequest, without=("job",), page=(full_option, showing, filing))
def card(request: MeasureRequest, form: str, into: Into | None) -> int:
    """Measure PATH and show its I/O report card.

    PATH is a directory (default: the current one), where work files are laid out and kept for later runs, a new
    file, an existing file (read-only), a block device (read-only without --destroy), or a simulated device such as
    `sim:hdd`.
    """
    from iocast.sessions.hosts.where_asked import measure_where_asked

    listener = TerminalListener(form, into)
    measured = measure_where_asked(request, listener)
    return listener.exit_code or int(measured is not None and not measured.passed)
