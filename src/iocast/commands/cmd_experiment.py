"""iocast experiment NAME PATH: one question about a path, a plan that answers it, a verdict."""

from __future__ import annotations

import sys

import rich_click as click

from iocast.commands.shell.options import presenting
from iocast.commands.shell.request_options import asked_by
from iocast.commands.shell.showing import print_json, print_listed, put, say, width
from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.sessions.requests.experiment import TrialRequest

COPY = "copy"  # the one experiment with two paths, which makes no runs


@click.command()
@click.option("--plan", "dry", is_flag=True, help="Show the plan without running it.")
@asked_by(TrialRequest)
@presenting
def experiment(request: TrialRequest, dry: bool, form: str) -> int:
    """Answer one question about PATH (default: the current directory) with the experiment NAME.

    Without NAME: list all experiments.

    Shows first what it will do and write. In a directory it lays out work files; existing files and devices
    are only read, except a device that --destroy names. `sim:` devices run in virtual time.

    `iocast experiment copy SOURCE DESTINATION` copies a file in every way, and removes all copies without --keep.
    """
    from iocast.sessions import named_experiment

    if not request.name:
        known = named_experiment.questions()
        if form == "json":
            print_json(known)
            return 0
        print_listed(known)
        return 0
    if request.name == COPY:
        return _copy(request, dry=dry, form=form)
    if dry and form == "json":
        print_json([planned.plan for planned in named_experiment.plans(request)])
        return 0
    if dry:
        _show_plans(request)
        return 0
    listener = TerminalListener(form)
    named_experiment.experiment(request, listener)
    return listener.exit_code


def _copy(trial: TrialRequest, *, dry: bool, form: str) -> int:
    """A file in every way of copying; exits with the signal that stopped it."""
    from iocast.commands.shell.copy_lines import plan_lines
    from iocast.sessions import copy_experiment

    request = copy_experiment.copy_request(trial)
    if dry:
        plan = copy_experiment.plan_copies(request)
        if form == "json":
            print_json(plan)
        else:
            for line in plan_lines(plan):
                put(line)
        return 0
    listener = TerminalListener(form)
    copy_experiment.copy_experiment(request, listener)
    return listener.exit_code


def _show_plans(request: TrialRequest) -> None:
    """The rows of every target; nothing is done."""
    from iocast.commands.shell import plan_lines
    from iocast.sessions.named_experiment import images_of, plans

    for planned in plans(request):
        plan = planned.plan
        rows, totals = plan_lines.rows(plan, width()), plan_lines.totals(plan, planned.layout)
        for line in (*rows, *totals, plan_lines.writing_line(plan.phases)):
            put(line)
        for note in plan_lines.note_lines(planned.notes, plan, planned.excluded):
            say(note)
    if images := images_of(request):
        put(plan_lines.image_line(images))
    sys.stdout.flush()
