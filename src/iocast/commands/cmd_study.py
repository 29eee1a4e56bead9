"""iocast study STUDY PATH: a matrix of loads, each run several times, on one configuration after the other."""

from __future__ import annotations

import rich_click as click

from iocast.commands.shell.options import presenting
from iocast.commands.shell.request_options import asked_by
from iocast.commands.shell.showing import print_json, print_listed, put
from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.sessions.requests.study import StudyRequest

_PLAN = click.option("--plan", "dry", is_flag=True, help="Show the cells without running them.")


@click.command()
@asked_by(StudyRequest, out=(_PLAN,))
@presenting
def study(request: StudyRequest, dry: bool, form: str) -> int:
    """Run a matrix of loads on PATH (default: the current directory), several times each.

    Without STUDY: list the studies that come with iocast.

    STUDY is a preset (`vmware`: 96 cells x 3 repeats) or a study file. Every run is kept as soon as it ends: the same
    command goes on where it was interrupted, however it was. `iocast report DIR` shows the study again.
    """
    from iocast.sessions import study_runs

    if not request.study:
        known = study_runs.known_studies()
        if form == "json":
            print_json(known)
        else:
            print_listed(known)
        return 0
    if dry:
        from iocast.commands.shell.study_lines import plan_lines

        plan = study_runs.planned_study(request)
        if form == "json":
            print_json(plan)
        else:
            for line in plan_lines(plan):
                put(line)
        return 0
    listener = TerminalListener(form)
    study_runs.run_study(request, listener)
    return listener.exit_code
