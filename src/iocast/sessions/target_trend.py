"""trend: the finished runs of one job on one target over time, and what to type for others."""

from __future__ import annotations

import difflib
import os
import shlex
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from iocast import archive
from iocast.analyse.target_history import History, RowPoint, RunPoint, history, row_points
from iocast.archive.catalogue import runs_below
from iocast.archive.followed_runs import MOST_RUNS, Followed, FollowedRun, finished_runs, jobs_beside, runs_like
from iocast.errors import ArchiveError
from iocast.model.report import Report
from iocast.report.trend_report import trend_report
from iocast.text import counted

MOST_NAMED = 3  # targets that an error names


def history_of(runs: Sequence[FollowedRun], points: Callable[[str], tuple[RowPoint, ...]]) -> History:
    """The history of runs that are alike, at least one; `points` reads the rows of a run folder."""
    newest = runs[0][1]
    each = [
        RunPoint(
            name=run.name,
            started_unix_ns=line.started_unix_ns,
            grade=line.grade,
            trust=line.trust,
            rows=points(run.folder),
        )
        for run, line in runs
    ]
    return history(newest.target, newest.host, newest.name, each)


def points_in(folder: str) -> tuple[RowPoint, ...]:
    """The rows of the run in a folder; none of a damaged one, which is a gap."""
    try:
        return row_points(archive.load(folder))
    except ArchiveError:
        return ()


def trend(directory: str, followed: Followed, *, charts: bool = False) -> Report:
    """The report of a job on a target over time, from the runs below a directory. Raises ArchiveError without a run.

    A target that no run has as it is given is looked for as a path from here.
    """
    known = finished_runs(runs_below(directory))
    targets = dict.fromkeys(line.target for _, line in known)
    if followed.target not in targets and (path := os.path.abspath(followed.target)) in targets:
        followed = replace(followed, target=path)
    runs = runs_like(known, followed)
    if not runs:
        raise _nothing(directory, known, followed)
    newest = runs[0][1]
    shown = Followed(target=newest.target, host=newest.host, job=newest.name)
    report = trend_report(history_of(runs, points_in), charts=charts)
    return replace(report, next_steps=tuple(_next_steps(directory, known, shown)))


def _next_steps(directory: str, known: Sequence[FollowedRun], shown: Followed) -> list[str]:
    """The newest of the other jobs and hosts, and what is typed to follow it."""
    count = sum(shown.has(line) for _, line in known)
    steps = [f"Shown are the newest {MOST_RUNS} of {count} runs."] if count > MOST_RUNS else []
    if others := jobs_beside(known, shown):
        hosts = ["--host", others[0].host] if others[0].host != shown.host else []
        words = ["iocast", "trend", shown.target, directory, "--job", others[0].job, *hosts]
        steps.append(f"{counted(len(others), 'other job')} or host has runs on this target: {shlex.join(words)}")
    return steps


def _nothing(directory: str, known: Sequence[FollowedRun], followed: Followed) -> ArchiveError:
    """What is wrong where no run is meant, and which targets, jobs or hosts there are."""
    if not known:
        return ArchiveError(f"no finished runs in {directory}", "`iocast card PATH` makes one")
    targets = list(dict.fromkeys(line.target for _, line in known))
    if followed.target not in targets:
        near = difflib.get_close_matches(followed.target, targets, MOST_NAMED, 0.3) or targets[:MOST_NAMED]
        more = f" and {len(targets) - len(near)} more" if len(targets) > len(near) else ""
        return ArchiveError(
            f"no finished run on {followed.target} in {directory}",
            f"there are runs on {', '.join(near)}{more}; `iocast runs {directory}` lists them",
        )
    pairs = dict.fromkeys(f'"{line.name}" on {line.host}' for _, line in known if line.target == followed.target)
    wanted = " ".join(filter(None, (followed.job and f"of {followed.job}", followed.host and f"by {followed.host}")))
    return ArchiveError(
        f"no finished run {wanted} on {followed.target} in {directory}",
        f"there are runs of {', '.join([*pairs][:MOST_NAMED])}",
    )
