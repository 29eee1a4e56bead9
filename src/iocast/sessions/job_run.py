"""A job is planned on a target and announced, and what was planned is run: the first two steps of every session."""

from __future__ import annotations

import shlex
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from iocast import load, runner
from iocast.analyse.steady import accepts
from iocast.errors import ArchiveError, IocastError, LoadError
from iocast.load import Layout
from iocast.model.job import Job
from iocast.model.plan import Plan
from iocast.model.run import Run
from iocast.model.script import Script
from iocast.model.target import Target
from iocast.observe import quiet
from iocast.observe.background import look
from iocast.observe.target.results_place import results_on_target
from iocast.runner import Work
from iocast.sessions.events import Planned, QuietAwaited, QuietEnded, RowsUnkept, Stopped
from iocast.sessions.fitted_plan import make_plan
from iocast.sessions.listener import Listener
from iocast.sessions.requests.run_options import RunOptions
from iocast.sessions.run_card import judge, shown_folder

if TYPE_CHECKING:
    from iocast.runner.observing import Beside
    from iocast.sessions.live.watched_sources import WatchedSources


class Ran(Struct, frozen=True):
    """What came of a job: the run, its folder (None: nothing was measured), what ended it early."""

    run: Run
    folder: Path | None
    error: IocastError | None
    stopped: bool  # as the listener asked

    @property
    def whole(self) -> Path | None:
        """The folder of a run that went to its end; None for any other."""
        return self.folder if self.error is None and not self.stopped else None

    @property
    def kept(self) -> bool:
        """False where its folder could not be written: what was measured is in memory only."""
        return not isinstance(self.error, ArchiveError)

    def or_error(self) -> Ran:
        """Itself. Raises the error that ended it."""
        if self.error is not None:
            raise self.error
        return self

    def told_or_error(self, listener: Listener) -> Ran:
        """The same, for sessions that tell no card: the rows of a run that could not be kept are told first."""
        self.tell_unkept(listener)
        return self.or_error()

    def tell_unkept(self, listener: Listener) -> None:
        """Tells what was measured, where that could not be kept."""
        if self.run.measured and not self.kept:
            listener.tell(RowsUnkept(judge(self.run, "").report()))


def plan(job: Job, target: Target, options: RunOptions, listener: Listener) -> Work:
    """The job fitted to the target, its files found, all of it announced; nothing is written. Raises IocastError."""
    target = target if options.price is None else replace(target, price=options.price)
    fitted = make_plan(job, target, options.seed)
    layout = load.lay_out(fitted.plan)
    background = look(target)
    listener.tell(
        Planned(
            plan=fitted.plan,
            layout=layout,
            notes=fitted.notes,
            excluded=fitted.excluded,
            idle_size_bytes=None if layout.own else options.size_bytes,
            maintenance=background.tasks,
            results_on=results_on_target(target, options.out),
        )
    )
    if options.wait_quiet_ns is not None and target.simulated is None:
        layout = _when_quiet(target, options.wait_quiet_ns, layout, listener)
    script = _script(job, fitted.plan)
    return Work(fitted.plan, layout, options.out, script=script, judge=accepts, background=background)


def _when_quiet(target: Target, most_ns: int, layout: Layout, listener: Listener) -> Layout:
    """Waits until machine and disk are quiet; where they never were, the run keeps a note of it."""
    listener.tell(QuietAwaited(most_ns))
    shares, waited_ns = quiet.until_quiet(target, most_ns)
    listener.tell(QuietEnded(shares.quiet, waited_ns, shares.cpu, shares.disk))
    if shares.quiet:
        return layout
    return replace(layout, notes=(*layout.notes, "The machine was not quiet when the run began"))


def run(work: Work, listener: Listener, sources: WatchedSources | None = None) -> Ran:
    """Runs what was planned, and records beside it what is asked for; a stop is told. Raises IocastError."""
    with _recording(work.plan.target, sources) as beside:
        ran = run_plan(replace(work, beside=beside), listener)
    if ran.stopped:
        planned = sum(phase.role == "measure" for phase in work.plan.phases)
        rows = ran.run.measured
        cut = sum(each.measurement.stopped in ("interrupted", "hung") for each in rows)
        listener.tell(Stopped(len(rows), planned, kept=ran.folder is not None, cut_short=cut))
    return replace(ran, error=_failed(ran) or ran.error)


def run_job(job: Job, target: Target, options: RunOptions, listener: Listener) -> Ran:
    """Both steps, for those who run several jobs. Raises IocastError."""
    return run(plan(job, target, options, listener), listener, options.beside)


def _recording(target: Target, sources: WatchedSources | None) -> AbstractContextManager[Beside | None]:
    """What is recorded beside the load; nothing where nothing is asked for."""
    if sources is None:
        return nullcontext()
    from iocast.sessions.live.beside_load import recording_beside

    return recording_beside(target, sources)


def _script(job: Job, plan: Plan) -> Script | None:
    """What chooses the phases of a job that is no fixed list."""
    if not job.shares:
        return None
    from iocast.runner.scripts.share_of_maximum import ShareOfMaximum

    return ShareOfMaximum(plan.groups, job.shares)


def _failed(ran: Ran) -> LoadError | None:
    """Rows without one I/O are no measurement. What ended the run otherwise, such as a full disk, says more."""
    rows = ran.run.measured
    nothing = bool(rows) and not any(record.measurement.ios for record in rows)
    if ran.folder is None or not nothing or not (ran.error is None or isinstance(ran.error, LoadError)):
        return None
    if not any(record.measurement.errors for record in rows):
        return LoadError(
            "not one I/O was done in any row, and none failed",
            "the storage was slower than the rows are long, or this machine had no time for them: give longer ones, for"
            " example --time 30s",
        )
    folder = shlex.quote(shown_folder(ran.folder))
    return LoadError("all I/Os of all rows failed", f"iocast report {folder} lists the errors")


def run_plan(work: Work, listener: Listener) -> Ran:
    """Runs a plan that was announced; a plan that is a search chooses its own rows. Raises IocastError."""
    with listener.working() as stopping:
        progress = listener.progress(stopping)
        work = replace(work, script=work.script or _search(work.plan, work.layout))
        done = runner.run(work, progress, stopping)
    return Ran(done.run, done.folder, done.error, stopping())


def _search(plan: Plan, layout: Layout) -> Script | None:
    """What chooses the rows of a plan that is a search; None where they are run as they stand."""
    if plan.calibration is None:
        return None
    from iocast.sessions.forecasting.searching import search_script

    return search_script(plan, plan.calibration, sum(file.size_bytes for file in layout.files))
