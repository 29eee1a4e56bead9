"""The samples of one view from look to look: when it began to count, and what began again in between."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from iocast.metrics import EPOCH
from iocast.model.run import Sample

# How far an epoch moves when something else than the server ended it: values are doubles, which keep 256 ns of a date.
_BUMP_NS: Final = 1_000_000


class Followed:
    """Follows one view. Gives its samples the epoch by which a reset is told from a small number of events."""

    def __init__(self, observer: str, *, since_entered: bool = False) -> None:
        self._observer = observer
        self._since_entered = since_entered
        self._bumps = 0
        self._circumstances: object = None
        self._last: dict[str, dict[str, float]] | None = None
        self._base: dict[str, dict[str, float]] = {}
        self._again: dict[str, int] = {}  # subjects that began again, and when it was noticed

    def tick(
        self, at_ns: int, samples: list[Sample], epoch_ns: int, own_epochs: dict[str, int], circumstances: object = None
    ) -> list[Sample]:
        """What is told of one look.

        `circumstances` is whatever must be the same for two looks to be compared, such as which times are taken.
        """
        if self._last is not None and circumstances != self._circumstances:
            self._bumps += 1
        self._circumstances = circumstances
        now: dict[str, dict[str, float]] = defaultdict(dict)
        for each in samples:
            now[each.subject][each.metric] = each.value
        self._note_what_began_again(at_ns, now)
        told = self._since(now) if self._since_entered else dict(now)
        self._last = now
        out = [Sample(at_ns, self._observer, "", EPOCH, epoch_ns + self._bumps * _BUMP_NS + 0.0)]
        for subject, counters in told.items():
            own = max(own_epochs.get(subject, 0), self._again.get(subject, 0))
            if own:
                out.append(Sample(at_ns, self._observer, subject, EPOCH, own + 0.0))
            out += [Sample(at_ns, self._observer, subject, metric, value) for metric, value in counters.items()]
        return out

    def _note_what_began_again(self, at_ns: int, now: dict[str, dict[str, float]]) -> None:
        """A smaller counter: the row was cleared, or evicted and made anew."""
        for subject, counters in now.items():
            before = (self._last or {}).get(subject, {})
            if any(counters.get(metric, value) < value for metric, value in before.items()) and self._since_entered:
                self._again[subject] = at_ns
                self._base[subject] = {}

    def _since(self, now: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
        """Counters since the first look, of the subjects that moved since."""
        if self._last is None:
            self._base = {subject: dict(counters) for subject, counters in now.items()}
        for gone in self._base.keys() - now.keys():
            del self._base[gone]  # it starts from nought when it comes again
            self._again.pop(gone, None)
        told = {}
        for subject, counters in now.items():
            base = self._base.setdefault(subject, {})
            moved = {metric: value - base.get(metric, 0.0) for metric, value in counters.items()}
            if any(moved.values()) or subject in self._again:
                told[subject] = moved
        return told
