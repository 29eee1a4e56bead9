"""How far the layers were seen: the share of the time that was traced, records lost, what reading them took."""

from __future__ import annotations

from msgspec import Struct

from iocast import metrics
from iocast.model.view import View


class Traced(Struct, frozen=True):
    """Of an interval, a row or a tape. `reader_share` is of one processor; None: unknown."""

    share: float
    lost_events: int
    reader_share: float | None

    @property
    def whole(self) -> bool:
        """True where all of the time was traced and nothing was lost."""
        return self.share >= _WHOLE and not self.lost_events


_WHOLE = 0.98  # the moments of two samples of one instant differ a little


def traced(view: View | None) -> Traced | None:
    """From the view of `kernel_layers`; None where no layers were watched."""
    if view is None or not view.elapsed_ns:
        return None
    watched_ns, reader_ns = view.delta(metrics.TRACED_NS), view.delta(metrics.READER_CPU_NS)
    return Traced(
        share=1.0 if watched_ns is None else min(1.0, watched_ns / view.elapsed_ns),
        lost_events=view.delta(metrics.LOST_EVENTS) or 0,
        reader_share=None if reader_ns is None else reader_ns / view.elapsed_ns,
    )
