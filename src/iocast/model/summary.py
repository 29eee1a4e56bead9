"""Summary: what a list of runs shows of one, kept beside it; UnderWay: how far a run has come this second."""

from __future__ import annotations

from msgspec import Struct

from iocast.model.finding import Grade
from iocast.model.grading import Letter
from iocast.model.run import Run


class Summary(Struct, frozen=True, kw_only=True):
    """The facts of a run in a line. Letters and verdict are None and "" until someone has judged it."""

    name: str  # of the job
    target: str
    host: str
    started_unix_ns: int
    status: str
    rows: int  # measured
    planned: int
    best_rate_per_s: float | None = None
    best_bytes_per_s: float | None = None
    grade: Letter | None = None
    trust: Grade | None = None
    verdict: str = ""


class UnderWay(Struct, frozen=True):
    """The phase that is being run now. Rates are over the last second or so."""

    phase: str
    number: int  # from 1
    total: int
    elapsed_ns: int = 0
    rate_per_s: float = 0.0
    bytes_per_s: float = 0.0
    errors: int = 0


def summary_of(run: Run) -> Summary:
    """The facts of a run, without any opinion."""
    measured = [record.measurement for record in run.measured]
    return Summary(
        name=run.plan.name,
        target=run.plan.target.path,
        host=run.host.name,
        started_unix_ns=run.started_unix_ns,
        status=run.status,
        rows=len(measured),
        planned=sum(phase.role == "measure" for phase in run.plan.phases),
        best_rate_per_s=max((did.rate_per_s for did in measured), default=None),
        best_bytes_per_s=max((did.bytes_per_s for did in measured), default=None),
    )
