"""Which finished runs are of one job on one target, as one host measured it: what a trend follows."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from iocast.archive.catalogue import CatalogueEntry
from iocast.model.summary import Summary

MOST_RUNS = 300  # of a trend, the newest: each is read once

FollowedRun = tuple[CatalogueEntry, Summary]


class Followed(Struct, frozen=True, kw_only=True):
    """What is followed: a job on a target, as a host measured it. "" is open: that of the newest run."""

    target: str = ""
    host: str = ""
    job: str = ""

    def has(self, line: Summary) -> bool:
        """Whether a run is one of these."""
        pairs = ((self.target, line.target), (self.host, line.host), (self.job, line.name))
        return all(not wanted or wanted == known for wanted, known in pairs)


def finished_runs(runs: Sequence[CatalogueEntry]) -> list[FollowedRun]:
    """Those that are done and say when they began, in their order."""
    done = ((run, run.summary) for run in runs if run.summary and run.summary.status == "done")
    return [(run, line) for run, line in done if line.started_unix_ns]


def runs_like(known: Sequence[FollowedRun], followed: Followed) -> list[FollowedRun]:
    """The newest runs of a job on a target; what is left open is that of the newest run. None where there is none.

    `known` are finished runs, the newest first.
    """
    newest = next((line for _, line in known if followed.has(line)), None)
    if newest is None:
        return []
    one = Followed(target=newest.target, host=newest.host, job=newest.name)
    return [(run, line) for run, line in known if one.has(line)][:MOST_RUNS]


def jobs_beside(known: Sequence[FollowedRun], shown: Followed) -> list[Followed]:
    """The other jobs and hosts that have runs on the target that is shown, the newest first."""
    others = dict.fromkeys((line.host, line.name) for _, line in known if line.target == shown.target)
    others.pop((shown.host, shown.job), None)
    return [Followed(target=shown.target, host=host, job=job) for host, job in others]
