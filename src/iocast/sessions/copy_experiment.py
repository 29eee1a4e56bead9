"""experiment copy: one file copied in every way, side by side, in an order that is drawn for each round."""

from __future__ import annotations

import os
import random
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from iocast import __version__, text
from iocast._core import unix_ns
from iocast.archive import REPORT_PAGE, copy_folder
from iocast.archive.writing.held_folder import HeldFolder
from iocast.errors import IocastError, SpecError
from iocast.load.copy_places import Source, block_bytes, check_room, destination_of, find_source
from iocast.load.one_copy import keep_copy, one_copy, source_digest
from iocast.model.copy_trials import (
    CACHES,
    METHODS,
    VERSION,
    CopyCell,
    CopyFile,
    CopyPlan,
    CopyRun,
    MethodCode,
)
from iocast.model.report import Report
from iocast.observe.host import describe_host
from iocast.observe.residency import by_cachestat, by_mincore
from iocast.observe.target.device_stack import describe
from iocast.report.copy_report import copy_report
from iocast.sessions.events import AnswerReady, CopyPlanned, CopyReady, FileWritten, PageFailed, Stopped
from iocast.sessions.in_notebook import InNotebook
from iocast.sessions.listener import Listener, Stopping
from iocast.sessions.report_files import put_page
from iocast.sessions.requests.experiment import TrialRequest
from iocast.sessions.requests.run_options import RUNS
from iocast.sessions.run_card import shown_folder
from iocast.tools.line_problems import meant

NAME = "copy"
QUESTION = "Which way of copying a file is fastest, and what does each cost in CPU time?"
ROUNDS, ROUNDS_OF_LARGE = 5, 3
LARGE_BYTES = 512 << 20  # a round of a gigabyte is a minute on many disks


class CopyRequest(Struct, frozen=True, kw_only=True):
    """A file, where its copies go, in which ways, how often. `keep` leaves one copy there."""

    source: str
    destination: str
    methods: tuple[str, ...] = ()  # (): all
    rounds: int | None = None  # None: as many as its size lets it
    seed: int = 1
    keep: bool = False
    out: str = RUNS
    page: bool = False


class CopiedFile(Struct, InNotebook, frozen=True):
    """What the copies took, and the folder that keeps it."""

    run: CopyRun
    folder: str

    def report(self, *, charts: bool = False) -> Report:
        """The verdict, the ways side by side, and what must be known of them."""
        return copy_report(self.run, self.folder, charts=charts)


class _Planned(Struct, frozen=True):
    source: Source
    to: Path
    plan: CopyPlan


# Of what is asked of an experiment, what means nothing here, and the options that say it.
_OF_OTHERS = {"block_bytes": "block", "depth": "", "streams": "", "sync": "", "sizes": "", "filesystems": ""}


def copy_request(request: TrialRequest) -> CopyRequest:
    """The request of what is asked of a named experiment. Raises SpecError."""
    paths, options, usual = request.paths, request.options, TrialRequest()
    if len(paths) != 2:
        raise SpecError(
            f"{NAME} takes SOURCE and DESTINATION, got {text.counted(len(paths), 'path')}",
            "iocast experiment copy FILE DIRECTORY",
        )
    given = {
        f"--{option or name}" for name, option in _OF_OTHERS.items() if getattr(request, name) != getattr(usual, name)
    }
    given |= {"--size"} if options.size_bytes is not None else set()
    given |= {"--time"} if options.duration_ns is not None else set()
    given |= {"--destroy"} if options.destroy else set()
    if given:
        raise SpecError(f"{', '.join(sorted(given))}: not an option of {NAME}, which copies all of SOURCE", "omit it")
    return CopyRequest(
        source=paths[0],
        destination=paths[1],
        methods=tuple(each.strip() for each in request.methods.split(",") if each.strip()),
        rounds=request.rounds,
        seed=options.seed,
        keep=request.keep,
        out=options.out,
        page=request.page,
    )


def plan_copies(request: CopyRequest) -> CopyPlan:
    """What would be copied; nothing is done. Raises IocastError."""
    return _plan(request).plan


def copy_experiment(request: CopyRequest, listener: Listener) -> CopiedFile | None:
    """Makes all copies; None where it was stopped before the first. Raises IocastError."""
    planned = _plan(request)
    listener.tell(CopyPlanned(planned.plan, str(planned.to) if request.keep else ""))
    folder = copy_folder.create(request.out, os.path.basename(planned.source.path))
    run = _begun(planned.plan)
    try:
        with listener.working() as stopping:
            run = _copies(planned, run, folder, stopping, listener)
            if request.keep and run.complete:
                run = _kept(planned, run, folder, stopping)
    except BaseException:
        folder.remove_if_empty()
        raise
    if not run.complete:
        listener.tell(Stopped(measured=len(run.trials), planned=len(planned.plan.cells), kept=bool(run.trials)))
    if not run.trials:
        folder.remove_if_empty()
        return None
    copied = CopiedFile(run, shown_folder(folder.path))
    listener.tell(AnswerReady(copied.report()))
    if request.page:
        _leave_page(copied, folder, listener)
    return copied


def open_copies(folder: str) -> CopiedFile:
    """The copies of a folder. Raises ArchiveError."""
    return CopiedFile(copy_folder.load(folder), folder)


def _plan(request: CopyRequest) -> _Planned:
    """The places are looked at, and the order of the copies is drawn. Raises IocastError."""
    methods = _methods(request.methods)
    source = find_source(request.source)
    to = destination_of(source, request.destination)
    check_room(source, to.parent, keep=request.keep)
    rounds = request.rounds or (ROUNDS if source.size_bytes < LARGE_BYTES else ROUNDS_OF_LARGE)
    plan = CopyPlan(
        source=_file(source.path),
        destination=_file(str(to.parent)),
        size_bytes=source.size_bytes,
        allocated_bytes=source.allocated_bytes,
        block_bytes=block_bytes(to.parent),
        cells=_drawn(methods, rounds, request.seed),
        rounds=rounds,
        seed=request.seed,
    )
    return _Planned(source, to, plan)


def _methods(names: tuple[str, ...]) -> tuple[MethodCode, ...]:
    chosen = []
    for name in names:
        of_name = next((method for method in METHODS if method == name.replace("-", "_")), None)
        if of_name is None:
            known = [method.replace("_", "-") for method in METHODS]
            raise SpecError(f'--methods: unknown way "{name}"{meant(name, known)}', f"known are {', '.join(known)}")
        chosen.append(of_name)
    return tuple(dict.fromkeys(chosen)) or METHODS


def _drawn(methods: tuple[MethodCode, ...], rounds: int, seed: int) -> tuple[CopyCell, ...]:
    """Every way, cold and warm, once in each round, in an order of its own."""
    order = random.Random(seed)
    cells: list[CopyCell] = []
    for number in range(1, rounds + 1):
        once = [CopyCell(method, cache, number) for method in methods for cache in CACHES]
        order.shuffle(once)
        cells += once
    return tuple(cells)


def _file(path: str) -> CopyFile:
    target = describe(path)
    device = os.stat(path).st_dev
    return CopyFile(
        path=target.path, filesystem=target.filesystem or "", device=f"{os.major(device)}:{os.minor(device)}"
    )


def _begun(plan: CopyPlan) -> CopyRun:
    host = describe_host()
    return CopyRun(
        schema_version=VERSION,
        iocast_version=__version__,
        host=host.name,
        kernel=host.kernel,
        started_unix_ns=unix_ns(),
        plan=plan,
    )


def _copies(planned: _Planned, run: CopyRun, folder: HeldFolder, stopping: Stopping, listener: Listener) -> CopyRun:
    """All copies in their order; each is saved when it is made. Raises IocastError."""

    def tick(_bytes: int) -> bool:
        return not stopping()

    run = replace(run, digest=source_digest(planned.source, tick))
    for number, cell in enumerate(planned.plan.cells, 1):
        trial = (
            None
            if stopping()
            else one_copy(planned.source, planned.to, planned.plan, cell, run.digest, _cached_bytes, tick)
        )
        if trial is None:
            return run
        run = replace(run, trials=(*run.trials, trial))
        copy_folder.save(folder, run)
        listener.tell(CopyReady(trial, number, len(planned.plan.cells)))
    return run


def _kept(planned: _Planned, run: CopyRun, folder: HeldFolder, stopping: Stopping) -> CopyRun:
    """One more copy in the usual way, which stays. Raises IocastError."""
    whole = next((trial.cell for trial in run.trials if trial.whole), None)
    if whole is None or not keep_copy(
        planned.source, planned.to, planned.plan, whole, run.digest, lambda _bytes: not stopping()
    ):
        return run
    run = replace(run, kept=str(planned.to))
    copy_folder.save(folder, run)
    return run


def _cached_bytes(descriptor: int) -> int | None:
    for ask in (by_cachestat, lambda fd: by_mincore(fd, os.fstat(fd).st_size)):
        try:
            return ask(descriptor).cached_bytes
        except OSError:
            continue
    return None


def _leave_page(copied: CopiedFile, folder: HeldFolder, listener: Listener) -> None:
    try:
        put_page(copied.report(charts=True), folder)
    except IocastError as error:
        listener.tell(PageFailed(error))
    else:
        listener.tell(FileWritten(Path(copied.folder, REPORT_PAGE)))
