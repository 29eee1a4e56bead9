"""iocast experiment NAME PATH: one question about a path, a plan that answers it, a verdict."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import rich_click as click

from iocast.commands.shell.options import page_option, presenting, run_options
from iocast.commands.shell.showing import print_json, print_listed, put, say, width
from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.errors import SpecError

COPY = "copy"  # the one experiment with two paths, which makes no runs

if TYPE_CHECKING:
    from iocast.sessions.named_experiment import TrialRequest


@click.command()
@click.argument("name", required=False)
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@click.option("--plan", "dry", is_flag=True, help="Show the plan without running it.")
@click.option("--rounds", type=click.IntRange(1, 100), help="Repeats of each row; at least 3 for a verdict.")
@click.option("--block", metavar="SIZE", help="I/O size, unless the experiment varies it.")
@click.option("--depth", type=click.IntRange(1, 1024), help="Queue depth of each user.")
@click.option("--streams", type=click.IntRange(1, 256), help="Writers of `noise`, readers of `concurrent-readers`.")
@click.option(
    "--sync",
    type=click.Choice(["none", "sync", "dsync"]),
    default="none",
    help="dsync: each write of `noise` is durable before the next (O_DSYNC), as a log writer's; sync: O_SYNC.",
)
@click.option("--sizes", metavar="SIZE,...", default="", help="Working-set sizes of `working-set`.")
@click.option("--files", type=click.IntRange(10, 100_000_000), help="Files in the tree of `metadata`.")
@click.option(
    "--filesystems",
    metavar="KIND,...",
    default="all",
    show_default=True,
    help="File systems that `dio-matrix` makes on an image in PATH: raw, ext2 … none tests PATH itself.",
)
@click.option("--methods", metavar="WAY,...", default="", help="Ways of copying of `copy`; default: all.")
@click.option("--keep", is_flag=True, help="Leave one copy at DESTINATION after `copy`.")
@run_options()
@page_option
@presenting
def experiment(name: str | None, dry: bool, form: str, methods: str, keep: bool, **asked: Any) -> int:
    """Answer one question about PATH (default: the current directory) with the experiment NAME.

    Without NAME: list all experiments.

    Shows first what it will do and write. In a directory it lays out work files; existing files and devices
    are only read, except a device that --destroy names. `sim:` devices run in virtual time.

    `iocast experiment copy SOURCE DESTINATION` copies a file in every way, and removes all copies without --keep.
    """
    from iocast.sessions import named_experiment

    if name is None:
        known = named_experiment.questions()
        if form == "json":
            print_json(known)
            return 0
        print_listed(known)
        return 0
    if name == COPY:
        return _copy(asked, methods=methods, keep=keep, dry=dry, form=form)
    if methods or keep:
        raise SpecError(f"--methods and --keep belong to `iocast experiment {COPY}`", "omit them")
    request = named_experiment.trial_request(name, **asked)
    if dry and form == "json":
        print_json([planned.plan for planned in named_experiment.plans(request)])
        return 0
    if dry:
        _show_plans(request)
        return 0
    listener = TerminalListener(form)
    named_experiment.experiment(request, listener)
    return listener.exit_code


def _copy(asked: dict[str, Any], *, methods: str, keep: bool, dry: bool, form: str) -> int:
    """A file in every way of copying; exits with the signal that stopped it."""
    from iocast.commands.shell.copy_lines import plan_lines
    from iocast.sessions.copying import copy_experiment

    request = copy_experiment.copy_request(asked, methods=methods, keep=keep)
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
        for note in plan_lines.note_lines(planned.notes, plan, planned.left_out):
            say(note)
    if images := images_of(request):
        put(plan_lines.image_line(images))
    sys.stdout.flush()
