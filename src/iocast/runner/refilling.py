"""The work files of a run: filled before it, filled again after trims, and marked when a phase spoils them."""

from __future__ import annotations

from collections.abc import Callable

from iocast.errors import IocastError
from iocast.load import Layout, Loader, WorkFile
from iocast.load.filling import check_filled, create, cut, fill_phase, finish, in_blocks, spoil
from iocast.load.marks import rest, work_again
from iocast.load.removal import remove
from iocast.model.measurement import Measurement
from iocast.model.plan import Phase, PhasePlan
from iocast.model.workload import Unique

# Runs the phase that writes one file.
Fill = Callable[[Phase, PhasePlan], Measurement]


class WorkFiles:
    """What the work files of a layout hold, as far as the run changes it."""

    def __init__(self, layout: Layout, loader: Loader, direct: bool, fill: Fill, stopped: Callable[[], bool]) -> None:
        self._layout, self._loader, self._direct = layout, loader, direct
        self._run_fill, self._stopped = fill, stopped
        self._trimmed = False  # the files have holes that a read would not take to the storage
        self.waiting = [(self._phase(file),) for file in layout.files if file.fill]  # fills that are still to come

    def _phase(self, file: WorkFile) -> Phase:
        return fill_phase(file, self._direct)

    def fill(self) -> None:
        """Writes the files that are not there yet."""
        for file in self._layout.files:
            if file.fill and not self._stopped():
                try:
                    self._fill(file)
                except BaseException:
                    _remove_unfinished(file)
                    raise

    def _fill(self, file: WorkFile) -> None:
        create(file)
        phase = self._phase(file)
        measurement = self._run_fill(phase, self._loader.phase_plan(phase, (in_blocks(file),), seed=0))
        self.waiting.pop(0)
        if not self._stopped():
            check_filled(measurement, file.path)
        if measurement.stopped == "finished":
            finish(file)
        else:
            _remove_unfinished(file)

    def prepare(self, phases: tuple[Phase, ...]) -> None:
        """Before reads after trims: what was trimmed is written again, for reads of a hole reach no storage."""
        if self._layout.own and any(phase.workload.writes for phase in phases):
            for file in self._layout.files:
                work_again(file.path)
        reads = any(item.op == "read" and not phase.as_it_is for phase in phases for item in phase.workload.mix)
        if self._layout.own and any(phase.from_nothing for phase in phases):
            cut(self._layout.files)
            self._trimmed = True
            return
        if not self._trimmed or not reads or any(phase.workload.trims for phase in phases):
            return
        for file in self._layout.files:
            self.waiting.insert(0, (self._phase(file),))
            self._fill(file)
            if self._stopped():
                return
        self._trimmed = False

    def adapted(self, phase: Phase, plan: PhasePlan) -> PhasePlan:
        """The plan of a phase as the core gets it: work files change nothing of it."""
        return plan

    def note_changes_of(self, phases: tuple[Phase, ...]) -> None:
        """Files that a phase leaves with holes, or with other than unique data, are laid out anew next time."""
        if not any(phase.workload.writes for phase in phases):
            self.rest()
        for phase in phases:
            workload = phase.workload
            if self._layout.own and workload.writes and (workload.trims or not isinstance(workload.payload, Unique)):
                self._trimmed |= workload.trims
                for file in self._layout.files:
                    spoil(file)

    def rest(self) -> None:
        """Notes how the files were left: what is written to them before the next phase that writes is not ours."""
        for file in self._layout.files if self._layout.own else ():
            rest(file.path)


def _remove_unfinished(file: WorkFile) -> None:
    try:
        remove(file.path)
    except (IocastError, OSError):
        # Whatever it is, it is not ours to remove, or cannot be: the mark stays, and `iocast clean` finds it.
        return
