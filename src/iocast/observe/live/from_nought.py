"""Counters that their source names only once they have counted something: before that they were 0."""

from __future__ import annotations

from collections.abc import Iterable

from iocast.model.run import Sample


class FromNought:
    """Knows which counters were seen; one that is new gets a sample of 0 at the time of the samples before."""

    def __init__(self, since_ns: int) -> None:
        self._before_ns = since_ns
        self._seen: set[tuple[str, str, str]] = set()

    def completed(self, samples: Iterable[Sample], now_ns: int) -> list[Sample]:
        """The samples of an instant, each that is seen for the first time after its 0.

        What is gone is forgotten, so that processes that come and go take no memory. None at all is a failed read.
        """
        done: list[Sample] = []
        still_there: set[tuple[str, str, str]] = set()
        for sample in samples:
            key = (sample.observer, sample.subject, sample.metric)
            still_there.add(key)
            if key not in self._seen:
                done.append(Sample(self._before_ns, *key, 0.0))
            done.append(sample)
        if still_there:
            self._seen = still_there
        self._before_ns = now_ns
        return done

    def known(self, samples: Iterable[Sample]) -> None:
        """These counted before the watch began: they did not start at 0."""
        self._seen.update((sample.observer, sample.subject, sample.metric) for sample in samples)
