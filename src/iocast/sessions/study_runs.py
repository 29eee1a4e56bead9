"""study: every cell of a matrix run several times on one configuration; what is complete is never run again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from iocast import archive
from iocast.analyse.study_figures import progress, repeat_of
from iocast.archive import study_folder
from iocast.archive.writing.held_folder import HeldFolder, open_base
from iocast.errors import ArchiveError, IocastError, LoadError
from iocast.jobs.studies.study_file import check_label, load_study, parse_study, study_presets
from iocast.jobs.toml.job_reading import parse_job
from iocast.model.job import Job
from iocast.model.report import Report
from iocast.model.run import Run
from iocast.model.study_plan import CellResult, Repeat, StudyCell, StudyPlan, StudySide
from iocast.model.target import Target
from iocast.sessions.comparing import refuse_unfit
from iocast.sessions.events import AnswerReady, Event, Planned, Stopped, StudyBegun, StudyRunBegun, StudyRunFailed
from iocast.sessions.fitted_plan import asked_job
from iocast.sessions.in_notebook import InNotebook
from iocast.sessions.job_run import Ran, run_job
from iocast.sessions.listener import Listener, Stopping
from iocast.sessions.requests.run_options import RunOptions
from iocast.sessions.requests.study import StudyRequest
from iocast.sessions.run_card import keep_judgement
from iocast.sessions.target_finding import find_target
from iocast.text import counted

if TYPE_CHECKING:
    from iocast.runner import Progress

STUDIES = "iocast-studies"  # where the folders of studies go
MOST_FAILED = 3  # runs in a row: then the fault is not that of a cell


class Studied(Struct, InNotebook, frozen=True):
    """A study and what was measured of it so far."""

    plan: StudyPlan
    sides: tuple[StudySide, ...]
    folder: str

    def report(self, *, charts: bool = False) -> Report:
        """The matrix of each configuration, and what each keeps of the baseline."""
        from iocast.report.study_report import study_report

        return study_report(self.plan, self.sides, self.folder)


def planned_study(request: StudyRequest) -> StudyPlan:
    """The plan of a study, with the time of its rows changed. Raises SpecError."""
    plan, options = load_study(request.study), request.options
    if options.duration_ns is None:
        return plan
    seconds = options.duration_ns / 1e9
    return replace(plan, cells=tuple(replace(cell, seconds=seconds) for cell in plan.cells))


def known_studies() -> dict[str, str]:
    """The studies that come with iocast, and what each is."""
    return {name: parse_study(text, f"study {name}").description for name, text in study_presets().items()}


def run_study(request: StudyRequest, listener: Listener) -> Studied:
    """Runs what is missing of a study on a path, and tells all of it. Raises IocastError."""
    plan = planned_study(request)
    label = (plan.labels or ("measured",))[0] if request.label is None else request.label
    check_label(label)
    folder = request.out or os.path.join(STUDIES, plan.name.replace(" ", "-"))
    _refuse_unfit(plan, request)
    study_folder.begin(folder, _settled(plan, request.options))
    with study_folder.working_on(folder, label) as held:
        side = _side(plan, folder, label)
        cells, runs = progress(side, plan.repeats)
        listener.tell(StudyBegun(plan=plan, label=label, folder=folder, cells_done=cells, runs_done=runs))
        stopped = _run_rest(plan, side, held, request, listener)
    study = open_study(folder)
    if stopped:
        done = progress(_side(plan, folder, label), plan.repeats)[1]
        listener.tell(Stopped(measured=done, planned=plan.runs))
    listener.tell(AnswerReady(study.report()))
    return study


def open_study(folder: str) -> Studied:
    """A study from its folder alone. Raises ArchiveError, SpecError."""
    plan = parse_study(study_folder.study_text(folder), os.path.join(folder, study_folder.STUDY))
    labels = study_folder.labels(folder)
    named = (
        *(label for label in plan.labels if label in labels),
        *(each for each in labels if each not in plan.labels),
    )
    return Studied(plan, tuple(_side(plan, folder, label) for label in named), folder)


def _settled(plan: StudyPlan, options: RunOptions) -> str:
    """The study file as the folder keeps it: with what the command line changed, which a resumed run must say again."""
    changed = [
        *([f"size of the files: {options.size_bytes} bytes"] if options.size_bytes is not None else []),
        *([f"time of the rows: {options.duration_ns / 1e9:g} s"] if options.duration_ns is not None else []),
        *([f"seed: {options.seed}"] if options.seed != 1 else []),
    ]
    return plan.text if not changed else plan.text.rstrip("\n") + "".join(f"\n# changed: {each}" for each in changed)


def _refuse_unfit(plan: StudyPlan, request: StudyRequest) -> None:
    """Says what keeps the first cell from its target before a folder is made. Raises IocastError."""
    target = find_target(request.path, request.options.destroy)
    refuse_unfit(_job(plan.cells[0], request.options), target, request.options)


def _run_rest(plan: StudyPlan, side: StudySide, folder: HeldFolder, request: StudyRequest, listener: Listener) -> bool:
    """Runs the repeats that are missing, cell by cell; returns whether it was stopped. Raises IocastError."""
    warmed, failed = "", 0
    quiet = _Short(listener)
    for cell, repeat in _queue(plan, side):
        target = find_target(request.path, request.options.destroy)
        listener.tell(StudyRunBegun(cell=cell, repeat=repeat, repeats=plan.repeats, label=side.label))
        options = replace(request.options, seed=request.options.seed + repeat - 1)
        job = _job(cell, request.options)
        if cell.warm_text and cell.warm_text != warmed:
            job = replace(job, phases=(*parse_job(cell.warm_text, "warm").phases, *job.phases))
        try:
            done = _one_run(folder, cell, job, target, options, quiet)
            error = done.error or _failed_ios(done.run)
        except LoadError as why:
            error, done = why, None
        if done is not None and done.stopped:
            return True
        warmed = cell.warm_text
        failed = failed + 1 if error else 0
        if error:
            listener.tell(StudyRunFailed(cell, error))
            if failed >= MOST_FAILED:
                raise error
    return False


def _one_run(folder: HeldFolder, cell: StudyCell, job: Job, target: Target, options: RunOptions, to: Listener) -> Ran:
    """One run, in the folder of its cell, which is held, and its line for lists of runs. Raises IocastError."""
    named = folder.find() / cell.folder
    with _cell_folder(folder, named) as place:
        try:
            done = run_job(job, target, replace(options, out=place), to)
            if done.folder is not None:
                keep_judgement(done.folder)
        except IocastError as error:
            _name(named, place, error)
            raise
        if done.error is not None:
            done.tell_unkept(to)
            _name(named, place, done.error)
        return done


@contextmanager
def _cell_folder(folder: HeldFolder, named: Path) -> Iterator[str]:
    """While entered, a path to the folder of a cell whatever has its name; without a run it is taken away at the end.

    A study may have more cells than a process may open files: only this one is held. Raises ArchiveError.
    """
    try:
        above = open_base(folder.place)
        cell = above.folder(named.name)
    except OSError as error:
        raise _unwritable(named, error) from error
    try:
        yield str(cell.place)
    finally:
        with suppress(OSError):
            if named.name in above.made:
                above.remove_folder(named.name, cell)


def _name(named: Path, place: str, error: IocastError) -> None:
    """Puts the name of a folder in place of the path by which it is held."""

    def named_in(text: str) -> str:
        return text.replace(os.path.relpath(place), os.path.relpath(named)).replace(place, str(named))

    error.message, error.hint = named_in(error.message), named_in(error.hint)
    error.args = (error.message,)


def _unwritable(path: Path, error: OSError) -> ArchiveError:
    """The folders below that of a study have names that iocast gave: a link there was put there by somebody else."""
    link = path.is_symlink()
    why = "it is a symbolic link, and iocast does not write through links" if link else error.strerror or str(error)
    hint = "move it away" if link else "check the permissions of the folder"
    return ArchiveError(f"cannot write to {path}: {why}", f"{hint}, or choose another directory with --out DIR")


def _failed_ios(run: Run) -> LoadError | None:
    """Why a run that went to its end is none of the repeats."""
    failed = sum(record.measurement.error_count for record in run.measured)
    if not failed:
        return None
    return LoadError(
        f"{counted(failed, 'I/O')} failed: the run does not count",
        "check the kernel's log (dmesg); the same command then measures the cell again",
    )


def _queue(plan: StudyPlan, side: StudySide) -> Iterator[tuple[StudyCell, int]]:
    """The repeats of a cell follow each other."""
    for cell, result in zip(plan.cells, side.results, strict=True):
        for repeat in range(len(result.repeats) + 1, plan.repeats + 1):
            yield cell, repeat


def _job(cell: StudyCell, options: RunOptions) -> Job:
    return asked_job(parse_job(cell.job_text, f"study cell {cell.name}"), options)


def _side(plan: StudyPlan, folder: str, label: str) -> StudySide:
    """What is there of a configuration. Raises ArchiveError."""
    return StudySide(label, tuple(_result(cell, folder, label) for cell in plan.cells))


def _result(cell: StudyCell, folder: str, label: str) -> CellResult:
    complete, interrupted = list[Repeat](), 0
    for each in study_folder.runs_of(folder, label, cell.folder):
        try:
            run = archive.load(each)
        except ArchiveError:
            interrupted += 1  # what a crash left, or a person damaged
            continue
        repeat = repeat_of(run, each, cell.metric, _trust(each))
        if repeat is None:
            interrupted += 1
        else:
            complete.append(repeat)
    complete.sort(key=lambda each: each.started_unix_ns)
    return CellResult(cell=cell, repeats=tuple(complete), interrupted=interrupted)


def _trust(folder: str) -> str:
    from iocast.archive.summary_file import read_summary

    try:
        return read_summary(folder).trust or ""
    except ArchiveError:
        return ""


class _Short:
    """Passes on what happens in a run of a study, and announces the first one only: they are all alike."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._announced = False

    def tell(self, event: Event) -> None:
        """Passes it on."""
        if isinstance(event, Stopped) or (isinstance(event, Planned) and self._announced):
            return
        self._announced = self._announced or isinstance(event, Planned)
        self._listener.tell(event)

    def working(self) -> AbstractContextManager[Stopping]:
        """As the listener does."""
        return self._listener.working()

    def progress(self, stopping: Stopping) -> Progress:
        """As the listener does."""
        return self._listener.progress(stopping)
