"""NewestMoments: what a live screen can go back to, in bounded memory."""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import Final

from iocast.metrics import OF_SINGLE_ONES
from iocast.model.live.moment import Moment

MOST_SAMPLES: Final = 1_000_000  # of all moments: 110 MB


class NewestMoments:
    """The newest `most` moments. With too many samples, the older ones lose those of single processes and files, which
    are nearly all on a busy machine; if that is not enough, the oldest moments go.
    """

    def __init__(self, most: int, most_samples: int = MOST_SAMPLES) -> None:
        self._moments: deque[Moment] = deque()
        self._most, self._most_samples = most, most_samples
        self._samples = 0
        self._thinned = 0  # of the oldest
        self.dropped = 0  # before the first one

    def __len__(self) -> int:
        return len(self._moments)

    def __getitem__(self, at: int) -> Moment:
        return self._moments[at]

    def between(self, first: int, end: int) -> list[Moment]:
        """Those from one number on, and before another; the oldest that is kept has number 0."""
        return list(islice(self._moments, first, end))

    def add(self, moment: Moment) -> None:
        """The newest."""
        self._moments.append(moment)
        self._samples += len(moment.samples)
        while len(self._moments) > self._most:
            self._drop()
        while self._samples > self._most_samples and len(self._moments) > 2:  # an interval is always left
            if self._thinned < len(self._moments) - 2:
                self._thin()
            else:
                self._drop()

    def _drop(self) -> None:
        self._samples -= len(self._moments.popleft().samples)
        self._thinned = max(0, self._thinned - 1)
        self.dropped += 1

    def _thin(self) -> None:
        whole = self._moments[self._thinned]
        thin = Moment(whole.time_ns, tuple(each for each in whole.samples if each.observer not in OF_SINGLE_ONES))
        self._samples -= len(whole.samples) - len(thin.samples)
        self._moments[self._thinned] = thin
        self._thinned += 1
