"""What a chart of a trend is made of: one figure of all runs."""

from __future__ import annotations

from msgspec import Struct

from iocast.analyse.history.target_history import RunPoint, Series


class FollowedFigure(Struct, frozen=True):
    """The runs, the oldest first, and one of their figures; `key` names it among the others."""

    runs: tuple[RunPoint, ...]
    series: Series
    key: str
