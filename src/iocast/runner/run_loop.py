"""The one loop over the groups of a run; here load and observation meet."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from iocast import __version__, load, metrics
from iocast._core import follow_wall_clock, unix_ns
from iocast.archive import RunFolder, TimeLeft, new_run_id
from iocast.errors import IocastError, LoadError
from iocast.load import Layout, Loader, PlannedGroup, loader_of
from iocast.load.filling import claimed
from iocast.load.opened_files import OpenedFiles
from iocast.load.process_limits import check_limits, check_memory
from iocast.load.storage_failures import broken
from iocast.model.measurement import Measurement
from iocast.model.plan import Phase, PhasePlan, Plan, left_is, seconds_of, stand_in
from iocast.model.run import Blind, Host, PhaseRecord, Run
from iocast.model.script import Done, FixedList, Group, Script
from iocast.model.workload import Closed
from iocast.observe import OBSERVERS, Watch
from iocast.observe.background import Background
from iocast.observe.block import kept_between_phases
from iocast.observe.host import clock_notes, describe_host
from iocast.observe.memory_left import memory_left
from iocast.observe.target.overwriting import held, refuse_used_files, unseen_users
from iocast.runner.observing import Beside, Observing, server_observers
from iocast.runner.refilling import WorkFiles
from iocast.runner.reporting import Member, Progress
from iocast.runner.saving import Performed, Saving, Status
from iocast.runner.scripts.until_steady import Judge, UntilSteady
from iocast.runner.tree_keeping import TreeFiles
from iocast.runner.verifying import Verifying

MEMORY_BUDGET_S = 0.15


class Work(Struct, frozen=True):
    """What is to be run, and where its folder goes.

    `script` chooses the groups; without one those of the plan are run in order. What it writes must be in the plan,
    whose phases are checked before. `judge` says when a phase that is to run until it is steady has done so; without
    one it runs its longest time. `background` is what the storage did for itself before; `beside`, entered, is sampled
    as well while load runs. `member`: this is one of several runs that begin their phases together.
    """

    plan: Plan
    layout: Layout
    out: str
    script: Script | None = None
    judge: Judge | None = None
    background: Background | None = None
    beside: Beside | None = None
    member: Member | None = None


def run(work: Work, progress: Progress, stopped: Callable[[], bool]) -> Performed:
    """Lays out the files, runs every group with the observers on, and saves after each in a folder in `out`.

    `stopped()` is asked about ten times a second; when it says True what was measured is kept, and so it is when
    something fails. Files that were not laid out to the end by then are removed again. Raises IocastError when the
    work could not even begin.
    """
    plan, layout = work.plan, work.layout
    check_limits(plan, layout)
    if (left := memory_left()) is not None:
        check_memory(plan, *left)
    loader = loader_of(plan)
    if work.member is not None:
        loader = work.member.loader(loader)
    follow_wall_clock()
    started_unix_ns = unix_ns()
    background, beside = work.background, work.beside
    watched = beside.names if beside else ()
    begun = Run(
        run_id=new_run_id(started_unix_ns),
        plan=plan,
        host=_measured_host(loader),
        started_unix_ns=started_unix_ns,
        status="running",
        iocast_version=__version__,
        warnings=(*layout.notes, *(f"Watched beside the load: {name}" for name in watched)),
        maintenance=background.tasks if background else (),
        blind=tuple(Blind(metrics.MAINTENANCE, why) for why in (background.unseen if background else ())),
    )
    script = work.script or FixedList(plan.groups)
    if work.judge is not None:
        script = UntilSteady(script, work.judge, loader.step_ns)
    writing = [phase.name for phase in plan.phases if phase.workload.writes]
    with (
        claimed(layout, bool(writing)),
        held(plan.target, writing) as recheck,
        kept_between_phases(),
        OpenedFiles(layout, plan.target) as opened,
    ):
        begun = replace(begun, warnings=(*begun.warnings, *_users_of(layout, writing)))
        loader.check(layout)
        saving = Saving(RunFolder.create(work.out, begun, private=beside is not None), begun)
        if work.member is not None:
            work.member.begun(saving.run, saving.folder.path)
        loop = _Loop(work, loader, script, saving, progress, stopped, recheck, opened)
        error = None
        try:
            loop.run()
        except IocastError as why:
            error = why
        except BaseException:
            loop.close("failed")
            raise
        finally:
            progress.close()
        return loop.close("failed" if error else "done" if loop.complete else "interrupted", error)


def _users_of(layout: Layout, writing: list[str]) -> tuple[str, ...]:
    """What is to be said of others who use the work files. Raises TargetError when they would be overwritten."""
    if not layout.own:
        return ()
    filling = [f"lay out {Path(file.path).name}" for file in layout.files if file.fill]
    return refuse_used_files([file.path for file in layout.files], [*filling, *writing])


def _measured_host(loader: Loader) -> Host:
    host = describe_host()
    return replace(host, memory_bytes_per_s=load.memory_bytes_per_s(MEMORY_BUDGET_S)) if loader.real_time else host


def _unpaced(phase: Phase) -> Phase:
    """The phase whatever its rate: a script may find that, and it changes nothing of where is written."""
    return replace(phase, workload=replace(phase.workload, arrival=Closed()))


class _Loop:
    """One call of `run`: where it stands."""

    def __init__(
        self,
        work: Work,
        loader: Loader,
        script: Script,
        saving: Saving,
        progress: Progress,
        stopped: Callable[[], bool],
        recheck: Callable[[], None],
        opened: OpenedFiles,
    ) -> None:
        layout = work.layout
        self.plan, self.layout, self.loader, self.script = saving.run.plan, layout, loader, script
        self.saving, self.progress, self.stopped = saving, progress, stopped
        self.opened, self.beside = opened, work.beside
        self.recheck = recheck  # whether the device is still the one that may be overwritten
        self.files: WorkFiles | TreeFiles = (
            WorkFiles(layout, loader, bool(self.plan.target.direct), self._fill, stopped)
            if not self.plan.trees
            else TreeFiles(self.plan, layout, loader, self._fill, stopped)
        )
        self.verifying = Verifying()
        self.done: Done = ()
        self.asked: tuple[Phase, ...] = ()  # what the script asked for so far
        self.over = False  # the script has nothing more to ask for
        self.begun = 0  # groups, those that fill work files included

    def run(self) -> None:
        """Everything from the first fill to the last group."""
        self.files.fill()
        whole = self.layout.own and not self.files.waiting and not self.saving.cut_short
        self.saving.run = replace(self.saving.run, files_whole=whole)
        if not self.stopped():
            warning = self.verifying.open(self.plan, self.layout, self.saving.folder.held)
            self.saving.warn(*filter(None, (warning,)))
        self._run_script()
        self._refuse_broken()

    def _run_script(self) -> None:
        """The loop: what comes next is the script's to say, how it is run is the loader's."""
        while (group := self.script.next(self.done)) is not None:
            if self.stopped():
                return
            self._refuse_unplanned(group)
            records: tuple[PhaseRecord, ...] = ()
            if group.phases[0].role == "verify":
                self._verify(group.phases[0])
            else:
                self.files.prepare(group.phases)
                if self.stopped():
                    return
                records = self._measure(group)
            self.asked += group.phases
            self.done = (*self.done, records)
        self.saving.follow(self.asked)
        self.over = True

    def _refuse_unplanned(self, group: Group) -> None:
        """What writes must stand in the plan, because only that was checked; the run's plan follows the script."""
        for phase in group.phases:
            if not (phase.workload.writes or phase.verify) or phase in self.plan.phases:
                continue
            if _unpaced(phase) not in map(_unpaced, self.plan.phases):
                raise LoadError(
                    f'the script requests "{phase.name}", which writes and is missing from the plan',
                    "list every phase that may write in the plan, so that it is checked before anything is written",
                )
        ahead = self.script.ahead(self.done)
        self.saving.follow((*self.asked, *(phase for phases in ahead for phase in phases)))

    def _measure(self, group: Group) -> tuple[PhaseRecord, ...]:
        self.files.note_changes_of(group.phases)
        if self.plan.target.kind == "block" and any(phase.workload.writes for phase in group.phases):
            self._overwrite()
        plans: list[PhasePlan] = []
        for number, phase in enumerate(group.phases, len(self.asked)):
            seed = load.phase_seed(self.plan, phase, number)
            phase_plan = self.files.adapted(phase, self.loader.phase_plan(phase, self.layout.files, seed))
            plans.append(self.verifying.recorded(phase, phase_plan))
        if self.loader.real_time and any(phase.cold for phase in group.phases):
            load.drop_names() if self.layout.tree else load.drop_cached(self.layout.files)
        return self._run(group, tuple(plans))

    def _overwrite(self) -> None:
        """Looks once more whether the device is the one that was given up, and says what becomes of it."""
        self.recheck()
        target = self.plan.target
        self.saving.warn(*filter(None, (unseen_users(target),)))
        self.saving.overwritten(f"This run overwrote {target.path} ({target.destroy}): its previous contents are lost")

    def _fill(self, phase: Phase, plan: PhasePlan) -> Measurement:
        (record,) = self._run(Group((phase,)), (plan,))
        return record.measurement

    def _run(self, group: Group, plans: tuple[PhasePlan, ...]) -> tuple[PhaseRecord, ...]:
        """Runs one group under observation, and saves it."""
        shown = stand_in(group.phases)
        number, total, left = self._begin(shown)
        self.saving.folder.begin(shown.name, number, total, left)
        files = () if self.layout.tree else tuple(file.path for file in self.layout.files)
        opened, spool = self._opened(plans) | self.verifying.opened, str(self.saving.folder.held.place)
        # A tree has no work files whose pages could be counted; without one nobody asks what names cost.
        idle = metrics.PAGECACHE if self.layout.tree else metrics.SLABS
        common = tuple(each for each in OBSERVERS if idle != each.NAME)
        observers = (*common, *server_observers(self.plan.target)) if self.loader.real_time else ()
        with Watch(self.plan.target, files, observers) as watch:
            verified = any(plan.verify is not None for plan in plans)
            observing = Observing(watch, self.verifying.sync if verified else None, self.beside)

            def on_tick(elapsed_ns: int, ios: int, bytes_moved: int, errors: int) -> bool:
                observing.tick(elapsed_ns)
                self.progress.tick(elapsed_ns, ios, bytes_moved, errors)
                self.saving.folder.tick(elapsed_ns, ios, bytes_moved, errors)
                return not self.stopped()

            measured = self.loader.measure(PlannedGroup(plans, group.until, opened, spool), on_tick)
            end = observing.end()
        if group.phases[0].role != "fill":  # of these the mark is written when they are whole
            self.files.rest()
        return self.saving.keep(group.phases, measured, end, group.until.end if group.until else None, self.progress)

    def _opened(self, plans: tuple[PhasePlan, ...]) -> dict[str, int]:
        """The descriptors that the load goes to; simulated devices and databases have none."""
        if not self.loader.real_time or self.plan.target.kind == "database":
            return {}
        return self.opened.descriptors(region.path for plan in plans for region in plan.files)

    def _begin(self, shown: Phase) -> tuple[int, int, TimeLeft | None]:
        """Tells how far the run is; the number of the group that begins (from 1), of all, and the time left."""
        ahead = (*self.files.waiting, *self.script.ahead(self.done))
        total = self.begun + len(ahead)
        seconds_left = sum(seconds_of(phases) for phases in ahead) if self.loader.real_time else None
        self.progress.begin(shown, self.begun, total, seconds_left)
        self.begun += 1
        if seconds_left is None:
            return self.begun, total, None
        return (
            self.begun,
            total,
            TimeLeft(round(seconds_left * 1e9), shown.length, "about" if self.plan.calibration else left_is(ahead)),
        )

    def _verify(self, phase: Phase) -> None:
        """Reads back what was written so far with verify."""
        if not self.verifying.kept:
            return
        self._begin(self.verifying.shown(phase))

        def on_tick(elapsed_ns: int, bytes_read: int) -> bool:
            self.progress.tick(elapsed_ns, 0, bytes_read, 0)
            return not self.stopped()

        self.saving.verified(self.verifying.read_back(on_tick))

    def _refuse_broken(self) -> None:
        """Raises LoadError when phases met so many errors that they ended before their time."""
        failed = [each for each in self.saving.run.phases if each.measurement.error_count >= each.plan.error_limit]
        if failed and not self.stopped():
            raise broken(failed)

    @property
    def complete(self) -> bool:
        """True when every group was run to its end."""
        return self.over and not self.files.waiting and not self.saving.cut_short

    def close(self, status: Status, error: IocastError | None = None) -> Performed:
        """Saves the final state."""
        self.verifying.close()
        self.saving.warn(*clock_notes())
        return self.saving.close(status, error, keep=self.verifying.kept)
