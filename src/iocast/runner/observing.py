"""Observing: a sample of every counter each second while a group of phases runs, and what was seen in the end."""

from __future__ import annotations

from collections.abc import Callable

from iocast.model.run import Sample
from iocast.observe import Observed, Watch

SAMPLE_EVERY_NS = 1_000_000_000


class Observing:
    """The samples of one group; `watch` has been entered. `before` is called before each sample but the last."""

    def __init__(self, watch: Watch, before: Callable[[], None] | None = None) -> None:
        self._watch, self._before = watch, before
        self._samples: list[Sample] = []
        # The first is taken at the tick before the start: what engines try on the target comes before it.
        self._due_ns = 0

    def tick(self, elapsed_ns: int) -> None:
        """Takes a sample when it is time to."""
        if elapsed_ns >= self._due_ns:
            self._due_ns += SAMPLE_EVERY_NS
            if self._before is not None:
                self._before()
            self._samples.extend(self._watch.sample())

    def end(self) -> Observed:
        """Takes the last sample; everything that was seen."""
        block = self._watch.block_times()
        self._samples += self._watch.sample()
        return Observed(tuple(self._samples), block, self._watch.blind)
