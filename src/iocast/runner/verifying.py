"""Verifying: the journal of what a run writes to be verified, and the phases that read it back."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from iocast.archive.writing.held_folder import HeldFolder
from iocast.load import Layout
from iocast.load.verify_journal import Description, Journal, begin, on_target, read_back, same_boot
from iocast.model.plan import Length, Phase, PhasePlan, Plan
from iocast.model.verification import Verification


class Verifying:
    """The journal of one run; without one nothing is verified."""

    def __init__(self) -> None:
        self._journal: Journal | None = None

    @property
    def kept(self) -> bool:
        """True when the run folder has a journal."""
        return self._journal is not None

    def open(self, plan: Plan, layout: Layout, folder: HeldFolder) -> str:
        """Begins to record what is written to be verified, if anything is; a warning, "" when all is well."""
        self._journal = begin(plan, layout, folder)
        if self._journal is not None and on_target(plan, folder.place):
            return "The run folder is on the storage under test: a power loss may destroy the journal too"
        return ""

    def recorded(self, phase: Phase, phase_plan: PhasePlan) -> PhasePlan:
        """The plan with the journal if its writes are to be verified; else what they overwrite is forgotten."""
        if self._journal is None:
            return phase_plan
        self._journal.refuse_second_name()
        if phase.verify:
            return replace(phase_plan, verify=self._journal.plan)
        if phase.workload.writes:
            self._journal.forget()
        return phase_plan

    @property
    def opened(self) -> dict[str, int]:
        """The journal by its path in plans, as the descriptor that it is reached by."""
        return {} if self._journal is None else self._journal.opened

    def sync(self) -> None:
        """Writes to storage what the journal has so far."""
        if self._journal is not None:
            self._journal.sync()

    def shown(self, phase: Phase) -> Phase:
        """The phase that reads back, as long as it will be."""
        shown_phase = self._description()
        return replace(phase, length=Length(bytes=shown_phase.entries * shown_phase.block_bytes))

    def read_back(self, on_tick: Callable[[int, int], bool]) -> Verification:
        """Reads back what was written so far. `on_tick(elapsed_ns, bytes)` returns False to stop."""
        asked_phase = self._description()
        assert self._journal is not None
        folder = self._journal.folder.parent
        return read_back(
            folder,
            asked_phase,
            not same_boot(asked_phase),
            lambda ns, blocks: on_tick(ns, blocks * asked_phase.block_bytes),
        )

    def _description(self) -> Description:
        assert self._journal is not None
        return self._journal.description

    def close(self) -> None:
        """No more is recorded."""
        if self._journal is not None:
            self._journal.close()
