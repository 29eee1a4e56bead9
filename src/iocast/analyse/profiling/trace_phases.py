"""The phases of a trace: stretches in which the rate stays about the same."""

from __future__ import annotations

from itertools import pairwise

from msgspec import Struct

from iocast.analyse.changepoint import change_points
from iocast.model.profiling.characteristics import Moment
from iocast.model.profiling.profile import Profile

FEWEST, MOST = 20, 12  # stretches that are looked at; phases that are told
EVENTS = 20  # of a stretch on average, below which its rate is chance [J]


class TracePhase(Struct, frozen=True):
    """A stretch, from the first event on; a figure without requests is None."""

    start_ns: int
    end_ns: int
    events: int
    rate_per_s: float
    read_share: float | None
    bytes_per_s: float
    latency_mean_ns: float | None


def trace_phases(profile: Profile) -> tuple[TracePhase, ...]:
    """The phases; one where nothing changed, none where the trace is too short to say."""
    moments, width = profile.order.moments, profile.order.moment_ns
    if not profile.length_ns or profile.timed < FEWEST * EVENTS:
        return ()
    # As fine as chance allows, and no stretch without an event: change points are of rates above 0.
    together = max(1, -(-len(moments) * EVENTS // profile.timed))
    while together * FEWEST <= len(moments):
        levels = [float(sum(each.events for each in part)) for part in _parts(moments, together)]
        if min(levels[:-1]) > 0:
            break
        together *= 2
    else:
        return (_phase(moments, 0, len(moments), width),)
    changes = change_points([level or 1.0 for level in levels])
    reported = sorted(changes.reported, key=lambda change: -abs(change.shift))[: MOST - 1] if changes else []
    cuts = [0, *sorted(change.at * together for change in reported), len(moments)]
    return tuple(_phase(moments, start, end, width) for start, end in pairwise(cuts))


def _parts(moments: tuple[Moment, ...], together: int) -> list[tuple[Moment, ...]]:
    return [moments[at : at + together] for at in range(0, len(moments), together)]


def _phase(moments: tuple[Moment, ...], start: int, end: int, width: int) -> TracePhase:
    part = moments[start:end]
    seconds = (end - start) * width / 1e9
    events, timed = sum(each.events for each in part), sum(each.timed for each in part)
    reads, writes = sum(each.reads for each in part), sum(each.writes for each in part)
    return TracePhase(
        start_ns=start * width,
        end_ns=end * width,
        events=events,
        rate_per_s=events / seconds,
        read_share=reads / (reads + writes) if reads + writes else None,
        bytes_per_s=sum(each.read_bytes + each.write_bytes for each in part) / seconds,
        latency_mean_ns=sum(each.latency_sum_ns for each in part) / timed if timed else None,
    )
