"""iocast diagnose PATH: observe, suspect, test, conclude."""

from __future__ import annotations

import rich_click as click
from msgspec.structs import replace

from iocast.commands.shell.options import full_option, presenting, within
from iocast.commands.shell.request_options import asked_by
from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.sessions.requests.diagnose import DiagnoseRequest


@click.command()
@asked_by(DiagnoseRequest)
@within
@full_option
@presenting
def diagnose(request: DiagnoseRequest, directory: str, form: str) -> int:
    """Find the causes of abnormal figures of PATH (default: the current directory) by experiment.

    Measures PATH (or takes the run of --for), lists findings, tests each suspected cause by experiment
    and gives a verdict. Experiments only read, or write to work files that iocast created.
    """
    from iocast.archive.catalogue import find_run
    from iocast.sessions.inquire import diagnose as inquire

    if request.folder is not None:
        request = replace(request, folder=find_run(directory, request.folder))
    elif request.path is None:
        request = replace(request, path=".")
    listener = TerminalListener(form)
    inquire(request, listener)
    return listener.exit_code
