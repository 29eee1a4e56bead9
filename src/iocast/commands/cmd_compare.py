"""iocast compare A B: two runs or groups of repeats, row by row, with a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import rich_click as click

from iocast.commands.shell.options import anonymous_option, fail_on, filing, presenting, within
from iocast.commands.shell.showing import Into, deliver_report, named_run

if TYPE_CHECKING:
    from iocast.model.anonymity.pseudonyms import Pseudonyms


OUTCOMES = ("worse", "undecided", "refused")


@click.command()
@click.argument("folders", nargs=-1, required=True, metavar="A B [C...]")
@within
@filing
@presenting
@anonymous_option
@fail_on(*OUTCOMES)
def compare(
    folders: tuple[str, ...],
    directory: str,
    into: Into | None,
    form: str,
    names: Pseudonyms | None,
    fail_on: frozenset[str],
) -> int:
    """Compare runs against the baseline A.

    Each of A, B ... is a run folder, a name or tag that `iocast runs` lists in DIR, or a folder of run folders (from
    `iocast repeat` or `iocast ab`), whose runs then count as repeats. Rows with the same workload are compared;
    differences between hosts, targets and plans come first. Two profiles (from `iocast profile`) are compared too.
    For --fail-on a figure is worse where repeats show it; where they are too few it is undecided.
    """
    if len(folders) < 2:
        raise click.UsageError("at least two folders are needed: the first is the baseline")
    from iocast.sessions.anonymous.anonymous_copies import copies_of
    from iocast.sessions.comparing import compare as compared
    from iocast.sessions.comparing import outcomes_of
    from iocast.sessions.profiling.compare_profiles import all_profiles, compare_profiles

    profiles = all_profiles(folders)
    if fail_on and profiles:
        raise click.UsageError("--fail-on is for runs; `iocast profile --like` judges whether two profiles are alike")
    given = folders if profiles else tuple(named_run(directory, folder) for folder in folders)
    with copies_of(given, names) as copied:
        comparison = compare_profiles(copied.folders) if profiles else compared(copied.folders, folders)
        report = comparison.report(charts=into is not None)
        deliver_report(copied.without_rooms(report), form, into)
    return int(bool(fail_on & outcomes_of(report.result)))
