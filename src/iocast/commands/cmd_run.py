"""iocast run JOB: a job file or preset on a target."""

from __future__ import annotations

from typing import TYPE_CHECKING

import rich_click as click

from iocast.commands.live.watched_options import beside_options
from iocast.commands.shell.options import (
    anonymous_option,
    full_option,
    grading,
    page_option,
    run_options,
    showing_files,
)
from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.model.grading import GradeAsked
from iocast.sessions.requests.measure import MeasureRequest
from iocast.sessions.requests.run_options import RunOptions

if TYPE_CHECKING:
    from iocast.model.anonymity.pseudonyms import Pseudonyms
    from iocast.sessions.live.asked_sources import Asked


@click.command()
@click.argument("job")
@click.argument("path", default=".")
@run_options(price=True)
@beside_options
@full_option
@showing_files
@page_option
@anonymous_option
@grading
def run(
    job: str,
    path: str,
    options: RunOptions,
    beside: Asked | None,
    form: str,
    page: bool,
    asked: GradeAsked,
    names: Pseudonyms | None,
) -> int:
    """Run JOB (a job file of iocast, fio or vdbench, or a preset) on PATH (default: the current directory).

    Work files are laid out in PATH if it is a directory; a job of [[database]] tables takes the URL of a database.
    Jobs that write are refused on files that iocast did not create and on block devices that --destroy does not name.
    `iocast plan JOB PATH` shows what a job would do.
    """
    from msgspec.structs import replace

    from iocast.sessions.measure import measure

    options = replace(options, beside=beside)
    listener = TerminalListener(form)
    request = MeasureRequest(job=job, path=path, options=options, asked=asked, page=page, names=names)
    measured = measure(request, listener)
    return listener.exit_code or int(not measured.passed)
