"""The run that a report speaks of, as every output names it."""

from __future__ import annotations

from iocast.model.report import Subject
from iocast.model.run import Run


def subject(run: Run, folder: str = "", side: str = "") -> Subject:
    """Who measured what, where and when. `folder` is where the run is kept."""
    return Subject(
        job=run.plan.name,
        target=run.plan.target.path,
        host=run.host.name,
        started_unix_ns=run.started_unix_ns,
        seed=None if run.source is not None else run.plan.seed,
        iocast_version=run.iocast_version,
        run_id=run.run_id,
        folder=folder,
        side=side,
    )
