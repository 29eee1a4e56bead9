"""The run that a report speaks of, as every output names it."""

from __future__ import annotations

from collections.abc import Container

from iocast import text
from iocast.model.report import Report, Subject
from iocast.model.run import Run
from iocast.report.prices import price_of


def subject(run: Run, folder: str = "", side: str = "", void: Container[str] = ()) -> Subject:
    """Who measured what, where and when. `folder` is where the run is kept, `void` its void rows."""
    price = price_of(run, void)
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
        price=price.amount if price else None,
        price_per_gb=price.per_gb if price else None,
        price_per_iops=price.per_iops if price else None,
    )


def measured_when(report: Report) -> str:
    """When, on which machine and by which iocast the one run of a report was measured; "" where it has several."""
    if len(report.subjects) != 1:
        return ""
    (about,) = report.subjects
    when = text.instant(about.started_unix_ns) if about.started_unix_ns else ""
    version = f"iocast {about.iocast_version}" if about.iocast_version else ""
    return " · ".join(filter(None, (when, about.host, version)))
