"""Oracle's I/O waits by kind: single block, multi block, direct, log; over all instances, with their mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, get_args

from msgspec import Struct

from iocast.analyse.live.database_views import views_of
from iocast.model.codes import WaitKindCode
from iocast.model.live.readings import Readings
from iocast.model.view import View, ratio

WAIT_KINDS: Final[tuple[WaitKindCode, ...]] = get_args(WaitKindCode)

# Exadata has events of its own for what others read from files.
_EVENTS: Final[Mapping[str, WaitKindCode]] = {
    "db file sequential read": "single_block",
    "cell single block physical read": "single_block",
    "log file parallel write": "log_write",
    "db file scattered read": "multi_block",
    "cell multiblock physical read": "multi_block",
    "direct path read": "direct_read",
    "direct path read temp": "direct_read_temp",
    "direct path write temp": "direct_write_temp",
}


class KindWaits(Struct, frozen=True):
    """Waits of one kind per second, and their mean; None is unknown, and no mean is where there was no wait."""

    per_s: float | None
    mean_ns: float | None


def waits_by_kind(readings: Readings) -> dict[WaitKindCode, KindWaits] | None:
    """All kinds; None where nothing of Oracle was seen. Events are found by name, never by position.

    Oracle lists an event once there was one: an event that is not listed had no waits, where others are known.
    """
    views = list(views_of(readings, "oracle", "system_event"))
    if not views:
        return None
    known = any(view.deltas for view in views)
    by_kind: dict[WaitKindCode, list[View]] = {kind: [] for kind in WAIT_KINDS}
    for view in views:
        event, _, _ = view.subject.partition("|")[2].partition(": ")  # the cache that answered stands behind
        kind = _EVENTS.get(event)
        if kind is not None:
            by_kind[kind].append(view)
    return {kind: _together(each) if known else KindWaits(None, None) for kind, each in by_kind.items()}


def _together(views: list[View]) -> KindWaits:
    """The mean of all instances is the sum of times over the sum of waits."""
    waits = [view.delta("total_waits") for view in views]
    spent = [view.delta("time_waited_ns") for view in views]
    if any(each is None for each in waits):
        return KindWaits(None, None)
    rate = sum((view.per_s("total_waits") or 0.0 for view in views), 0.0)
    whole_ns = None if any(each is None for each in spent) else sum(each or 0 for each in spent)
    return KindWaits(rate, ratio(whole_ns, sum(each or 0 for each in waits)))
