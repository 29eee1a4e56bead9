"""iocast card PATH: measure, judge, show."""

from __future__ import annotations

import rich_click as click

from iocast.commands.options import measuring, showing
from iocast.commands.session import adjust, make_plan, perform
from iocast.commands.targets import find_target, only_read
from iocast.spec import load_job


@click.command()
@click.argument("path")
@click.option(
    "--preset",
    type=click.Choice(["quick", "standard", "full"]),
    default="quick",
    show_default=True,
    help="About a minute, a quarter of an hour, two hours.",
)
@measuring
@showing
def card(path: str, preset: str, size: str | None, time: str | None, out: str, seed: int, form: str) -> int:
    """Measure PATH and show its I/O report card.

    PATH is a directory (work files are laid out in it and kept for the next time), a file to be made, an
    existing file or block device (only read), or a simulated device such as `sim:hdd`.
    """
    target = find_target(path)
    job = adjust(load_job(f"card-{preset}"), size, time)
    plan, omitted = make_plan(job, target, seed, read_only=only_read(target))
    return perform(plan, omitted, out, form)
