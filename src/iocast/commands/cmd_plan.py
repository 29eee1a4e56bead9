"""iocast plan JOB: what would be done, how many bytes and minutes; nothing is done."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import rich_click as click

from iocast.commands.shell.options import json_option, run_options
from iocast.commands.shell.showing import print_json, print_listed, put, say, width
from iocast.sessions.requests.run_options import RunOptions

if TYPE_CHECKING:
    from iocast.sessions.plan_job import Proposed


@click.command()
@click.argument("job", required=False)
@click.argument("path", default=".")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of job files instead.")
@json_option
@run_options(out=False)
def plan(job: str | None, path: str, schema: bool, as_json: bool, options: RunOptions) -> int:
    """Show what JOB would do on PATH (default: the current directory) without running it.

    Without JOB: list the presets.
    """
    from iocast.sessions import plan_job

    if schema:
        sys.stdout.write(plan_job.schema_text())
    elif job is None:
        known = plan_job.presets()
        if as_json:
            print_json(known)
            return 0
        print_listed(known)
    else:
        _show(plan_job.plan_job(job, path, options), as_json)
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
    for note in plan_lines.note_lines((*layout.notes, *proposed.fitted.notes), plan, proposed.fitted.left_out):
        say(note)
