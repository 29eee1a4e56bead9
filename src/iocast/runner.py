"""Plan → Run: the one place where load and observation meet."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from msgspec.structs import replace

from iocast import __version__, load
from iocast.archive import RunFolder, new_run_id, series
from iocast.errors import IocastError
from iocast.load.filling import check_filled, claimed, create, cut, fill_phase, finish, in_blocks, spoil
from iocast.load.removal import remove
from iocast.load.storage_failures import broken, hung
from iocast.load.trimming import refuse_without_trim
from iocast.load.until_steady import Judge, Watching, replay
from iocast.load.verify_journal import Journal, begin, on_target, read_back, same_boot
from iocast.model.measurement import Measurement
from iocast.model.plan import Length, Phase, PhasePlan, Plan, Until, seconds_of, stand_in
from iocast.model.run import Blind, Host, PhaseRecord, Run, Sample, SteadyEnd
from iocast.model.workload import Unique
from iocast.observe import OBSERVERS, Observed, Watch
from iocast.observe.block import kept_between_phases
from iocast.observe.host import describe_host
from iocast.observe.target.overwriting import held

SAMPLE_EVERY_NS = 1_000_000_000
MEMORY_BUDGET_S = 0.15


class Progress(Protocol):
    """Who is told how far the work is. All calls come from the thread that called `perform`."""

    def begin(self, phase: Phase, number: int, total: int, seconds_left: float | None) -> None:
        """A phase begins, or several at once, for which `phase` stands. `seconds_left` is what all that remains
        will take as far as its length says; None where time is virtual."""

    def tick(self, elapsed_ns: int, ios: int, bytes_moved: int, errors: int) -> None:
        """About ten times a second."""

    def end(self, record: PhaseRecord) -> None:
        """A phase has ended; told of each of several that ran at once."""

    def close(self) -> None:
        """No more phases; called once, however the work ended."""


class Performed(NamedTuple):
    """What came of a plan: the run, where it was saved (None: nothing was measured), and what ended it early."""

    run: Run
    folder: Path | None
    error: IocastError | None


def perform(
    plan: Plan,
    layout: load.Layout,
    out: str,
    progress: Progress,
    stopped: Callable[[], bool],
    judge: Judge | None = None,
) -> Performed:
    """Lays out the files, runs every phase with the observers on, and saves after each in a folder in `out`.

    `judge` says when a phase that is to run until it is steady has done so; without one it runs its longest time.
    `stopped()` is asked about ten times a second; when it says True what was measured is kept, and so it is
    when something fails. Files that were not laid out to the end by then are removed again. Raises
    IocastError when the work could not even begin.
    """
    started_unix_ns = time.time_ns()
    run = Run(
        run_id=new_run_id(started_unix_ns),
        plan=plan,
        host=_measured_host(plan),
        started_unix_ns=started_unix_ns,
        status="running",
        iocast_version=__version__,
        warnings=layout.notes,
    )
    writing = [phase.name for phase in plan.phases if phase.workload.writes]
    with claimed(layout), held(plan.target, writing) as recheck, kept_between_phases():
        refuse_without_trim(plan, layout)
        job = _Job(layout, RunFolder.create(out, run), progress, stopped, run, recheck, judge)
        error = None
        try:
            job.fill()
            job.trust_files()
            job.open_journal()
            job.measure()
            job.refuse_broken()
        except IocastError as why:
            error = why
        except BaseException:
            job.close("failed")
            raise
        finally:
            progress.close()
        return job.close("failed" if error else "done" if job.complete else "interrupted", error)


def _measured_host(plan: Plan) -> Host:
    host = describe_host()
    if plan.target.kind == "sim":
        return host
    return replace(host, memory_bytes_per_s=load.memory_bytes_per_s(MEMORY_BUDGET_S))


class _Job:
    """One call of `perform`: the run as it grows."""

    def __init__(
        self,
        layout: load.Layout,
        folder: RunFolder,
        progress: Progress,
        stopped: Callable[[], bool],
        run: Run,
        recheck: Callable[[], None],
        judge: Judge | None = None,
    ) -> None:
        self.layout, self.folder, self.progress, self.stopped, self.run = layout, folder, progress, stopped, run
        self.recheck = recheck  # whether the device is still the one that may be overwritten
        self.judge = judge
        self.plan = run.plan
        self.real = self.plan.target.kind != "sim"
        self.world = None if self.real else load.sim_world()
        self.world_before = self.world
        fills = tuple((self._fill_phase(file),) for file in layout.files if file.fill)
        self.left = [*fills, *self.plan.groups]
        self.total = len(self.left)
        self.cut_short = False
        self.journal: Journal | None = None
        self.trimmed = False  # the work files have holes that a read would not take to the storage

    def _fill_phase(self, file: load.WorkFile) -> Phase:
        return fill_phase(file, bool(self.plan.target.direct))

    def fill(self) -> None:
        """Writes the files that are not there yet."""
        for file in self.layout.files:
            if file.fill and not self.stopped():
                try:
                    self._fill(file)
                except BaseException:
                    _remove_unfinished(file)
                    raise

    def _fill(self, file: load.WorkFile) -> None:
        create(file)
        phase = self._fill_phase(file)
        (record,) = self._perform((phase,), (load.phase_plan(self.plan, phase, (in_blocks(file),), seed=0),))
        if not self.stopped():
            check_filled(record.measurement, file.path)
        if record.measurement.stopped == "finished":
            finish(file)
        else:
            _remove_unfinished(file)

    def trust_files(self) -> None:
        """Notes that the files are whole: written just now, or found so by `lay_out`."""
        whole = self.layout.own and not any(group[0].role == "fill" for group in self.left) and not self.cut_short
        self.run = replace(self.run, files_whole=whole)

    def measure(self) -> None:
        """Runs the phases of the plan in order, those that belong together at once."""
        number = 0
        for group in self.plan.groups:
            if self.stopped():
                return
            if group[0].role == "verify":
                self._verify(group[0])
                number += len(group)
                continue
            self._refill_for(group)
            if self.stopped():
                return
            for phase in group:
                self._note_changes_of(phase)
            if self.plan.target.kind == "block" and any(phase.workload.writes for phase in group):
                self._overwrite()
            plans: list[PhasePlan] = []
            for place, phase in enumerate(group):
                seed = load.phase_seed(self.plan, number + place)
                plans.append(self._recorded(phase, load.phase_plan(self.plan, phase, self.layout.files, seed)))
            self._perform(group, tuple(plans))
            number += len(group)

    def refuse_broken(self) -> None:
        """Raises LoadError when phases met so many errors that they ended before their time."""
        failed = [each for each in self.run.phases if each.measurement.error_count >= each.plan.error_limit]
        if failed and not self.stopped():
            raise broken(failed)

    def open_journal(self) -> None:
        """Begins to record what is written to be verified, if anything is."""
        if self.stopped():
            return
        self.journal = begin(self.plan, self.layout, self.folder.path)
        if self.journal is not None and on_target(self.plan, self.folder.path):
            note = "The run folder is on the storage under test: a loss of power may take the journal with it"
            self.run = replace(self.run, warnings=(*self.run.warnings, note))

    def _verify(self, phase: Phase) -> None:
        """Reads back what was written so far with verify."""
        if self.journal is None:
            return
        told, journal = self.journal.description, self.journal
        seconds_left = sum(seconds_of(left) for left in self.left)
        shown = replace(phase, length=Length(bytes=told.entries * told.block_bytes))
        self.progress.begin(shown, self.total - len(self.left), self.total, seconds_left)
        self.left.pop(0)

        def on_tick(elapsed_ns: int, blocks: int) -> bool:
            self.progress.tick(elapsed_ns, 0, blocks * told.block_bytes, 0)
            return not self.stopped()

        found = read_back(journal.folder.parent, told, not same_boot(told), on_tick)
        self.cut_short |= not found.complete
        self.run = replace(self.run, verifications=(*self.run.verifications, found))
        self.folder.save(self.run)

    def _refill_for(self, group: tuple[Phase, ...]) -> None:
        """Before reads after trims: what was trimmed is written again, for reads of a hole reach no storage."""
        reads = any(item.op == "read" and not phase.as_it_is for phase in group for item in phase.workload.mix)
        if self.layout.own and any(phase.from_nothing for phase in group):
            cut(self.layout.files)
            self.trimmed = True
            return
        if not self.trimmed or not reads or any(phase.workload.trims for phase in group):
            return
        for file in self.layout.files:
            self.left.insert(0, (self._fill_phase(file),))
            self.total += 1
            self._fill(file)
            if self.stopped():
                return
        self.trimmed = False

    def _note_changes_of(self, phase: Phase) -> None:
        """A work file that the phase leaves with holes, or with other than unique data, is laid out anew next time."""
        load = phase.workload
        if self.layout.own and load.writes and (load.trims or not isinstance(load.payload, Unique)):
            self.trimmed |= load.trims
            for file in self.layout.files:
                spoil(file)

    def _recorded(self, phase: Phase, told: PhasePlan) -> PhasePlan:
        """The plan with the journal if its writes are to be verified; else what they overwrite is forgotten."""
        if self.journal is None:
            return told
        if phase.verify:
            return replace(told, verify=self.journal.plan)
        if phase.workload.writes:
            self.journal.forget()
        return told

    def _overwrite(self) -> None:
        """Looks once more whether the device is the one that was given up, and says what becomes of it."""
        self.recheck()
        target = self.plan.target
        lost = f"This run wrote on {target.path} ({target.destroy}): what the device held before is lost"
        self.run = replace(self.run, warnings=tuple(dict.fromkeys((*self.run.warnings, lost))))

    @property
    def complete(self) -> bool:
        """True when every phase was run to its end."""
        return not self.left and not self.cut_short

    def _perform(self, group: tuple[Phase, ...], plans: tuple[PhasePlan, ...]) -> tuple[PhaseRecord, ...]:
        seconds_left = sum(seconds_of(left) for left in self.left) if self.real else None
        self.progress.begin(stand_in(group), self.total - len(self.left), self.total, seconds_left)
        self.folder.begin(stand_in(group).name, self.total - len(self.left) + 1, self.total)
        self.left.pop(0)
        samples: list[Sample] = []
        end: SteadyEnd | None = None
        watched = tuple(file.path for file in self.layout.files) if self.real else ()
        judge = self.judge
        phase, until = group[0], group[0].until  # what runs at once with others is not judged while it runs
        steady = Watching(phase, until, judge) if until and judge and self.real else None
        with Watch(self.plan.target, watched, OBSERVERS if self.real else ()) as watch:
            # The first is taken at the tick before the start: what engines try on the target comes before it.
            next_sample_ns = 0

            def on_tick(elapsed_ns: int, ios: int, bytes_moved: int, errors: int, response_ns: int) -> load.Answer:
                nonlocal next_sample_ns
                if elapsed_ns >= next_sample_ns:
                    next_sample_ns += SAMPLE_EVERY_NS
                    if any(plan.verify is not None for plan in plans) and self.journal is not None:
                        self.journal.sync()
                    samples.extend(watch.sample())
                self.progress.tick(elapsed_ns, ios, bytes_moved, errors)
                self.folder.tick(elapsed_ns, ios, bytes_moved, errors)
                if steady and steady.tick(elapsed_ns, ios, response_ns):
                    return "enough" if not self.stopped() else False
                return not self.stopped()

            self.world_before = self.world.copied() if self.world and until else None
            measured = load.measure_together(plans, on_tick, self.world)
            if until and judge and not self.real:
                again = self._again(phase, until, judge, plans[0], *measured[0], on_tick)
                plans, measured, end = (again[0],), (again[1:3],), again[3]
            block = watch.block_times()
            samples += watch.sample()
            seen = Observed(tuple(samples), block, watch.blind)
        return self._kept(group, plans, measured, seen, steady.end if steady else end)

    def _kept(
        self,
        group: tuple[Phase, ...],
        plans: tuple[PhasePlan, ...],
        measured: tuple[tuple[Measurement, load.Intervals], ...],
        seen: Observed,
        end: SteadyEnd | None,
    ) -> tuple[PhaseRecord, ...]:
        """Saves what phases that ran at once have done; what was seen of them all once, with the first."""
        records: list[PhaseRecord] = []
        unsaved, block = seen.samples, seen.block
        for phase, plan, (measurement, intervals) in zip(group, plans, measured, strict=True):
            record = PhaseRecord(
                phase=phase,
                plan=plan,
                measurement=measurement,
                samples=seen.samples,
                series=series(intervals, plan.interval_ns, measurement),
                steady=end,
                block=block,
            )
            records.append(record)
            self.cut_short |= measurement.stopped in ("interrupted", "hung")
            if not _empty(measurement):
                number = len(self.run.phases)
                self._keep(record, seen.blind)
                self.folder.save_phase(number, phase.name, intervals, unsaved)
                unsaved, block = (), None
        if not all(_empty(record.measurement) for record in records):
            self.folder.save(self.run)
        for record in records:
            self.progress.end(record)
        for record in records:
            if record.measurement.stopped == "hung":
                raise hung(record)
        return tuple(records)

    def _again(
        self,
        phase: Phase,
        until: Until,
        judge: Judge,
        plan: PhasePlan,
        measurement: Measurement,
        intervals: load.Intervals,
        on_tick: load.OnTick,
    ) -> tuple[PhasePlan, Measurement, load.Intervals, SteadyEnd]:
        """A phase on virtual time, once more for exactly as long as it took to be steady; it begins the same."""
        end, seconds = replay(phase, until, judge, series(intervals, plan.interval_ns, measurement))
        if seconds is not None and measurement.stopped == "finished":
            plan = replace(plan, length=replace(plan.length, seconds=seconds))
            self.world = self.world_before
            measurement, intervals = load.measure(plan, on_tick, self.world)
        return plan, measurement, intervals, end

    def _keep(self, record: PhaseRecord, blind: tuple[Blind, ...]) -> None:
        """Adds a phase to the run, with what is new of what could not be seen or had."""
        notes = tuple(f"Engine: {note}" for note in record.measurement.engine.notes)
        self.run = replace(
            self.run,
            phases=(*self.run.phases, record),
            blind=tuple(dict.fromkeys((*self.run.blind, *blind))),
            warnings=tuple(dict.fromkeys((*self.run.warnings, *notes))),
        )

    def close(self, status: Literal["done", "interrupted", "failed"], error: IocastError | None = None) -> Performed:
        """Saves the final state; a folder without any measured phase is not left behind."""
        self.folder.end()
        self.run = replace(self.run, status=status)
        if self.journal is not None:
            self.journal.close()
        if not self.run.measured and self.journal is None:
            self.folder.discard()
            return Performed(self.run, None, error)
        try:
            self.folder.save(self.run)
        except IocastError as why:
            error = error or why
        return Performed(self.run, self.folder.path, error)


def _empty(measurement: Measurement) -> bool:
    """True for a phase that was stopped before anything came back."""
    return measurement.stopped == "interrupted" and not measurement.ios and not measurement.error_count


def _remove_unfinished(file: load.WorkFile) -> None:
    try:
        remove(file.path)
    except (IocastError, OSError):
        # Whatever it is, it is not ours to remove, or cannot be: the mark stays, and `iocast clean` finds it.
        return
