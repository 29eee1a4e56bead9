"""Shares of a maximum: open-loop phases whose rate is a share of what a closed phase before them reached."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from iocast.model.plan import Phase
from iocast.model.run import PhaseRecord
from iocast.model.script import Done, Group, Script, Share
from iocast.model.workload import Constant, Poisson

Known = Mapping[str, PhaseRecord]  # what was measured, by the name of the phase


class ShareOfMaximum(Script):
    """The groups of a plan in order; the phases named in `shares` get their rate when it is known.

    A share is left out where its maximum reached nothing, and where a share before it answered too late.
    """

    def __init__(self, groups: Iterable[tuple[Phase, ...]], shares: Mapping[str, Share]) -> None:
        self._groups, self._shares = tuple(groups), shares

    def next(self, done: Done) -> Group | None:
        """The next group that is not left out, with its rates."""
        waiting = self.ahead(done)
        return Group(waiting[0]) if waiting else None

    def ahead(self, done: Done) -> tuple[tuple[Phase, ...], ...]:
        """All that may follow; rates that are not known yet are left open."""
        known, asked_groups, waiting = dict[str, PhaseRecord](), 0, list[tuple[Phase, ...]]()
        late: set[str] = set()  # maxima of which a share answered too late
        for group in self._groups:
            if any(self._excluded(phase, known, late) for phase in group):
                continue
            if asked_groups < len(done):
                for record in done[asked_groups]:
                    known[record.phase.name] = record
                    late |= self._too_late(record)
                asked_groups += 1
            else:
                waiting.append(tuple(self._paced(phase, known) for phase in group))
        return tuple(waiting)

    def _excluded(self, phase: Phase, known: Known, late: set[str]) -> bool:
        share = self._shares.get(phase.name)
        if share is None:
            return False
        most = known.get(share.of)
        return share.of in late or (most is not None and not most.measurement.ios)

    def _too_late(self, record: PhaseRecord) -> set[str]:
        """The maximum of which this is a share that answered slower than the limit, if it did."""
        share = self._shares.get(record.phase.name)
        if share is None or share.stop_above_ns is None or record.phase.role != "measure":
            return set()
        return {share.of} if record.measurement.response().mean_ns > share.stop_above_ns else set()

    def _paced(self, phase: Phase, known: Known) -> Phase:
        share = self._shares.get(phase.name)
        most = known.get(share.of) if share is not None else None
        if share is None or most is None:
            return phase
        rate_per_s = most.measurement.rate_per_s * share.percent / 100
        arrival = Constant(rate_per_s) if share.even else Poisson(rate_per_s)
        return replace(phase, workload=replace(phase.workload, arrival=arrival))
