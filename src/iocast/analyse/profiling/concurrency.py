"""How much was under way, whether Little's law holds, and whether new requests waited for old ones to end."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from iocast.model.profiling.characteristics import InFlightFacts
from iocast.model.profiling.profile import Profile

LoopCode = Literal["open", "closed", "unknown"]
LoopReason = Literal[
    "no_latency",  # nothing is known of when requests ended
    "few",
    "constant_depth",  # nearly as many under way all the time
    "sessions_wait",  # no session has two under way, although independent ones would
    "follows_ends",  # most come directly after another one ended
    "light",  # hardly any is under way when another comes: both would look the same
    "independent",
]

FEW = 200  # requests with a latency, below which nothing is said [J]
NEAR_MODE = 0.8  # of the arrivals find the same number under way, or one more or less [J]
BUSY = 0.7  # of the depth is under way on average [J]
OVERLAP = 0.01  # of a session's requests; more is no session that waits [J]
EXPECTED_OVERLAP = 0.05  # that independent requests of a session would have; below, none proves nothing [J]
SOON, FOLLOWING = 0.1, 0.5  # of the mean gap; of all arrivals. Independent ones: 9.5 % within a tenth [J]
LIGHT = 0.1  # under way on average [J]
EDGE = 0.01  # of all latency may lie after the last issue (traces.md 5.3)
EDGE_IOS = 10.0  # or as much as so many times the most under way, in a short trace [J]
SHORT = 0.1  # of the trace, up to which the longest I/O may be the one at its end [J]


class Concurrency(Struct, frozen=True):
    """What was under way; `edge_share` of all latency lies after the last issue, where Little's law does not see it."""

    mean: float
    most: int
    p99: int
    idle_share: float
    edge_share: float
    overlap_share: float | None
    sessions: int
    events: int
    longest_share: float  # of all latency, that of the longest I/O; 0 where that is long for the trace

    @property
    def little_holds(self) -> bool:
        """Rate x mean latency is the mean number under way: units are right, and the ends are in the trace."""
        return self.edge_share <= max(EDGE, EDGE_IOS * self.most / self.events, self.most * self.longest_share)


class Loop(Struct, frozen=True):
    """Open or closed, why, and what a generator needs: how many at once, and how long each waits before its next."""

    code: LoopCode
    reason: LoopReason
    depth: int | None = None
    think_ns: float | None = None


def concurrency(profile: Profile) -> Concurrency | None:
    """What was under way; None where less than half have a latency, or all came at one time."""
    flight = profile.order.in_flight
    total = sum(flight.time_at_ns) if flight else 0
    if flight is None or not total or 2 * flight.events < profile.timed:
        return None
    return Concurrency(
        mean=sum(level * held for level, held in enumerate(flight.time_at_ns)) / total,
        most=flight.most,
        p99=_at_share(flight.time_at_ns, 0.99),
        idle_share=flight.time_at_ns[0] / total,
        edge_share=flight.after_end_ns / flight.latency_sum_ns if flight.latency_sum_ns else 0.0,
        overlap_share=flight.overlapping / flight.following if flight.following else None,
        sessions=flight.sessions,
        events=flight.events,
        longest_share=_longest(profile) / flight.latency_sum_ns if flight.latency_sum_ns else 0.0,
    )


def _longest(profile: Profile) -> float:
    """The longest latency; 0 where it is long for the trace, as in a wrong unit."""
    longest = max((cell.latency.max_ns for cell in profile.order.by_size if cell.latency.total), default=0)
    return longest if longest <= SHORT * profile.length_ns else 0


def loop_of(profile: Profile) -> Loop:
    """Whether the load was open or closed."""
    flight, under_way = profile.order.in_flight, concurrency(profile)
    if flight is None:
        return Loop("unknown", "no_latency")
    if under_way is None or flight.events < FEW:
        return Loop("unknown", "few")
    by_arrivals = flight.found_by_arrivals
    mode = max(range(len(by_arrivals)), key=by_arrivals.__getitem__)
    near = sum(by_arrivals[max(0, mode - 1) : mode + 2]) / sum(by_arrivals)
    if near >= NEAR_MODE and under_way.mean >= BUSY * (mode + 1) and mode + 1 >= BUSY * under_way.p99:
        return Loop("closed", "constant_depth", mode + 1, _pause(flight, mode + 1))
    return _by_waiting(flight, under_way)


def _by_waiting(flight: InFlightFacts, under_way: Concurrency) -> Loop:
    named = flight.following >= flight.events / 2
    expected = under_way.mean / max(1, flight.sessions)
    if named and under_way.overlap_share is not None and under_way.overlap_share <= OVERLAP:
        if expected >= EXPECTED_OVERLAP:
            return Loop("closed", "sessions_wait", flight.sessions, _think(flight))
    elif under_way.mean >= LIGHT:
        gap_ns = sum(flight.time_at_ns) / flight.events
        if flight.since_end.total and flight.since_end.share_up_to(round(SOON * gap_ns)) >= FOLLOWING:
            return Loop("closed", "follows_ends", under_way.p99, None)
    if under_way.mean < LIGHT or (named and expected < EXPECTED_OVERLAP):
        return Loop("unknown", "light")
    return Loop("open", "independent")


def _pause(flight: InFlightFacts, depth: int) -> float:
    """Between I/Os, for so many users to have the rate of the trace: depth = rate x (latency + pause).

    The pauses of the sessions would be too long where the sessions of a trace take turns.
    """
    return max(0.0, (depth * sum(flight.time_at_ns) - flight.latency_sum_ns + flight.after_end_ns) / flight.events)


def _think(flight: InFlightFacts) -> float | None:
    return flight.think.mean_ns if flight.think.total else None


def _at_share(times: tuple[int, ...], share: float) -> int:
    wanted, passed = share * sum(times), 0
    for level, held in enumerate(times):
        passed += held
        if passed >= wanted:
            return level
    return len(times) - 1
