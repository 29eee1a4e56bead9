"""A profile as a few numbers that a generator can make: sequential streams first, then sizes, places and arrivals.

What is not in it (bursts, reuse beyond a skew, several targets) is named, so that nobody takes it for the trace.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

from msgspec import Struct

from iocast.analyse.profiling.concurrency import concurrency, loop_of
from iocast.analyse.profiling.scans import scans
from iocast.analyse.profiling.use_shares import TOLD, SharePoint, share_curve, share_of_busiest, thinned
from iocast.errors import AnalysisError
from iocast.model.profiling.characteristics import READ, WRITE
from iocast.model.profiling.profile import Footprint, Profile

Op = Literal["read", "write"]
Missing = Literal["bursts", "reuse", "targets", "loop", "pauses", "places", "flushes_by_size", "sizes"]
NAMES: tuple[Op, Op] = ("read", "write")
SEQUENTIAL = 0.8  # of an operation's requests, from which all of it is one stream [J]
SIZES = 16  # of a mix that are kept; the rest goes to the nearest of them
SCANS = 3  # streams beside the random part
SYNC = 0.5  # of the writes, from which they are made durable each [J]
BURSTY = 2.0  # dispersion over a second, from which random arrivals are no likeness [J]
ONCE = 1.5  # references a block, below which nothing can be said of a skew [J]
LEAST_THETA, MOST_THETA = 0.05, 3.0
ALIKE = 0.02  # that a skew must explain better than none [J]
SECTOR = 512
DIRECT = 2  # the bit of the flag
PAUSING = 0.5  # I/Os of a session under way, below which it mostly pauses [J]
VARIED = 0.2  # of the pauses at most half as long as their mean: 39% of exponential ones, none of equal ones [J]


class Item(Struct, frozen=True):
    """One operation and size with its weight."""

    op: Op
    size_bytes: int
    weight: float


class Part(Struct, frozen=True, kw_only=True):
    """Requests that one generator makes. Without `rate_per_s` it is a closed loop of `users` that pause `think_ns`."""

    name: str
    items: tuple[Item, ...]
    pattern: Literal["random", "zipf", "hotspot", "sequential"]
    region_bytes: int
    theta: float | None = None
    space_percent: float | None = None
    access_percent: float | None = None
    rate_per_s: float | None = None
    users: int = 1
    think_ns: int = 0
    durable: bool = False  # each write waits until it is
    flush_every: float = 0.0  # writes before a flush, on average


class LoadModel(Struct, frozen=True):
    """The parts, which run together for `seconds`, and what they leave out."""

    parts: tuple[Part, ...]
    seconds: float
    missing: tuple[Missing, ...]


class Skew(Struct, frozen=True):
    """How references fall on blocks."""

    pattern: Literal["random", "zipf", "hotspot"]
    theta: float | None = None
    space_percent: float | None = None
    access_percent: float | None = None


# The blocks that requests of these operations and sizes (in units of the last number) use, while they can be asked for.
AskBlocks = Callable[[Sequence[tuple[int, int]], int], Footprint | None]


def load_model(profile: Profile, ask: AskBlocks | None = None) -> LoadModel:
    """The model of a profile. Raises AnalysisError where too little is known to make a load of it.

    `ask` tells the blocks of the random part; without it, the skew is that of all requests.
    """
    counts = {op: _counts(profile, op) for op in (READ, WRITE)}
    if not profile.events:
        raise AnalysisError(f"{profile.name} has no I/O", "a load is made of a trace with I/O")
    if not any(counts.values()):
        raise AnalysisError(f"{profile.name} has no read or write of a known size", "profile it with --block-size SIZE")
    if not profile.length_ns:
        raise AnalysisError(f"{profile.name} has no times", "a load needs rates; profile a trace with times")
    loop = loop_of(profile)
    parts: list[Part] = []
    for op in (READ, WRITE):
        parts += _streams(profile, op, counts[op])
    rest = [Item(NAMES[op], size, n) for op, sizes in counts.items() for size, n in sorted(sizes.items()) if n > 0]
    if rest:
        seconds = profile.length_ns / 1e9
        closed = loop.code == "closed" and loop.depth is not None and not pauses_vary(profile)
        blocks = (
            ask([(NAMES.index(item.op), item.size_bytes) for item in rest], unit_of(profile))
            if ask
            else profile.footprint
        )
        skew = fitted_skew(blocks)
        durable, flush_every = _durable(profile, rest)
        parts.append(
            Part(
                name="random",
                items=_fewer(rest),
                pattern=skew.pattern,
                theta=skew.theta,
                space_percent=skew.space_percent,
                access_percent=skew.access_percent,
                region_bytes=_region(profile, blocks),
                rate_per_s=None if closed else sum(item.weight for item in rest) / seconds,
                users=loop.depth or 1 if closed else 1,
                think_ns=round(loop.think_ns or 0) if closed else 0,
                durable=durable,
                flush_every=flush_every,
            )
        )
    return LoadModel(tuple(parts), profile.length_ns / 1e9, tuple(_missing(profile, loop.code)))


def direct_of(profile: Profile) -> bool:
    """Direct, unless most system calls of the trace went through the page cache."""
    if profile.layers != ("syscall",):
        return True
    moved = [each for each in profile.flags if each.op < 2]
    return 2 * sum(each.events for each in moved if each.flags & DIRECT) >= sum(each.events for each in moved)


def unit_of(profile: Profile) -> int:
    """What sizes are multiples of: direct I/O takes whole sectors only."""
    return SECTOR if direct_of(profile) else 1


def pauses_vary(profile: Profile) -> bool:
    """Whether sessions that mostly pause do so for times that differ: nearer to random arrivals than to one pause."""
    flight, under_way = profile.order.in_flight, concurrency(profile)
    if flight is None or under_way is None or not flight.think.total:
        return False
    mostly = under_way.mean < PAUSING * max(1, under_way.sessions)
    return mostly and flight.think.share_up_to(round(flight.think.mean_ns / 2)) >= VARIED


def _counts(profile: Profile, op: int) -> dict[int, float]:
    """Requests by size, in whole units."""
    counts: dict[int, float] = {}
    unit = unit_of(profile)
    for each in profile.sizes:
        if each.op == op and each.size:
            size = -(-each.size // unit) * unit
            counts[size] = counts.get(size, 0.0) + each.events
    return counts


def _streams(profile: Profile, op: int, counts: dict[int, float]) -> list[Part]:
    """The sequential parts of an operation; what they take leaves `counts`."""
    streams = profile.order.streams.of(op)
    if streams is None or not counts:
        return []
    seconds = profile.length_ns / 1e9
    if streams.sequential_requests >= SEQUENTIAL * streams.requests:
        items = [Item(NAMES[op], size, n) for size, n in sorted(counts.items())]
        region = max(size * n for size, n in counts.items())
        total = sum(counts.values())
        counts.clear()
        return [_stream(profile, op, f"{NAMES[op]}s", items, total / seconds, region)]
    parts = []
    for at, scan in enumerate([each for each in scans(profile) if each.op == op][:SCANS], 1):
        size = min(counts, key=lambda size: abs(math.log(size / scan.request_bytes)))
        taken = min(counts[size], scan.total_bytes / scan.request_bytes)
        if taken < 1:
            continue
        counts[size] -= taken
        item = Item(NAMES[op], size, 1.0)
        parts.append(_stream(profile, op, f"scan-{NAMES[op]}-{at}", [item], taken / seconds, scan.bytes))
    return parts


def _stream(profile: Profile, op: int, name: str, items: Sequence[Item], rate_per_s: float, region: float) -> Part:
    durable, flush_every = _durable(profile, items) if op == WRITE else (False, 0)
    return Part(
        name=name,
        items=_fewer(items),
        pattern="sequential",
        region_bytes=_whole(region),
        rate_per_s=rate_per_s,
        durable=durable,
        flush_every=flush_every,
    )


def _fewer(items: Sequence[Item]) -> tuple[Item, ...]:
    """The heaviest items, each other one added to the nearest size of its operation."""
    kept = sorted(items, key=lambda item: -item.weight)[:SIZES]
    weights = {(item.op, item.size_bytes): item.weight for item in kept}
    for item in items:
        if (item.op, item.size_bytes) in weights:
            continue
        near = [key for key in weights if key[0] == item.op]
        if near:
            nearest = min(near, key=lambda key: abs(math.log(key[1] / item.size_bytes)))
            weights[nearest] += item.weight
    whole = sum(weights.values())
    shares = {key: round(100 * weight / whole, 2) for key, weight in weights.items()}
    return tuple(Item(op, size, share) for (op, size), share in sorted(shares.items()) if share)


def _durable(profile: Profile, items: Sequence[Item]) -> tuple[bool, float]:
    """Whether each write is durable, and after how many writes a flush comes."""
    sync = profile.order.sync
    if not sync.writes or all(item.op == "read" for item in items):
        return False, 0.0
    if sync.writes_between.total:
        return False, max(1.0, sync.writes / sync.flushes)
    return sync.sync_writes >= SYNC * sync.writes, 0.0


def _region(profile: Profile, footprint: Footprint | None) -> int:
    """What there is to choose from, at most from the first to the last byte of all targets."""
    if footprint is None:
        return _whole(1 << 30)
    span = sum((each.end or 0) - (each.first or 0) for each in profile.by_target if each.op < 2)
    return _whole(min(population(footprint) * footprint.block_bytes, max(span, footprint.block_bytes)))


def population(footprint: Footprint) -> float:
    """How many blocks there are to choose from: more than were touched where most were touched once."""
    drawn, touched = footprint.references, footprint.blocks
    if drawn >= 4 * touched:
        return touched
    low, high = float(touched), 1e4 * touched
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if -math.expm1(-drawn / middle) * middle < touched else (low, middle)
    return low


def fitted_skew(footprint: Footprint | None) -> Skew:
    """Uniform, zipf or a hot part, whichever has a share curve nearest to what was counted."""
    if footprint is None or footprint.references < ONCE * footprint.blocks:
        return Skew("random")
    curve = share_curve(footprint)
    shares = [share_of_busiest(curve, part) for part in TOLD]
    mean_uses = footprint.references / footprint.blocks
    plain = _error(shares, [_uniform_share(mean_uses, part) for part in TOLD])
    thetas = [LEAST_THETA * (MOST_THETA / LEAST_THETA) ** (at / 60) for at in range(61)]
    zipf_error, theta = min((_error(shares, _zipf_shares(theta, footprint.blocks)), theta) for theta in thetas)
    hot_error, hot = _hot_part(curve, shares)
    if plain <= min(zipf_error, hot_error) + ALIKE:
        return Skew("random")
    if zipf_error <= hot_error + ALIKE:
        return Skew("zipf", theta=round(theta, 3))
    return Skew(
        "hotspot",
        space_percent=float(f"{100 * hot.blocks_share:.4g}"),  # of one block in many: 0 is no part
        access_percent=round(100 * hot.references_share, 2),
    )


def _hot_part(curve: tuple[SharePoint, ...], shares: Sequence[float]) -> tuple[float, SharePoint]:
    """The hot part whose curve is nearest: at the knee, unless another is clearly nearer (a few very hot blocks)."""

    def error(point: SharePoint) -> float:
        space, access = point.blocks_share, point.references_share
        if not (0 < space < 1 and access > space):
            return math.inf
        return _error(shares, [min(1.0, _hot_share(space, access, part)) for part in TOLD])

    knee = max(curve, key=lambda point: point.references_share - point.blocks_share)
    least, best = min(((error(point), point) for point in thinned(curve)), key=lambda pair: pair[0])
    at_knee = error(knee)
    return (at_knee, knee) if at_knee <= least + ALIKE else (least, best)


def _error(wanted: Sequence[float], reached: Sequence[float]) -> float:
    return sum(abs(one - other) for one, other in zip(wanted, reached, strict=True)) / len(wanted)


def _hot_share(space: float, access: float, part: float) -> float:
    return access * part / space if part <= space else access + (1 - access) * (part - space) / (1 - space)


def _zipf_shares(theta: float, blocks: int) -> list[float]:
    whole = _harmonic(blocks, theta)
    return [_harmonic(max(1.0, part * blocks), theta) / whole for part in TOLD]


def _harmonic(count: float, theta: float) -> float:
    """The sum of k^-theta up to `count`: the first hundred one by one, the rest as an integral."""
    first = math.fsum(math.pow(k, -theta) for k in range(1, min(100, int(count)) + 1))
    if count <= 100:
        return first
    low, high = 100.5, count + 0.5
    if abs(theta - 1) < 1e-9:
        return first + math.log(high / low)
    return first + (math.pow(high, 1 - theta) - math.pow(low, 1 - theta)) / (1 - theta)


def _uniform_share(mean_uses: float, part: float) -> float:
    """What the busiest blocks get where chance alone decides: of Poisson counts, those that are not 0."""
    mean = mean_uses
    for _ in range(50):  # the mean of those that were used is larger than that of all
        mean = mean_uses * -math.expm1(-mean)
    used, wanted, taken = -math.expm1(-mean), part, 0.0
    top = int(mean + 12 * math.sqrt(mean) + 12)
    for uses in range(top, 0, -1):
        chance = math.exp(uses * math.log(mean) - mean - math.lgamma(uses + 1)) / used
        share = min(chance, wanted)
        taken += share * uses
        wanted -= share
        if wanted <= 0:
            break
    return min(1.0, taken / mean_uses)


def _whole(size: float) -> int:
    """A region in whole MiB, at least 16."""
    return max(16, math.ceil(size / (1 << 20))) << 20


def _missing(profile: Profile, loop: str) -> list[Missing]:
    missing: list[Missing] = []
    arrivals = profile.order.arrivals
    spread = [each.index for each in arrivals.dispersion if each.width_ns >= 1 << 30] if arrivals else []
    if (loop != "closed" or pauses_vary(profile)) and spread and spread[0] > BURSTY:
        missing.append("bursts")
    missing += ["loop"] if loop == "unknown" else []
    missing += ["pauses"] if loop == "closed" and pauses_vary(profile) else []
    missing += ["targets"] if profile.targets > 1 else []
    missing += (
        ["reuse"] if profile.footprint is not None and profile.footprint.references > profile.footprint.blocks else []
    )
    missing += ["places"] if profile.footprint is None else []
    return missing
