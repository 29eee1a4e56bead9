"""Where a screen stands among the moments that it can go back to."""

from __future__ import annotations

from itertools import pairwise

from iocast.model.live.moment import Interval, Moment
from iocast.model.live.newest_moments import NewestMoments

KEPT = 900  # a quarter of an hour at one a second


class History:
    """Where the screen stands in what was seen. It follows the newest interval until it is paused or stepped back."""

    def __init__(self, kept: int = KEPT) -> None:
        self._moments = NewestMoments(kept)
        self._at: int | None = None  # number of the moment that is shown; None: the newest
        self.span = 1  # moments of an interval

    def add(self, moment: Moment) -> None:
        """A new moment; what is shown stays where it is when the screen is paused."""
        self._moments.add(moment)

    @property
    def _newest(self) -> int:
        return self._moments.dropped + len(self._moments) - 1

    @property
    def _oldest(self) -> int:
        return self._moments.dropped + 1  # the first that ends an interval

    @property
    def paused(self) -> bool:
        """True when it does not follow the newest interval."""
        return self._at is not None

    @property
    def behind(self) -> int:
        """How many intervals lie between what is shown and the newest."""
        return 0 if self._at is None else self._newest - max(self._at, min(self._oldest, self._newest))

    def pause(self) -> None:
        """Stops at what is shown, or follows again."""
        self._at = None if self.paused else self._newest

    def follow(self) -> None:
        """To the newest, and on with it."""
        self._at = None

    def step(self, intervals: int) -> None:
        """Back (below 0) or forward; it stays paused at the newest."""
        at = self._newest if self._at is None else self._at
        self._at = max(min(self._oldest, self._newest), min(self._newest, at + intervals))

    def zoom(self, factor: float) -> None:
        """A longer or shorter interval, of one moment at least."""
        self.span = max(1, min(len(self._moments) - 1 or 1, round(self.span * factor)))

    def interval(self) -> Interval | None:
        """What is shown; None before there are two moments."""
        if len(self._moments) < 2:
            return None
        at = self._newest if self._at is None else max(self._at, self._oldest)
        first = max(0, at - self._moments.dropped - self.span)
        return Interval(self._moments[first], self._moments[at - self._moments.dropped])

    def up_to_shown(self, count: int) -> list[Interval]:
        """The last intervals up to the one that is shown, of one moment each, for heat maps."""
        at = (self._newest if self._at is None else max(self._at, self._oldest)) - self._moments.dropped
        first = max(0, at - count)
        return [Interval(before, after) for before, after in pairwise(self._moments.between(first, at + 1))]
