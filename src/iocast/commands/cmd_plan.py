"""iocast plan JOB: what would be done, how many bytes and minutes; nothing is done."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import rich_click as click

from iocast.commands.shell.options import json_option
from iocast.commands.shell.request_options import asked_by
from iocast.commands.shell.showing import print_json, print_listed, put, say, width
from iocast.sessions.requests.plan import PlanRequest

if TYPE_CHECKING:
    from iocast.sessions.plan_job import Proposed


@click.command()
@click.option("--schema", is_flag=True, help="Print the JSON Schema of job files instead.")
@json_option
@asked_by(PlanRequest)
def plan(request: PlanRequest, schema: bool, as_json: bool) -> int:
    """Show what JOB would do on PATH without running it (default: the directory that a fio job names, else the current
    directory).

    Without JOB: list the presets.
    """
    from iocast.sessions import plan_job

    if schema:
        sys.stdout.write(plan_job.schema_text())
    elif not request.job:
        known = plan_job.presets()
        if as_json:
            print_json(known)
            return 0
        print_listed(known)
    else:
        _show(plan_job.plan_job(request), as_json)
    return 0


def _show(proposed: Proposed, as_json: bool) -> None:
    from iocast.commands.shell import plan_lines

    plan = proposed.plan
    if as_json:
        print_json(plan)
        return
    put("\n".join(plan_lines.rows(plan, width())))
    if proposed.job.runs > 1:
        put(plan_lines.repeated(plan, proposed.job.runs))
    sys.stdout.flush()  # the rows come before what may now be wrong with the target
    layout = proposed.layout()
    put("\n".join(plan_lines.totals(plan, layout, proposed.make_seconds(layout))))
    for note in plan_lines.note_lines((*layout.notes, *proposed.fitted.notes), plan, proposed.fitted.excluded):
        say(note)
