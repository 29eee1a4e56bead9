"""experiment: one question about a path, a plan that answers it, a verdict."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from iocast import archive, load
from iocast.diagnose.experiments.named import TRIALS, Trial, TrialSetup, find_trial, question
from iocast.errors import SpecError, TargetError
from iocast.load.work_files import permission_of
from iocast.model.codes import VerdictCode
from iocast.model.job import FileSize, Job
from iocast.model.report import Report
from iocast.model.run import Run
from iocast.model.target import Target
from iocast.report.experiment_report import trial_report
from iocast.sessions import copy_experiment
from iocast.sessions.card import Card
from iocast.sessions.events import AnswerReady, Planned, TrialBegun, TrialFailed, TrialPlanned
from iocast.sessions.fitted_plan import make_plan
from iocast.sessions.in_notebook import InNotebook
from iocast.sessions.job_run import Ran, run_job
from iocast.sessions.listener import Listener
from iocast.sessions.requests.experiment import TrialRequest
from iocast.sessions.requests.run_options import MIB
from iocast.sessions.run_card import judge, keep_summary, leave_page, shown_folder
from iocast.sessions.target_finding import find_target, identity_name, with_direct_tried
from iocast.sessions.trial_places import Places, image_kinds, targets_of
from iocast.tools.line_problems import meant


class Answered(Struct, InNotebook, frozen=True):
    """What a named experiment found: the run of its first target, which shows it again."""

    run: Run
    folder: str

    @property
    def answer(self) -> VerdictCode:
        """confirmed, rejected or undecided."""
        answer = self.report().answer
        assert answer is not None
        return answer

    def report(self, *, charts: bool = False) -> Report:
        """The question, the verdict and the table. Raises ArchiveError for a damaged folder."""
        return trial_report(self.run, self.folder)

    def card(self) -> Card:
        """The card of the run, headed by the answer."""
        return judge(self.run, self.folder)


def questions() -> dict[str, str]:
    """The name of every experiment, and what it asks."""
    return {**{each.NAME: question(each) for each in TRIALS}, copy_experiment.NAME: copy_experiment.QUESTION}


def experiment(request: TrialRequest, listener: Listener) -> Answered | None:
    """Carries it out on every target, the runs of the others inside the folder of the first. None when nothing
    was measured. Raises IocastError."""
    trial, places = _trial(request), _places(request)
    listener.tell(TrialBegun(trial.NAME, questions()[trial.NAME]))
    if hasattr(trial, "SERVER"):
        return _with_server(trial, request, listener)
    first: Path | None = None
    stopped, unkept = False, None
    # Closed whatever happens: what it mounted is taken away before the image below it.
    with closing(targets_of(places, listener)) as targets:
        for target in targets:
            job = _job(trial, _setup(trial, request, with_direct_tried(target)))
            listener.tell(TrialPlanned(job.phases))
            inside = request.options.out if first is None else str(first / archive.EXPERIMENTS)
            done = run_job(job, target, replace(request.options, out=inside), listener)
            first = first or done.folder
            if done.error is not None and not done.run.measured:
                raise done.error
            if not done.kept:
                unkept = done
                break
            if done.error is not None:
                listener.tell(TrialFailed(done.error))
            if done.stopped:
                stopped = True
                break
    return None if first is None else _judge(first, request.page and not stopped, listener, unkept)


def _with_server(trial: Trial, request: TrialRequest, listener: Listener) -> Answered | None:
    """An experiment whose rows are those of a database that it makes. Raises IocastError."""
    from iocast.sessions.database.cold_and_warm import cold_and_warm

    (path,) = _places(request).paths
    setup = _setup(trial, request, find_target(path))
    done = cold_and_warm(setup, request.options, listener)
    if done is None or done.folder is None:
        return None
    if done.error is not None and not done.run.measured:
        raise done.error
    if done.error is not None and done.kept:
        listener.tell(TrialFailed(done.error))
    return _judge(done.folder, request.page and not done.stopped, listener, None if done.kept else done)


def _judge(folder: Path, page: bool, listener: Listener, unkept: Ran | None = None) -> Answered:
    """Judges what was measured and tells the answer; the page of its card is left last: the answer can be read
    meanwhile. A run that is `unkept` is judged from memory, or, being one of several, told beside it; its error is
    raised. Raises IocastError."""
    if unkept is not None and unkept.folder != folder:
        unkept.tell_unkept(listener)
        answered = Answered(archive.load(str(folder)), shown_folder(folder))
    else:
        answered = Answered(unkept.run if unkept else archive.load(str(folder)), shown_folder(folder))
    card = answered.card()
    report = card.report()
    keep_summary(card, report)
    listener.tell(AnswerReady(answered.report()))
    if unkept is not None:
        unkept.or_error()
    if page:
        leave_page(card, report, listener)
    return answered


def plans(request: TrialRequest) -> Iterator[Planned]:
    """What it would do on each path; nothing is done. Raises IocastError."""
    trial, places = _trial(request), _places(request)
    for path in places.paths:
        target = find_target(path, places.destroy)
        fitted = make_plan(_job(trial, _setup(trial, request, target)), target, request.options.seed, dry=True)
        layout = load.lay_out(fitted.plan)
        yield Planned(plan=fitted.plan, layout=layout, notes=fitted.notes, excluded=fitted.excluded)


def images_of(request: TrialRequest) -> tuple[str, ...]:
    """The file systems that it would make; () when paths are taken as they are. Raises SpecError."""
    return _places(request).images


def _trial(request: TrialRequest) -> Trial:
    trial = find_trial(request.name)
    if trial is None:
        said = f'unknown experiment "{request.name}"{meant(request.name, questions())}'
        raise SpecError(said, "`iocast experiment` lists them")
    if request.methods or request.keep:
        raise SpecError("--methods and --keep belong to `iocast experiment copy`", "omit them")
    return trial


def _places(request: TrialRequest) -> Places:
    paths = request.paths or (".",)
    return Places(paths, request.options.destroy, image_kinds(_trial(request), paths, request.filesystems))


def _setup(trial: Trial, request: TrialRequest, target: Target) -> TrialSetup:
    """What is asked of a trial on a target, defaults filled in. Raises TargetError."""
    usual, options, allowed = trial.DEFAULTS, request.options, permission_of(target)
    wanted = options.size_bytes or usual.size_bytes
    if trial.WRITES and not allowed.may_write:
        name = identity_name(target)
        named = f", or --destroy {name} if the contents of the device may be lost" if name else ""
        said = f"{trial.NAME} writes, and {target.path} is {allowed.reason}"
        raise TargetError(said, f"give a directory{named}")
    own = target.kind == "directory" or target.size_bytes is None
    return TrialSetup(
        target=target,
        size_bytes=wanted // MIB * MIB if own else target.size_bytes or 0,
        may_write=allowed.may_write,
        seconds=usual.seconds if options.duration_ns is None else options.duration_ns / 1e9,
        rounds=request.rounds or usual.rounds,
        block_bytes=request.block_bytes or usual.block_bytes,
        depth=request.depth or usual.depth,
        streams=request.streams or usual.streams,
        sync=request.sync,
        sizes=request.sizes,
        files=request.files or usual.files,
        cold=target.kind == "directory" and os.geteuid() == 0,
    )


def _job(trial: Trial, setup: TrialSetup) -> Job:
    """The experiment as a job: what can be run, is checked and planned as any other."""
    count = trial.files(setup) if hasattr(trial, "files") and setup.target.kind == "directory" else 1
    return Job(
        name=f"experiment {trial.NAME}",
        phases=trial.phases(setup),
        file_count=count,
        file_size=FileSize(size_bytes=setup.size_bytes // count // MIB * MIB),
        tree=trial.tree(setup) if hasattr(trial, "tree") else None,
        experiment=trial.NAME,
    )
