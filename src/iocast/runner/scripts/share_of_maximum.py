"""Shares of a maximum: open-loop phases whose rate is a share of what a closed phase before them reached."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from iocast.model.plan import Phase
from iocast.model.run import PhaseRecord
from iocast.model.script import Done, Group, Script, Share
from iocast.model.workload import Constant, Poisson


class ShareOfMaximum(Script):
    """The groups of a plan in order; the phases named in `shares` get their rate when it is known.

    A share is left out where its maximum reached nothing, and where a share before it answered too late.
    """

    def __init__(self, groups: Iterable[tuple[Phase, ...]], shares: Mapping[str, Share]) -> None:
        self._groups, self._shares = tuple(groups), shares

    def next(self, done: Done) -> Group | None:
        """The next group that is not left out, with its rates."""
        waiting = self._waiting(done)
        return Group(self._paced(waiting[0], done)) if waiting else None

    def ahead(self, done: Done) -> tuple[tuple[Phase, ...], ...]:
        """All that may follow; rates that are not known yet are left open."""
        return tuple(self._paced(group, done) for group in self._waiting(done))

    def _waiting(self, done: Done) -> list[tuple[Phase, ...]]:
        """The groups to come, without those that are left out."""
        seen, waiting = 0, list[tuple[Phase, ...]]()
        for group in self._groups:
            if self._left_out(group, done[:seen]):
                continue
            if seen < len(done):
                seen += 1
            else:
                waiting.append(group)
        return waiting

    def _left_out(self, group: tuple[Phase, ...], done: Done) -> bool:
        shares = [self._shares[phase.name] for phase in group if phase.name in self._shares]
        return any(self._pointless(share, done) for share in shares)

    def _pointless(self, share: Share, done: Done) -> bool:
        most = _found(share.of, done)
        if most is not None and not most.measurement.ios:
            return True
        others = (_found(name, done) for name, other in self._shares.items() if other.of == share.of)
        return share.stop_above_ns is not None and any(
            other is not None
            and other.phase.role == "measure"
            and other.measurement.response().mean_ns > share.stop_above_ns
            for other in others
        )

    def _paced(self, group: tuple[Phase, ...], done: Done) -> tuple[Phase, ...]:
        return tuple(self._with_rate(phase, done) for phase in group)

    def _with_rate(self, phase: Phase, done: Done) -> Phase:
        share = self._shares.get(phase.name)
        most = _found(share.of, done) if share is not None else None
        if share is None or most is None:
            return phase
        rate_per_s = most.measurement.rate_per_s * share.percent / 100
        arrival = Constant(rate_per_s) if share.even else Poisson(rate_per_s)
        return replace(phase, workload=replace(phase.workload, arrival=arrival))


def _found(name: str, done: Done) -> PhaseRecord | None:
    return next((record for records in done for record in records if record.phase.name == name), None)
