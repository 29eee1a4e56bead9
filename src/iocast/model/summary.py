"""Summary, Figures: what lists and fleets show of a run; Notes: what people say of it; UnderWay: how far it is."""

from __future__ import annotations

import math
from typing import Annotated

from msgspec import Meta, Struct

from iocast.model.codes import DifferenceCode
from iocast.model.finding import Grade
from iocast.model.grading import Letter
from iocast.model.measurement import Measurement
from iocast.model.plan import Left
from iocast.model.run import PhaseRecord, Run

DEAD = "dead"  # the status of a run that says "running" and has lost its process

_Count = Annotated[int, Meta(ge=0, le=(1 << 63) - 1)]


class Summary(Struct, frozen=True, kw_only=True):
    """The facts of a run in a line. Letters and verdict are None and "" until someone has judged it."""

    name: str  # of the job
    target: str
    host: str
    started_unix_ns: _Count
    status: str
    rows: _Count  # measured
    planned: _Count
    best_rate_per_s: float | None = None
    best_bytes_per_s: float | None = None
    grade: Letter | None = None
    trust: Grade | None = None
    verdict: str = ""
    run_id: str = ""  # "" in folders of schema 1


class RowFigures(Struct, frozen=True, kw_only=True):
    """What many hosts are compared by: a row in a few figures. None is unknown."""

    row: str
    load: str  # a digest of its workload but for the rate of an open loop: equal ones did the same
    rate_per_s: float | None = None
    mean_ns: float | None = None  # of response
    p99_ns: float | None = None
    # I/Os a second that the storage was asked for, however it answered: the rate of an open loop, and what others did
    busy_per_s: float | None = None
    is_open: bool = False  # rated by how long it took, not by how much it did


class Figures(Struct, frozen=True, kw_only=True):
    """What is kept of a run to compare many hosts: where it was measured, and its rows that can be believed."""

    setting: dict[DifferenceCode, str] = {}
    model: str | None = None  # of the disks below the target
    rows: tuple[RowFigures, ...] = ()


class Notes(Struct, frozen=True, kw_only=True):
    """What people say about a run: a note in free words, and tags in the order in which they were given."""

    note: str = ""
    tags: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """False where nothing is said."""
        return bool(self.note or self.tags)


class RowSoFar(Struct, frozen=True, kw_only=True):
    """One finished row, for those who follow a run. The percentiles are of response; None where nothing came back."""

    row: str
    rate_per_s: float
    bytes_per_s: float
    p50_ns: float | None
    p99_ns: float | None


class Owner(Struct, frozen=True, kw_only=True):
    """The process that makes a run: a pid alone may be another's tomorrow, or on another machine."""

    host: str
    boot_id: str
    pid_namespace: str  # of a container; pids mean nothing outside of it
    pid: _Count
    started_ticks: _Count  # since the machine was started


class UnderWay(Struct, frozen=True):
    """The phase that is being run now. Rates are over the last second or so."""

    phase: str = ""  # "": none has begun
    number: int = 0  # from 1
    total: int = 0
    elapsed_ns: int = 0
    rate_per_s: float = 0.0
    bytes_per_s: float = 0.0
    errors: int = 0
    left_ns: _Count | None = None  # of the whole run; None: unknown
    left_is: Left = "exactly"
    course: tuple[tuple[_Count, float], ...] = ()  # of this phase: ms since its start, IOPS until then
    rows: tuple[RowSoFar, ...] = ()  # that are finished
    owner: Owner | None = None  # None: of an older iocast


def summary_of(run: Run) -> Summary:
    """The facts of a run, without any opinion."""
    rates = [rate for record in run.measured if (rate := record.ios_per_s) is not None]
    moved = [rate for record in run.measured if (rate := record.bytes_per_s) is not None]
    return Summary(
        run_id=run.run_id,
        name=run.plan.name,
        target=run.plan.target.path,
        host=run.host.name,
        started_unix_ns=run.started_unix_ns,
        status=run.status,
        rows=len(run.measured),
        planned=sum(phase.role == "measure" for phase in run.plan.phases),
        best_rate_per_s=max(rates, default=None),
        best_bytes_per_s=max(moved, default=None),
    )


def row_so_far(record: PhaseRecord) -> RowSoFar:
    """The line of a finished row."""
    did = record.measurement
    return RowSoFar(
        row=record.phase.name,
        rate_per_s=did.iops,
        bytes_per_s=did.bytes_per_s,
        p50_ns=_response_ns(did, 0.5),
        p99_ns=_response_ns(did, 0.99),
    )


def _response_ns(did: Measurement, q: float) -> float | None:
    value_ns = did.response().quantile_ns(q)
    return None if math.isnan(value_ns) else value_ns
