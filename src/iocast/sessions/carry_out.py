"""A job is carried out on a target: planned, announced, laid out, performed."""

from __future__ import annotations

import shlex
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from iocast.errors import IocastError, LoadError
from iocast.model.job import Job
from iocast.model.plan import Plan
from iocast.model.run import Run
from iocast.model.script import Script
from iocast.model.target import Target
from iocast.sessions.events import Planned, Stopped
from iocast.sessions.listener import Listener
from iocast.sessions.requests import RunOptions
from iocast.sessions.run_card import shown_folder

if TYPE_CHECKING:
    from iocast.load import Layout
    from iocast.observe.background import Background
    from iocast.runner.observing import Beside
    from iocast.sessions.live.asked_sources import Asked


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
    from iocast.observe.background import look
    from iocast.observe.target.results_place import results_on_target
    from iocast.sessions.fitted_plan import make_plan

    target = target if options.price is None else replace(target, price=options.price)
    fitted = make_plan(job, target, options.seed)
    layout = load.lay_out(fitted.plan)
    background = look(target)
    shared = results_on_target(target, options.out)
    listener.tell(
        Planned(
            plan=fitted.plan,
            layout=layout,
            notes=fitted.notes,
            left_out=fitted.left_out,
            idle_size_bytes=None if layout.own else options.size_bytes,
            maintenance=background.tasks,
            results_on=shared,
        )
    )
    script = _script(job, fitted.plan)
    with _recording(target, options.beside) as beside:
        done = perform(
            fitted.plan,
            layout,
            options.out,
            listener,
            until_steady=True,
            background=background,
            script=script,
            beside=beside,
        )
    if done.stopped:
        planned = sum(phase.role == "measure" for phase in fitted.plan.phases)
        rows = done.run.measured
        cut = sum(each.measurement.stopped in ("interrupted", "hung") for each in rows)
        listener.tell(Stopped(len(rows), planned, kept=done.folder is not None, cut_short=cut))
    return replace(done, error=_failed(done) or done.error)


def _recording(target: Target, asked: Asked | None) -> AbstractContextManager[Beside | None]:
    """What is recorded beside the load; nothing where nothing is asked for."""
    if asked is None:
        return nullcontext()
    from iocast.sessions.live.beside_load import recording_beside

    return recording_beside(target, asked)


def _script(job: Job, plan: Plan) -> Script | None:
    """What chooses the phases of a job that is no fixed list."""
    if not job.shares:
        return None
    from iocast.runner.scripts.share_of_maximum import ShareOfMaximum

    return ShareOfMaximum(plan.groups, job.shares)


def _failed(done: Carried) -> LoadError | None:
    """Rows without one I/O are no measurement. What ended the run otherwise, such as a full disk, says more."""
    rows = done.run.measured
    nothing = bool(rows) and not any(record.measurement.ios for record in rows)
    if done.folder is None or not nothing or not (done.error is None or isinstance(done.error, LoadError)):
        return None
    folder = shlex.quote(shown_folder(done.folder))
    return LoadError("all I/Os of all rows failed", f"iocast report {folder} lists the errors")


def perform(
    plan: Plan,
    layout: Layout,
    out: str,
    listener: Listener,
    *,
    until_steady: bool = False,
    background: Background | None = None,
    script: Script | None = None,
    beside: Beside | None = None,
) -> Carried:
    """Performs a plan that was announced; with `until_steady` its phases may end as soon as they are. Raises
    IocastError."""
    from iocast import runner
    from iocast.analyse.steady import accepts

    with listener.working() as stopping:
        progress = listener.progress(stopping)
        judge = accepts if until_steady else None
        chosen = script or _search(plan, layout)
        done = runner.perform(plan, layout, out, progress, stopping, judge, chosen, background, beside)
    return Carried(done.run, done.folder, done.error, stopping())


def _search(plan: Plan, layout: Layout) -> Script | None:
    """What chooses the rows of a plan that is a search; None where they are run as they stand."""
    if plan.calibration is None:
        return None
    from iocast.sessions.forecasting.searching import search_script

    return search_script(plan, plan.calibration, sum(file.size_bytes for file in layout.files))
