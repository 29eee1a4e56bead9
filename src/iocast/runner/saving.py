"""Saving: what phases did becomes records of the run, and the run a folder that is valid at any moment."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple

from msgspec.structs import replace

from iocast.archive import RunFolder, samples_from, series, without_warm_up
from iocast.errors import ArchiveError, IocastError, LoadError
from iocast.load import MeasuredPhase
from iocast.load.storage_failures import hung
from iocast.model.measurement import Measurement
from iocast.model.plan import Phase
from iocast.model.run import Blind, PhaseRecord, Run, SteadyEnd
from iocast.model.verification import Verification
from iocast.observe import Observed
from iocast.observe.target.patience import within
from iocast.runner.reporting import Progress

Status = Literal["done", "interrupted", "failed"]
_PATIENCE_S = 30


class Performed(NamedTuple):
    """What came of a plan: the run, where it was saved (None: nothing was measured), and what ended it early."""

    run: Run
    folder: Path | None
    error: IocastError | None


class Saving:
    """The run as it grows, and its folder."""

    def __init__(self, folder: RunFolder, run: Run) -> None:
        self.folder, self.run = folder, run
        self.cut_short = False  # a phase was ended from outside
        self.overwrote = False  # a device lost what was on it: that is kept, whatever was measured

    def warn(self, *notes: str) -> None:
        """Adds warnings to the run, each once."""
        self.run = replace(self.run, warnings=tuple(dict.fromkeys((*self.run.warnings, *notes))))

    def overwritten(self, note: str) -> None:
        """A device is about to lose its contents: that stands in the folder before the first byte is written."""
        if not self.overwrote:
            self.overwrote = True
            self.warn(note)
            self.folder.save(self.run)

    def follow(self, phases: tuple[Phase, ...]) -> None:
        """The plan of the run says what its script asked for."""
        if phases != self.run.plan.phases:
            self.run = replace(self.run, plan=replace(self.run.plan, phases=phases))

    def verified(self, verification: Verification) -> None:
        """Keeps what was read back."""
        self.cut_short |= not verification.complete
        self.run = replace(self.run, verifications=(*self.run.verifications, verification))
        self.folder.save(self.run)

    def keep(
        self,
        phases: tuple[Phase, ...],
        measured: tuple[MeasuredPhase, ...],
        observed: Observed,
        end: SteadyEnd | None,
        progress: Progress,
    ) -> tuple[PhaseRecord, ...]:
        """Saves a group; what was seen of all its phases is kept once, with the first. What they did is told, saved or
        not.

        Raises LoadError, when all is saved, if the storage does not answer any more.
        """
        records: list[PhaseRecord] = []
        try:
            self._save(records, phases, measured, observed, end)
        finally:
            for record in records:
                progress.end(record)
        for record in records:
            if record.measurement.stopped == "hung":
                raise hung(record)
        return tuple(records)

    def _save(
        self,
        records: list[PhaseRecord],
        phases: tuple[Phase, ...],
        measured: tuple[MeasuredPhase, ...],
        observed: Observed,
        end: SteadyEnd | None,
    ) -> None:
        """The records of a group, added to `records` as they are made, go into the run and its folder."""
        unsaved, block = observed.samples, observed.block
        for phase, each in zip(phases, measured, strict=True):
            record = _record(phase, each, Observed(observed.samples, block, observed.blind), end)
            records.append(record)
            self.cut_short |= each.measurement.stopped in ("interrupted", "hung")
            if not _empty(each.measurement):
                number = len(self.run.phases)
                self._add(record, observed.blind)
                self.folder.save_phase(number, phase.name, each.intervals, unsaved)
                unsaved, block = (), None
        if not all(_empty(record.measurement) for record in records):
            self.folder.save(self.run)

    def _add(self, record: PhaseRecord, blind: tuple[Blind, ...]) -> None:
        """Adds a phase to the run, with what is new of what could not be seen or had."""
        self.run = replace(
            self.run,
            phases=(*self.run.phases, record),
            blind=tuple(dict.fromkeys((*self.run.blind, *blind))),
        )
        self.warn(*(f"Engine: {note}" for note in record.measurement.engine.notes))

    def close(self, status: Status, error: IocastError | None, *, keep: bool) -> Performed:
        """Saves the final state; a folder without any measured phase is left behind only with `keep`, or where a device
        was overwritten."""
        self.run = replace(self.run, status=status)
        if not (self.run.measured or keep or self.overwrote):
            self.folder.discard()
            return Performed(self.run, None, error)
        try:
            self.folder.save(self.run)
        except IocastError as why:
            error = error or why
        error = error or self._unkept()
        self.folder.end()  # last: a run that says it is running must say whose it is
        return Performed(self.run, self.folder.path, error)

    def _unkept(self) -> IocastError | None:
        """Results that are only in memory are lost with it: storage that failed meanwhile does not take them."""
        try:
            why = within(_PATIENCE_S, self.folder.unkept)
        except LoadError:  # not one more thread may be started
            why = self.folder.unkept()
        if why == "":
            return None
        why = why or f"storage has not answered for {_PATIENCE_S} s"
        hint = "look at the kernel log (dmesg), and choose another place for results with --out DIR"
        return ArchiveError(f"the results in {self.folder.path} are not kept: {why}", hint)


def _record(phase: Phase, each: MeasuredPhase, observed: Observed, end: SteadyEnd | None) -> PhaseRecord:
    """What a phase did; of one that has settled, since then. Failed I/Os are never left out."""
    did, warm_up_ns = each.measurement, end.warm_up_ns if end is not None else 0
    if end is not None and (did.error_count or did.stopped != "finished"):
        warm_up_ns, end = 0, replace(end, warm_up_ns=0)
    if warm_up_ns:
        did = without_warm_up(did, each.intervals, warm_up_ns)
    return PhaseRecord(
        phase=phase,
        plan=each.plan,
        measurement=did,
        samples=samples_from(observed.samples, did.started_unix_ns) if warm_up_ns else observed.samples,
        series=series(each.intervals, each.plan.interval_ns, did, warm_up_ns),
        steady=end,
        block=None if warm_up_ns else observed.block,  # it has no intervals
    )


def _empty(measurement: Measurement) -> bool:
    """True for a phase that was stopped before anything came back."""
    return measurement.stopped == "interrupted" and not measurement.ios and not measurement.error_count
