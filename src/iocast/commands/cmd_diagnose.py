"""iocast diagnose PATH: observe, suspect, test, conclude."""

from __future__ import annotations

import os

import rich_click as click

from iocast import archive
from iocast.commands.options import measuring, out_option, presenting
from iocast.commands.session import adjust, carry_out, option_value, show
from iocast.commands.targets import find_target
from iocast.errors import SpecError
from iocast.jobs import load_job
from iocast.model.target import Target
from iocast.units import parse_duration, parse_size


@click.command()
@click.argument("path", required=False)
@click.option("--for", "folder", metavar="RUN", help="Diagnose this run instead of making a new one.")
@click.option(
    "--job", help="What is measured first, when no run is given. Default: survey, and on less than 1 GiB card-quick."
)
@click.option("--budget", default="10min", show_default=True, metavar="TIME", help="What experiments may take.")
@click.option("--bytes", "most", default="64GiB", show_default=True, metavar="SIZE", help="What they may move.")
@measuring
@out_option
@presenting
def diagnose(
    path: str | None,
    folder: str | None,
    job: str | None,
    budget: str,
    most: str,
    size: str | None,
    time: str | None,
    seed: int,
    out: str,
    form: str,
) -> int:
    """Find out what is behind the figures of PATH, by experiment.

    Measures PATH (or takes the run of --for), tells what looks abnormal, makes an experiment for each suspicion,
    and concludes. Experiments read, or write to work files of iocast's own; nothing else is written to.
    """
    from iocast.commands.inquiry import diagnose_run
    from iocast.diagnose.experiments.next_step import Budget
    from iocast.report.card.judged import judge

    allowed = Budget(option_value("--budget", budget, parse_duration) / 1e9, option_value("--bytes", most, parse_size))
    if (path is None) == (folder is None):
        raise SpecError("one of PATH and --for RUN is needed", "iocast diagnose /mnt/db, or --for iocast-runs/...")
    if folder is None:
        target = find_target(path or "")
        wanted = adjust(load_job(job or _survey(target, size)), size, time)
        done, code = carry_out(wanted, target, seed, size, out)
        if done.error is not None:
            raise done.error
        if done.folder is None or code:
            return code
        folder = str(done.folder)
    code = diagnose_run(folder, allowed)
    show(judge(archive.load(folder), os.path.relpath(folder)), form)
    return code


SURVEY_BYTES = 1 << 30  # what its regions need


def _survey(target: Target, size: str | None) -> str:
    """The preset that is measured first: the survey, where it fits."""
    room = (
        option_value("--size", size, parse_size)
        if size is not None and target.size_bytes is None
        else target.size_bytes
    )
    return "survey" if room is None or room >= SURVEY_BYTES else "card-quick"
