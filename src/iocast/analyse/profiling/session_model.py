"""A trace of system calls as sessions that go from step to step: what each does next, where, and after which pause.

Sessions are the processes and threads of a trace. Those that do the same make one role; a log that several of them
write in turn, never two at a time, is a session of its own. A step is an operation on one file with one size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from msgspec import Struct

from iocast.analyse.profiling import step_queries
from iocast.analyse.profiling.event_queries import EventTable
from iocast.analyse.profiling.load_model import fitted_skew, population
from iocast.analyse.profiling.step_queries import StepFacts
from iocast.model.profiling.profile import Footprint
from iocast.model.profiling.step_chain import law_mean_ns
from iocast.model.service_laws import ConstantLaw, QuantilePoint, ServiceLaw, TableLaw
from iocast.model.workload import Append, Hotspot, Locality, Op, SizeWeight, Step, Uniform, Zipf

OPS: tuple[Op, ...] = ("read", "write", "fsync", "fdatasync", "trim")
FOLLOWS = 0.6  # of a step's I/Os that go on where the last one ended, or write its last block again [J]
WAITS = 0.5  # of their time with an I/O under way, from which sessions are a closed loop [J]
FIXED = 4  # times the size of its I/Os, within which a step has a place of its own [J]
BEYOND = 3  # pauses that are longer than a quantile that is told
POINTS = 24  # of a table of pauses
NEAR = 0.02  # of a quantile, within which the line between two others says it [J]
FEW = 20  # pauses, below which their mean stands for all
WHOLE = 1 << 20
ROOM = 1.25  # times what a trace appended: two runs of a log differ
LARGEST_LOG = 1 << 30


class Role(Struct, frozen=True):
    """Sessions that do the same."""

    steps: tuple[Step, ...]
    users: int
    between: bool  # pauses count from one beginning to the next: the rate holds


class SessionModel(Struct, frozen=True):
    """The roles, which run together; `files` of `file_bytes` hold their places."""

    roles: tuple[Role, ...]
    files: int
    file_bytes: int
    excluded: int  # I/Os of steps that are too rare


class Ground(Struct):
    """Where the I/Os of one family of files go on the line of all files: `begin` stands for `first` of the trace."""

    file: int
    begin: int
    first: int
    size_bytes: int
    locality: Locality


def session_model(events: str, room: Path, block_bytes: int) -> SessionModel | None:
    """The sessions of a table of events; None where too few I/Os name their session and have a time and a latency."""
    with EventTable(events, room) as table:
        if not step_queries.prepare(table):
            return None
        roles = step_queries.roles_of(table)
        if not roles:
            return None
        step_queries.number_steps(table, roles)
        busy = step_queries.busy_roles(table, roles)
        waits = [share >= WAITS and min(role.sessions) >= 0 for share, role in zip(busy, roles, strict=True)]
        facts = [each for each in step_queries.step_facts(table, between=False) if waits[each.role]]
        facts += [each for each in step_queries.step_facts(table, between=True) if not waits[each.role]]
        spent = step_queries.skews(table, block_bytes, _scattered(facts))
        excluded = step_queries.excluded(table)
    grounds = _grounds(facts, spent)
    files = 1 + max(ground.file for ground in grounds.values())
    size = max(sum(g.size_bytes for g in grounds.values() if g.file == file) for file in range(files))
    session_steps = []
    for number, role in enumerate(roles):
        own = [each for each in facts if each.role == number]
        if own:
            steps = tuple(_step(each, own, grounds, size) for each in own)
            session_steps.append(Role(steps, role.users, not waits[number]))
    return SessionModel(tuple(session_steps), files, size, excluded)


def _appends(each: StepFacts) -> bool:
    return each.op < 2 and not _fixed(each) and each.follows + each.again >= FOLLOWS * each.events


def _rewrites(each: StepFacts) -> bool:
    return each.op == 1 and not _fixed(each) and not _appends(each) and each.back >= FOLLOWS * each.events


def _fixed(each: StepFacts) -> bool:
    near = each.end - each.first <= FIXED * each.largest and each.events >= FEW * FIXED
    return each.op < 2 and near and each.follows < FOLLOWS * each.events


def _scattered(facts: Sequence[StepFacts]) -> list[int]:
    """The steps whose places are drawn from all of their family."""
    return [each.number for each in facts if each.op < 2 and not (_appends(each) or _fixed(each) or _rewrites(each))]


def _grounds(facts: Sequence[StepFacts], spent: dict[int, Footprint]) -> dict[int, Ground]:
    """A place for each family of files: logs, which are appended to and synced, in a second file, others in one."""
    families = sorted({each.family for each in facts})
    synced = {each.family for each in facts if each.op in (2, 3)}
    logs = {each.family for each in facts if each.op == 1 and _appends(each)} & synced
    ends = [0, 0]
    grounds = {}
    for family in families:
        placed = [each for each in facts if each.family == family and each.op < 2]
        if not placed:
            placed_first, size = 0, WHOLE
        else:
            placed_first = min(each.first for each in placed)
            size = _extent(placed, placed_first, spent.get(family))
        file = 1 if family in logs and len(logs) < len(families) else 0
        grounds[family] = Ground(file, ends[file], placed_first, size, _locality(spent.get(family)))
        ends[file] += size
    return grounds


def _extent(placed: Sequence[StepFacts], first: int, spent: Footprint | None) -> int:
    span = max(each.end for each in placed) - first
    appended = sum(each.bytes * each.follows / each.events for each in placed if _appends(each))
    size = float(span)
    if spent is not None:
        near = max((each.end - first for each in placed if _appends(each) or _fixed(each)), default=0)
        size = max(min(size, population(spent) * spent.block_bytes), near)
    elif max(each.targets for each in placed) > 1:  # the segments of a log
        size = min(LARGEST_LOG, max(span, ROOM * appended))
    largest = max(each.largest for each in placed)
    return math.ceil(max(size, 16 * largest) / WHOLE) * WHOLE


def _locality(spent: Footprint | None) -> Locality:
    skew = fitted_skew(spent)
    if skew.pattern == "zipf":
        return Zipf(min(5.0, skew.theta or 0.99))
    if skew.pattern == "hotspot" and skew.space_percent and skew.access_percent:
        return Hotspot(min(99.9, skew.space_percent), min(100.0, skew.access_percent))
    return Uniform()


def _step(each: StepFacts, own: Sequence[StepFacts], grounds: dict[int, Ground], file_bytes: int) -> Step:
    ground = grounds[each.family]
    begin, size, locality = ground.begin, ground.size_bytes, ground.locality
    number = {facts.number: at for at, facts in enumerate(own)}
    same = [at for at, facts in enumerate(own) if (facts.family, facts.op) == (each.family, each.op)]
    if _appends(each):
        percent = round(100 * each.again / (each.follows + each.again), 2)
        locality = Append(each.again_bytes if percent else 0, percent)
        inside = [facts for facts in own if facts.family == each.family and facts.op == each.op]
        reach = max(facts.end for facts in inside) - ground.first
        size = min(size, reach) if each.targets == 1 else size
    elif _rewrites(each) and any((facts.family, facts.op) == (each.family, 0) for facts in own):
        locality = Append(each.largest, 100.0)
        same = [at for at, facts in enumerate(own) if (facts.family, facts.op) == (each.family, 0)]
    elif _fixed(each):
        begin, size, locality = begin + each.first - ground.first, each.end - each.first, Uniform()
    following = [0.0] * len(own)
    for to, times in each.next.items():
        if to in number:
            following[number[to]] += times
    if not any(following):
        following[0] = 1.0
    return Step(
        op=OPS[each.op],
        sizes=tuple(SizeWeight(size_bytes, weight) for size_bytes, weight in each.sizes) if each.op < 2 else (),
        start_bytes=ground.file * file_bytes + begin,
        size_bytes=max(size, each.largest),
        locality=locality if each.op < 2 else Uniform(),
        joins=same[0],
        pause=_pause(each),
        next=tuple(following),
    )


def _pause(each: StepFacts) -> ServiceLaw:
    """The quantiles of the pauses after a step; their longest is such that the mean is that of the trace."""
    if each.pauses < FEW or not each.quantiles:
        return ConstantLaw(max(0, _brief(each.pause_mean_ns)))
    most = 100 * (1 - BEYOND / each.pauses)
    known = [
        (percent, max(1.0, ns))
        for percent, ns in zip(step_queries.PERCENTS, each.quantiles, strict=True)
        if percent <= most or percent == 100
    ]
    points: list[QuantilePoint] = []
    for percent, ns in _known_points(known):
        points.append(QuantilePoint(percent, max(_brief(ns), points[-1].ns if points else 1)))
    if len(points) > 1:
        last, before = points[-1], points[-2]
        short = each.pause_mean_ns - law_mean_ns(TableLaw(tuple(points)))
        longest = last.ns + round(short * 200 / (last.percent - before.percent))
        points[-1] = QuantilePoint(100.0, max(before.ns, _brief(longest)))
    return TableLaw(tuple(points))


def _known_points(known: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Quantiles between which the others lie nearly straight: the first, the last, and where the error is largest."""
    kept = [0, len(known) - 1]
    while len(kept) < min(POINTS, len(known)):
        worst, at = max(_farthest(known, low, high) for low, high in pairwise(kept))
        if worst < NEAR:
            break
        kept = sorted({*kept, at})
    return [known[at] for at in kept]


def _farthest(known: Sequence[tuple[float, float]], low: int, high: int) -> tuple[float, int]:
    """How far, as a ratio, the quantile lies from the straight line between two others that is farthest from it."""
    (from_percent, from_ns), (to_percent, to_ns) = known[low], known[high]
    slope = (to_ns - from_ns) / (to_percent - from_percent)
    inside = range(low + 1, high)
    errors = ((abs(math.log((from_ns + slope * (known[at][0] - from_percent)) / known[at][1])), at) for at in inside)
    return max(errors, default=(0.0, low))


def _brief(time_ns: float) -> int:
    """Three digits of a time."""
    return round(float(f"{time_ns:.3g}"))
