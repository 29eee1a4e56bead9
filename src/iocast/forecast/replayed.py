"""What open-loop rows measured of the service level itself: where it was kept, where it was broken, whatever was
forecast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from iocast.forecast.open_rows import MeasuredFigure, OpenRow

Held = Literal["kept", "broken", "unsure"]
SAME_RATE = 0.02  # rates nearer to each other are the same [J]


class Replayed(Struct, frozen=True):
    """The rows that say something of the service level, by rate, and whether one of them contradicts the forecast."""

    rows: tuple[tuple[OpenRow, Held], ...]
    contradicts: bool

    @property
    def broken(self) -> OpenRow | None:
        """The row of the least rate at which the service level was surely broken."""
        return next((row for row, held in self.rows if held == "broken"), None)

    @property
    def kept(self) -> OpenRow | None:
        """The row of the highest rate at which it was surely kept, below any at which it was not."""
        sure = [row for row, held in self.rows if held == "kept" and not self._broken_below(row)]
        return sure[-1] if sure else None

    def at(self, peak_per_s: float) -> tuple[OpenRow, Held] | None:
        """What decides at a rate: a row of no more load that broke it, one of no less that kept it, or that rate."""
        broken, kept = self.broken, self.kept
        if broken is not None and broken.rate_per_s <= (1 + SAME_RATE) * peak_per_s:
            return broken, "broken"
        if kept is not None and kept.rate_per_s >= (1 - SAME_RATE) * peak_per_s:
            return kept, "kept"
        near = [pair for pair in self.rows if abs(pair[0].rate_per_s / peak_per_s - 1) <= SAME_RATE]
        return near[0] if near else None

    def _broken_below(self, row: OpenRow) -> bool:
        return self.broken is not None and self.broken.rate_per_s <= row.rate_per_s


def replayed(rows: Sequence[OpenRow], q: float | None, limit_s: float) -> Replayed:
    """What rows in order of their rates say of a limit on a percentile, or on the mean (`q` None)."""
    held_rows = [(row, held) for row in rows if (held := _held(row, q, limit_s)) is not None]
    return Replayed(tuple(held_rows), any(_contradicts(row, q) for row in rows))


def figure_of(row: OpenRow, q: float | None) -> MeasuredFigure | None:
    """What a row measured of a percentile; None where it did too few I/Os."""
    return next((each for each in row.measured if each.q == q and each.enough), None)


def _held(row: OpenRow, q: float | None, limit_s: float) -> Held | None:
    if row.fell_behind:
        return "broken"
    has = figure_of(row, q)
    if has is None or not row.kept_up:
        return None
    if has.low_s is not None and has.low_s > limit_s:
        return "broken"
    return "kept" if has.high_s is not None and has.high_s <= limit_s else "unsure"


def _contradicts(row: OpenRow, q: float | None) -> bool:
    """A figure outside of its interval, or a rate that was foretold and that the storage could not do."""
    if row.fell_behind:
        return bool(row.figures)
    return row.kept_up and any(has.q == q for has, _ in row.outside())
