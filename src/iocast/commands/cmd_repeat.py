"""iocast repeat N JOB: the same job several times, and whether its figures repeat."""

from __future__ import annotations

import rich_click as click

from iocast.archive.catalogue import runs_in
from iocast.commands.groups import group_folder
from iocast.commands.options import destroying, filing, measuring, out_option, presenting
from iocast.commands.session import adjust, carry_out, say
from iocast.commands.targets import find_target
from iocast.commands.writing import Into, deliver
from iocast.jobs import load_job


@click.command()
@click.argument("times", type=click.IntRange(1, 1000), metavar="N")
@click.argument("job")
@click.argument("path", default=".")
@measuring
@destroying
@out_option
@filing
@presenting
def repeat(
    times: int,
    job: str,
    path: str,
    size: str | None,
    time: str | None,
    seed: int,
    destroy: str,
    out: str,
    into: Into | None,
    form: str,
) -> int:
    """Run JOB N times on PATH, one after the other, and show whether the figures repeat.

    Each run has offsets of its own (the next seed). The run folders go into one new folder, which `iocast compare`
    takes as a group.
    """
    wanted = adjust(load_job(job), size, time)
    find_target(path, destroy)  # what is wrong with it is said before anything is made
    folder = group_folder(out, f"repeat-{wanted.name.replace(' ', '-')}")
    code = 0
    for number in range(1, times + 1):
        say(f"run {number} of {times}")
        # Other offsets in each run, or a lucky choice of them would repeat as well.
        done, code = carry_out(wanted, find_target(path, destroy), seed + number - 1, size, folder)
        if done.error is not None:
            raise done.error
        if code:
            break
    return code or _show(folder, form, into)


def _show(folder: str, form: str, into: Into | None) -> int:
    import os

    from iocast.diagnose.comparable import side
    from iocast.report.comparison.comparison_report import repeats

    deliver(repeats(side(os.path.basename(folder), runs_in(folder)), charts=into is not None), form, into)
    say(f"run folders: {os.path.relpath(folder)}")
    return 0
