"""iocast compare A B: two runs or groups of repeats, row by row, with a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import rich_click as click

from iocast.commands.shell.options import anonymous_option, filing, presenting, within
from iocast.commands.shell.showing import Into, deliver_report

if TYPE_CHECKING:
    from iocast.model.anonymity.pseudonyms import Pseudonyms


@click.command()
@click.argument("folders", nargs=-1, required=True, metavar="A B [C...]")
@within
@filing
@presenting
@anonymous_option
def compare(folders: tuple[str, ...], directory: str, into: Into | None, form: str, names: Pseudonyms | None) -> int:
    """Compare runs against the baseline A.

    Each of A, B ... is a run folder, a name that `iocast runs` lists in DIR, or a folder of run folders (from
    `iocast repeat` or `iocast ab`), whose runs then count as repeats. Rows with the same workload are compared;
    differences between hosts, targets and plans come first. Two profiles (from `iocast profile`) are compared too.
    """
    from iocast.archive.catalogue import find_run

    if len(folders) < 2:
        raise click.UsageError("at least two folders are needed: the first is the baseline")
    from iocast.sessions.anonymous.anonymous_copies import copies_of
    from iocast.sessions.comparing import compare as compared
    from iocast.sessions.profiling.compare_profiles import all_profiles, compare_profiles

    profiles = all_profiles(folders)
    given = folders if profiles else tuple(find_run(directory, folder) for folder in folders)
    with copies_of(given, names) as copied:
        comparison = compare_profiles(copied.folders) if profiles else compared(copied.folders)
        deliver_report(copied.without_rooms(comparison.report(charts=into is not None)), form, into)
    return 0
