"""A job is carried out on a target: planned, announced, laid out, performed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from iocast.errors import IocastError
from iocast.jobs.job import Job
from iocast.model.plan import Plan
from iocast.model.run import Run
from iocast.model.target import Target
from iocast.sessions.events import Planned, Stopped
from iocast.sessions.listener import Listener
from iocast.sessions.requests import RunOptions

if TYPE_CHECKING:
    from iocast.load import Layout


class Carried(Struct, frozen=True):
    """What came of a job: the run, its folder (None: nothing was measured), what ended it early."""

    run: Run
    folder: Path | None
    error: IocastError | None
    stopped: bool  # as the listener asked

    @property
    def whole(self) -> Path | None:
        """The folder of a run that went to its end; None for any other."""
        return self.folder if self.error is None and not self.stopped else None

    def or_error(self) -> Carried:
        """Itself. Raises the error that ended it."""
        if self.error is not None:
            raise self.error
        return self


def carry_out(job: Job, target: Target, options: RunOptions, listener: Listener) -> Carried:
    """Plans, announces, lays out, performs; the run goes into `options.out`. Raises IocastError."""
    from iocast import load
    from iocast.sessions.fitted_plan import make_plan

    fitted = make_plan(job, target, options.seed)
    layout = load.lay_out(fitted.plan)
    listener.tell(
        Planned(
            plan=fitted.plan,
            layout=layout,
            notes=fitted.notes,
            left_out=fitted.left_out,
            idle_size_bytes=None if layout.own else options.size_bytes,
        )
    )
    done = perform(fitted.plan, layout, options.out, listener, until_steady=True)
    if done.stopped:
        planned = sum(phase.role == "measure" for phase in fitted.plan.phases)
        listener.tell(Stopped(measured=len(done.run.measured), planned=planned))
    return done


def perform(plan: Plan, layout: Layout, out: str, listener: Listener, *, until_steady: bool = False) -> Carried:
    """Performs a plan that was announced; with `until_steady` its phases may end as soon as they are. Raises
    IocastError."""
    from iocast import runner
    from iocast.analyse.steady import accepts

    with listener.working() as stopping:
        progress = listener.progress(stopping)
        done = runner.perform(plan, layout, out, progress, stopping, accepts if until_steady else None)
    return Carried(done.run, done.folder, done.error, stopping())
