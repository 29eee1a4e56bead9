"""iocast study STUDY PATH: a matrix of loads, each run several times, on one configuration after the other."""

from __future__ import annotations

from typing import Any

import rich_click as click

from iocast.commands.shell.options import presenting, run_options
from iocast.commands.shell.showing import print_json, print_listed, put
from iocast.commands.shell.terminal_listener import TerminalListener


@click.command()
@click.argument("study", required=False)
@click.argument("path", default=".")
@click.option("--label", metavar="NAME", default="", help="The configuration that PATH stands for, e.g. bare.")
@click.option("--plan", "dry", is_flag=True, help="Show the cells without running them.")
@click.option("--out", "folder", default="", metavar="DIR", help="Folder of the study; default: iocast-studies/NAME.")
@run_options(out=False)
@presenting
def study(study: str | None, path: str, dry: bool, form: str, **asked: Any) -> int:
    """Run a matrix of loads on PATH (default: the current directory), several times each.

    Without STUDY: list the studies that come with iocast.

    STUDY is a preset (`vmware`: 96 cells x 3 repeats) or a study file. Every run is kept as soon as it ends: the same
    command goes on where it was interrupted, however it was. `iocast report DIR` shows the study again.
    """
    from iocast.sessions.studies import study_runs

    if study is None:
        known = study_runs.known_studies()
        if form == "json":
            print_json(known)
        else:
            print_listed(known)
        return 0
    if dry:
        from iocast.commands.shell.study_lines import plan_lines

        plan = study_runs.planned_study(study, asked["options"])
        if form == "json":
            print_json(plan)
        else:
            for line in plan_lines(plan):
                put(line)
        return 0
    request = study_runs.StudyRequest(
        study=study, path=path, label=asked["label"], out=asked["folder"], options=asked["options"]
    )
    listener = TerminalListener(form)
    study_runs.run_study(request, listener)
    return listener.exit_code
