"""Plan → Run: the one place where load and observation meet."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

import msgspec

from iocast import __version__, load
from iocast.archive import RunFolder
from iocast.errors import IocastError, TargetError
from iocast.load.files import create, fill_phase, finish, read_mark, remove
from iocast.model.measurement import Measurement
from iocast.model.plan import Phase, PhasePlan, Plan
from iocast.model.run import Blind, Host, PhaseRecord, Run, Sample
from iocast.observe import OBSERVERS, Watch
from iocast.observe.host import describe_host

SAMPLE_EVERY_NS = 1_000_000_000
MEMORY_BUDGET_S = 0.15


class Progress(Protocol):
    """Who is told how far the work is. All calls come from the thread that called `perform`."""

    def begin(self, phase: Phase, number: int, total: int, seconds_left: float) -> None:
        """A phase begins; `seconds_left` is what all that remains will take, as far as it is known."""

    def tick(self, elapsed_ns: int, ios: int, bytes_moved: int, errors: int) -> None:
        """About ten times a second."""

    def end(self, record: PhaseRecord) -> None:
        """A phase has ended."""


def perform(plan: Plan, folder: RunFolder, progress: Progress, stopped: Callable[[], bool]) -> Run:
    """Lays out the files, runs every phase with the observers on, and saves after each.

    `stopped()` is asked about ten times a second; when it says True what was measured is kept. Files that
    were not laid out to the end by then are removed again. Raises IocastError.
    """
    layout = load.lay_out(plan)
    run = Run(
        plan=plan,
        host=_measured_host(plan),
        started_unix_ns=time.time_ns(),
        status="running",
        iocast_version=__version__,
        warnings=layout.notes,
    )
    job = _Job(plan, layout, folder, progress, stopped, run)
    try:
        job.fill()
        job.measure()
    except BaseException:
        job.close("failed")
        raise
    return job.close("interrupted" if stopped() else "done")


def _measured_host(plan: Plan) -> Host:
    host = describe_host()
    if plan.target.kind == "sim":
        return host
    from iocast import _core

    speed = int(_core.memory_copy_bytes_per_s(MEMORY_BUDGET_S))
    return msgspec.structs.replace(host, memory_bytes_per_s=speed)


def expected_seconds(phase: Phase) -> float:
    """How long a phase will take, as far as its length says (0 when it ends by I/Os or bytes)."""
    return phase.length.seconds or 0.0


class _Job:
    """One call of `perform`: the plan, and the run as it grows."""

    def __init__(
        self,
        plan: Plan,
        layout: load.Layout,
        folder: RunFolder,
        progress: Progress,
        stopped: Callable[[], bool],
        run: Run,
    ) -> None:
        self.plan, self.layout, self.folder = plan, layout, folder
        self.progress, self.stopped, self.run = progress, stopped, run
        fills = tuple(fill_phase(f, bool(plan.target.direct)) for f in layout.files if f.fill)
        self.left = [*fills, *plan.phases]
        self.total = len(self.left)
        self.watched = tuple(file.path for file in layout.files) if plan.target.kind != "sim" else ()

    def fill(self) -> None:
        """Writes the files that are not there yet."""
        for file in self.layout.files:
            if not file.fill or self.stopped():
                continue
            phase = self.left[0]
            try:
                create(file)
                record = self._perform(phase, load.phase_plan(self.plan, phase, (file,), len(self.run.phases)))
                _check_filled(record.measurement, file.path)
                if record.measurement.stopped == "finished":
                    finish(file)
            except IocastError:
                if read_mark(file.path) is not None:
                    remove(file.path)
                raise
            if record.measurement.stopped != "finished":
                remove(file.path)

    def measure(self) -> None:
        """Runs the phases of the plan in order."""
        for phase in self.plan.phases:
            if self.stopped():
                return
            self._perform(phase, load.phase_plan(self.plan, phase, self.layout.files, len(self.run.phases)))

    def _perform(self, phase: Phase, plan: PhasePlan) -> PhaseRecord:
        seconds_left = sum(expected_seconds(left) for left in self.left)
        self.progress.begin(phase, self.total - len(self.left), self.total, seconds_left)
        self.left.pop(0)
        samples: list[Sample] = []
        observers = () if self.plan.target.kind == "sim" else OBSERVERS
        with Watch(self.plan.target, self.watched, observers) as watch:
            samples += watch.sample()
            next_sample = time.monotonic_ns() + SAMPLE_EVERY_NS

            def on_tick(elapsed_ns: int, ios: int, bytes_moved: int, errors: int) -> bool:
                nonlocal next_sample
                if time.monotonic_ns() >= next_sample:
                    next_sample += SAMPLE_EVERY_NS
                    samples.extend(watch.sample())
                self.progress.tick(elapsed_ns, ios, bytes_moved, errors)
                return not self.stopped()

            measurement, intervals = load.measure(plan, on_tick)
            samples += watch.sample()
            blind = watch.blind
        record = PhaseRecord(phase=phase, plan=plan, measurement=measurement, samples=tuple(samples))
        number = len(self.run.phases)
        self.run = msgspec.structs.replace(
            self.run, phases=(*self.run.phases, record), blind=_merge_blind(self.run.blind, blind)
        )
        self.folder.save_phase(number, phase.name, intervals, record.samples)
        self.folder.save(self.run)
        self.progress.end(record)
        return record

    def close(self, status: str) -> Run:
        """Saves the final state; a folder without any measured phase is not left behind."""
        self.run = msgspec.structs.replace(self.run, status=status)
        if self.run.measured:
            self.folder.save(self.run)
        else:
            self.folder.discard()
        return self.run


def _merge_blind(known: tuple[Blind, ...], more: tuple[Blind, ...]) -> tuple[Blind, ...]:
    return known + tuple(blind for blind in more if blind not in known)


def _check_filled(measurement: Measurement, path: str) -> None:
    if measurement.error_count:
        error = measurement.errors[0]
        hint = {
            "ENOSPC": "make room, ask for less with --size, or give another path",
            "EDQUOT": "your quota is used up: ask for less with --size, or give another path",
        }.get(error.name, "look into the kernel log (dmesg): the device or file system refused the writes")
        raise TargetError(
            f"{path}: {error.count} writes failed with {error.name} while the file was laid out, "
            f"the first at offset {error.first[0].offset_bytes:,}",
            hint,
        )


__all__ = ["Progress", "expected_seconds", "perform"]
