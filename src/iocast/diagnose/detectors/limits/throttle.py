"""Rate-limited: a cgroup, quality of service, a cloud volume's size, or heat caps the rate.

What it is: I/Os that wait in front of the device, so that only a set number of them, or of bytes, pass in a second.
Linux's cgroup version 1 does so in slices of 100 ms.
Why it matters: the row measures a setting. The device itself may be many times faster, and production may have another
cap.
How it shows: more load changes nothing but the response time, and I/Os pass as by a clock. The other explanations of
such a level: a full device lets them pass with the scatter of its own times, which one I/O at a time shows; a few
servers that always take the same are as fast as a whole number of I/Os alone; of a full bandwidth, I/Os of other sizes
move as many bytes, or one is large enough to fill it. Unlike I/Os at one rate that none passes are no device's either,
nor are quick I/Os of which some take 100 ms; a limit of this process's cgroup that the rate has reached is known. Rows
that stood still say nothing of a rate.
How to confirm: run at half of that rate, evenly spaced: where each I/O then takes much less time than lies between
two I/Os at full rate, the device is not the limit. Where one I/O at a time does not reach the rate, no experiment
tells a cap from a device that is full: the row is then bound by one of the two. Of a limit in bytes a large I/O takes
its share at any rate: a link, a cap and a full device stay possible.
What to change: lift the cap (io.max, blkio.throttle, quality of service, a larger volume), or report the row as the
rate that this machine is allowed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from statistics import fmean
from typing import NamedTuple

from msgspec.structs import replace

from iocast.analyse.facts import Facts, RowFacts, point
from iocast.analyse.ladder import Curve, Point
from iocast.analyse.levels import AT_LEVEL, as_fast
from iocast.diagnose.evidence import row_of
from iocast.diagnose.limits.own_group import Change, Reached, limits_reached
from iocast.diagnose.preconditions import (
    ALONE,
    MEASURED_HERE,
    NEVER_STILL,
    NO_PAUSES,
    NOT_DURABLE,
    NOT_SHORT_OF_CPU,
    ONE_STATE,
    Only,
    at_least,
    curve_for,
    meets,
    rows_for,
)
from iocast.diagnose.same_load import same_place
from iocast.diagnose.trust.isolation import isolation
from iocast.model.codes import FindingCode
from iocast.model.experiment import Arm, Decision, Experiment
from iocast.model.finding import Finding
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import Constant, Workload
from iocast.text import brief_percent, brief_throughput, brief_time, counted, number

NEEDS: tuple[str, ...] = ()  # with the observer of limits it sees our own cgroup's
ONLY: Only = (MEASURED_HERE,)

CODE: FindingCode = "throttle"
FROM_ONE = 0.05  # how far one at once may be from the rate of many: now and then it takes longer than the clock [J]
AS_EXACT = 0.005  # those of unlike I/Os: two may take equally long by chance, seldom so exactly [J]
# Kinds of I/O that take so unlike times alone, and go so exactly at one rate: nearer by that than their times. [J]
UNLIKE, FAR_NEARER = 0.03, 8.0
LEAST_KINDS = 3  # of I/Os at one rate, for the same reason
DEEPER = 4
SIZE_APART = 4.0  # sizes of I/Os so far apart cost a device unlike times [J]
EXACT = 0.02  # p95 over p50, less 1: always the same
EVEN = 0.10  # the same, where it is worth telling
SLICE_NS, SLICE_WITHIN = 100_000_000, 0.06  # models C, 20, and load-engines 4.4: p99 of 97 to 103 ms
QUICK_NS = 5_000_000  # the I/Os between the slices [J]
LARGE_BYTES = 128 << 10  # what a scan reads in one I/O: its rate is the bandwidth of something [J]
WHOLE = 0.01  # of a number of I/Os at a time [J]
LEAST_IOS = 100
KEPT_BUSY: Only = (MEASURED_HERE, NO_PAUSES, ALONE, at_least(LEAST_IOS))
LEAST_S = 1.5  # many times the slices of a throttle
OF_OTHERS = 0.1  # a share of others' I/O that does not spoil the times of one outstanding I/O [J]
LONE = 0.8  # the time of one I/O at half the rate over the distance at full rate; a free device gives 1 or more [J]


def detect(facts: Facts) -> Iterator[Finding]:
    """A limit that is known and was reached, then what looks like one that is not known."""
    told_rows = set()
    for row in rows_for(facts, ONLY):
        for reached in limits_reached(row):
            told_rows.add(row.name)
            yield _of_our_own(row, reached)
    free: list[Curve] = []
    stood: list[Curve] = []
    for whole in facts.curves:
        curve = _running(facts, whole)
        if not meets(facts.row(whole.rows[0]), NO_PAUSES) or any(row.phase.name in told_rows for row in whole.rows):
            continue
        sliced = _slices(whole.points[0])
        yield from sliced
        if not sliced and meets(facts.row(whole.rows[-1]), NOT_SHORT_OF_CPU):  # else no cap kept the rate level
            (stood if curve is None else free).append(curve or whole)
    suspected = list(_levels(facts, free)) or list(_levels(facts, stood))
    yield from suspected
    if not suspected and not told_rows:
        yield from _one_rate_of_all_kinds(facts)


def _running(facts: Facts, curve: Curve) -> Curve | None:
    """The rows of one state in which nothing stood still, where these are a curve: the rate of the others is that of
    their stalls, or of what was left when something ran out."""
    left = curve_for(facts, curve, (ONE_STATE, NEVER_STILL))
    return left if left is curve or (left is not None and len(left.points) > 1) else None


def _one_rate_of_all_kinds(facts: Facts) -> Iterator[Finding]:
    """I/Os of several kinds and sizes at one rate that no row passes: one and many outstanding, or, one at a time, all
    in the same time. (A disk that waits longer for its heads than for the cap has no level in its ladders.)
    """
    rows = rows_for(facts, (*KEPT_BUSY, NOT_SHORT_OF_CPU, NEVER_STILL))
    for row in rows:
        rate_per_s = row.measurement.rate_per_s
        level = [each for each in rows if as_fast(each.measurement.rate_per_s, rate_per_s, AS_EXACT)]
        kinds = {(item.op, item.size_bytes) for each in level for item in each.workload.mix}
        sizes = [item.size_bytes for each in level if meets(each, NOT_DURABLE) for item in each.workload.mix]
        loads = [each.measurement.asked_depth for each in level]
        if len(kinds) < LEAST_KINDS or max(sizes, default=0) < SIZE_APART * min(sizes, default=1):
            continue
        in_one_time = max(loads) == 1 and all(_spread(point(each)) < EXACT for each in level)
        fastest_per_s = max(each.measurement.rate_per_s for each in facts.rows)
        if as_fast(fastest_per_s, rate_per_s) and (in_one_time or max(loads) >= DEEPER * min(loads)):
            yield from _told_of_all(level, len(kinds), min(loads), max(loads))
            return


def _told_of_all(level: list[RowFacts], kinds: int, least: int, most: int) -> Iterator[Finding]:
    rate_per_s = fmean(row.measurement.rate_per_s for row in level)
    rows, rate = counted(len(level), "row"), f"{number(rate_per_s)} IOPS"
    says = (
        f"{rows} of {counted(kinds, 'kind')} of I/O, {least} to {most} outstanding, all reached {rate}; no row went"
        " faster, as behind a rate limit."
    )
    if most == 1:
        says = (
            f"{rows} of unlike I/Os reached {rate}, one outstanding, each I/O in {brief_time(level[0].p50_ns)} (p50 and"
            " p95); no load went faster, as behind a rate limit."
        )
    evidence = {"rate_per_s": rate_per_s, "depth": float(most), "from_depth": float(least), "other_kinds": kinds - 1.0}
    for row in level:
        yield _suspicion(row.record, says, evidence, confidence=0.7)


def _of_our_own(row: RowFacts, reached: Reached) -> Finding:
    """A limit of our own control group."""
    if reached.changed is not None:
        return _changed_meanwhile(row, reached, reached.changed)
    allows, got = reached.words(reached.limit), f"did {reached.words(reached.got)}"
    if not reached.by_own_ios:  # I/Os that are cut up count by their pieces
        got = f"did {reached.words(reached.got)} of larger I/Os, {reached.words(reached.became)} of requests there"
    return Finding(
        code=CODE,
        severity="warn",
        phase=row.name,
        says=(
            f"Rate-limited by the cgroup: this process may {reached.op} {allows} on {reached.subject}, and the row"
            f" {got}; it measures that setting."
        ),
        clause=f"the cgroup allows {allows} of {reached.op}s on {reached.subject}, and the row {got}",
        evidence={"limit": reached.limit, "achieved": reached.got},
        remedy="Lift the cgroup limit, or report the row as the rate that this machine is allowed.",
    )


def _changed_meanwhile(row: RowFacts, reached: Reached, change: Change) -> Finding:
    """A limit of our own control group that somebody set, or changed, while the row ran."""
    before = "was set" if change.before is None else f"went from {reached.words(change.before)}"
    went = (
        f"limit of {reached.op}s on {reached.subject} {before} to {reached.words(change.after)} at about"
        f" t={brief_time(change.at_ns)}, and the row did {reached.words(reached.got)}"
        f" {'from then on' if change.follows(reached.limit) else 'until then'}"
    )
    return Finding(
        code=CODE,
        severity="warn",
        phase=row.name,
        says=f"Rate-limited by the cgroup: its {went}; it measures two settings.",
        clause=f"the cgroup's {went}",
        evidence={"limit": reached.limit, "achieved": reached.got, "changed_ns": float(change.at_ns)},
        remedy="Measure again under one limit: ask who changes the limits of this cgroup, and when.",
    )


def _slices(point: Point) -> list[Finding]:
    """Most I/Os quick, some of them a slice of 100 ms."""
    record, times = point.record, point.response
    if times.total < LEAST_IOS or times.quantile_ns(0.5) > QUICK_NS:
        return []
    tail_ns = times.quantile_ns(0.99)
    if abs(tail_ns / SLICE_NS - 1) > SLICE_WITHIN:
        return []
    says = (
        f"p50 is {brief_time(times.quantile_ns(0.5))} and p99 {brief_time(tail_ns)}: the kernel's throttle works in"
        " slices of 100 ms."
    )
    evidence = {"p50_ns": times.quantile_ns(0.5), "p99_ns": tail_ns}
    return [_suspicion(record, says, evidence, confidence=0.8)]


class _Level(NamedTuple):
    """Loads of a curve at which the rate is the same, and the point of the most load."""

    points: tuple[Point, ...]
    bandwidth: bool  # that of the device, or of a link, would look the same
    servers: int  # so many I/Os at a time, each as long as one alone, would be as fast; 0 where no number is

    @property
    def deep(self) -> Point:
        """Where most are outstanding."""
        return self.points[-1]

    @property
    def from_one(self) -> bool:
        """Whether one I/O at a time reaches the rate."""
        return self.points[0].load == 1

    @property
    def rate_per_s(self) -> float:
        """The level."""
        return self.deep.rate_per_s


def _levels(facts: Facts, curves: Iterable[Curve]) -> Iterator[Finding]:
    """Curves whose rate is level, with the rows of other kinds that go at the same rate."""
    every = [level for curve in curves for level in _level(facts, curve)]
    # What an experiment decides is decided of all suspicions of a cap: those of another rate are left to a later run.
    testable = [level.rate_per_s for level in every if level.from_one and not level.bandwidth]
    levels = [
        each for each in every if each.from_one or not testable or any(as_fast(each.rate_per_s, it) for it in testable)
    ]
    told_rows = {id(point.record) for level in levels for point in level.points}
    order = sorted(levels, key=lambda level: not level.from_one)  # what can be tested comes first
    for group in _by_cap(order):
        says = ""
        for level in group:
            alike = [] if level.bandwidth else _alike(facts, level)
            more = [row.record for row in alike if id(row.record) not in told_rows]
            rows = [*(point.record for point in level.points), *more]
            told_rows |= set(map(id, rows))
            says = says or _says(level, alike, group[1:])
            yield from _findings(level, says, len(alike), rows)


def _by_cap(levels: list[_Level]) -> list[list[_Level]]:
    """Those that the same cap may hold back, together: as many I/Os, or as many bytes where these may be what is full.
    They are told in one sentence, that of the first."""
    groups: list[list[_Level]] = []
    for level in levels:
        beside = next((group for group in groups if _same_cap(group[0], level)), None)
        if beside is None:
            groups.append([level])
        else:
            beside.append(level)
    return groups


def _same_cap(one: _Level, other: _Level) -> bool:
    if (one.bandwidth, one.servers) != (other.bandwidth, other.servers):
        return False
    if one.bandwidth:
        return bool(one.deep.bytes_per_s) and as_fast(other.deep.bytes_per_s, one.deep.bytes_per_s)
    return as_fast(other.rate_per_s, one.rate_per_s)


def _level(facts: Facts, curve: Curve) -> list[_Level]:
    """The loads from which on more of it changes nothing but the response time, evenly as by a clock."""
    deep, first = curve.points[-1], curve.points[0]
    from_one = first.load == 1 and as_fast(deep.rate_per_s, first.rate_per_s, FROM_ONE)
    within = FROM_ONE if from_one else AT_LEVEL
    held = [point for point in curve.points if as_fast(deep.rate_per_s, point.rate_per_s, within)]
    few = min(point.record.measurement.ios for point in held) < LEAST_IOS
    one = curve.at(1)
    if few or one is None or not meets(facts.row(one.record), ONE_STATE) or deep.load < max(DEEPER, 2 * held[0].load):
        return []
    if _others_share(facts.row(one.record)) > max(OF_OTHERS, 2 * _others_share(facts.row(deep.record))):
        return []  # its times scatter as those of a queue of others: what is more even than they are is no clock
    always_the_same = _spread(one) < EXACT and _spread(deep) < EVEN
    if not (curve.passes_by_a_clock or always_the_same or _whatever_the_kind(facts, one, deep)):
        return []
    size = min((item.size_bytes for item in deep.record.phase.workload.mix), default=0)
    # One large I/O may fill the device by itself: then more of them are as even, and nothing caps them. With small ones
    # that takes more than one at once.
    full = size >= LARGE_BYTES or (not from_one and _may_be_of_bytes(facts, deep, size))
    return [_Level(tuple(held), full, 0 if from_one else _servers(one, deep))]


def _others_share(row: RowFacts) -> float:
    """How much of what the device did was others', or for which share of a row a simulated one was busy with them."""
    evidence = isolation(row).evidence
    met = evidence.get("others_ns", 0.0) / max(1, row.measurement.elapsed_ns)
    return max(evidence.get("foreign_share", 0.0), evidence.get("foreign_request_share", 0.0), met)


def _servers(one: Point, deep: Point) -> int:
    """How many I/Os at a time explain the rate, where one alone always takes the same: 0 for none or one."""
    busy = deep.rate_per_s / one.rate_per_s
    whole = round(busy)
    return whole if _spread(one) < EXACT and whole > 1 and abs(busy / whole - 1) < WHOLE else 0


def _whatever_the_kind(facts: Facts, one: Point, deep: Point) -> bool:
    """Whether I/Os of two other kinds go at exactly that rate, though one of them alone takes another time.

    What a full device ends in a second goes by how long each I/O keeps it; a fixed delay on the way to it hides how
    evenly a cap lets them pass, and leaves this sign. Of I/Os of one size, bytes may be what is full.
    """
    moved = max(row.measurement.bytes_per_s for row in rows_for(facts, (ALONE,)))
    kinds = set()
    for curve in facts.curves if moved > deep.bytes_per_s and not as_fast(moved, deep.bytes_per_s, FROM_ONE) else ():
        alone = curve.at(1)
        if alone is None or not meets(facts.row(alone.record), NO_PAUSES):
            continue
        apart = abs(math.log(alone.rate_per_s / one.rate_per_s))
        near = [abs(math.log(each.rate_per_s / deep.rate_per_s)) for each in curve.points if each.load > 1]
        if apart >= UNLIKE and min(near, default=math.inf) <= min(AS_EXACT, apart / FAR_NEARER):
            mix = alone.record.phase.workload.mix
            kinds.add((meets(facts.row(alone.record), NOT_DURABLE), *((item.op, item.size_bytes) for item in mix)))
    return len(kinds) >= LEAST_KINDS - 1


def _may_be_of_bytes(facts: Facts, deep: Point, size_bytes: int) -> bool:
    """Whether bytes may be what is full: I/Os of quite another size move as many, or none were measured."""
    moved = [row.measurement.bytes_per_s for row in rows_for(facts, (ALONE,)) if _size_apart(row, size_bytes)]
    return bool(deep.bytes_per_s) and (not moved or any(as_fast(per_s, deep.bytes_per_s, FROM_ONE) for per_s in moved))


def _size_apart(row: RowFacts, size_bytes: int) -> bool:
    sizes = [item.size_bytes for item in row.workload.mix if item.size_bytes]
    return bool(sizes) and not size_bytes / SIZE_APART < max(sizes) < size_bytes * SIZE_APART


def _alike(facts: Facts, level: _Level) -> list[RowFacts]:
    """Rows of other operations or sizes at the same rate: no device does exactly as many of each."""
    mine = {(item.op, item.size_bytes) for item in level.deep.record.phase.workload.mix}
    return [
        row
        for row in rows_for(facts, (*KEPT_BUSY, NOT_DURABLE))
        if {(item.op, item.size_bytes) for item in row.workload.mix} != mine
        and row.measurement.asked_depth > 1
        and as_fast(row.measurement.rate_per_s, level.rate_per_s)
    ]


def _says(level: _Level, alike: list[RowFacts], beside: list[_Level]) -> str:
    """What one level shows, with the rows of other kinds that the same cap holds back."""
    deep, least = level.deep, level.points[0]
    names = list(dict.fromkeys([*(row.name for row in alike), *(each.deep.record.phase.name for each in beside)]))
    others, where = "", ""
    if names:
        where = f" on {deep.record.phase.name}"  # those of the others, which stand beside it, are not at these figures
        more = f" and {counted(len(names) - 1, 'more row')}" if len(names) > 1 else ""
        same = (
            f"move{'' if more else 's'} as many bytes"
            if level.bandwidth
            else f"go{'' if more else 'es'} at the same rate"
        )
        others = f"; {names[0]}{more} {same}, though the I/Os differ in kind or size"
    reached, alone = (
        (brief_throughput(deep.bytes_per_s), brief_throughput(least.bytes_per_s))
        if level.bandwidth
        else (f"{number(deep.rate_per_s)} IOPS", number(least.rate_per_s))
    )
    return (
        f"{deep.load} outstanding I/Os reached {reached}{where}, {least.load} reached {alone};"
        f" {_evenly(deep, _spread(deep))}, as behind a rate"
        f" limit{_or_else(level, bool(alike))}{others}."
    )


def _findings(level: _Level, says: str, alike: int, rows: list[PhaseRecord]) -> Iterator[Finding]:
    deep, least = level.deep, level.points[0]
    evidence = {
        "rate_per_s": deep.rate_per_s,
        "ratio": deep.rate_per_s / least.rate_per_s,
        "depth": deep.load,
        "from_depth": least.load,
        **({"bandwidth": 1.0, "bytes_per_s": deep.bytes_per_s} if level.bandwidth else {}),
        **({"servers": level.servers} if level.servers else {}),
        **({"other_kinds": alike} if alike else {}),
    }
    explained = level.bandwidth or level.servers
    confidence = 0.3 if explained else 0.7 if alike else 0.5
    for row in rows:
        suspicion = _suspicion(row, says, evidence, confidence=confidence)
        if least.load > 1:  # one alone does not reach it: nothing to be run at half of the rate
            suspicion = replace(suspicion, confirm="ask whoever runs the storage; or run other sizes and operations")
        yield replace(suspicion, severity="note") if explained else suspicion


def _or_else(level: _Level, of_all_kinds: bool) -> str:
    """What else would look the same."""
    if level.bandwidth:
        return " or a link, or as at the full bandwidth of the device"
    if level.servers:
        each = brief_time(level.servers / level.rate_per_s * 1e9)
        return f", or as of a device that serves {level.servers} at a time, each in {each}"
    if level.from_one and not of_all_kinds:
        return f", or as of a device that serves one at a time, each in {brief_time(1e9 / level.points[0].rate_per_s)}"
    return ""


def _evenly(deep: Point, spread: float) -> str:
    """How the times show it by themselves, or that what lies between them does."""
    if spread >= EVEN:
        return "they pass as evenly as by a clock"
    return (
        f"up to the p95 the response times of the {deep.load} are nearly equal (p50"
        f" {brief_time(deep.response.quantile_ns(0.5))}, p95 {brief_percent(spread)} above)"
    )


def _spread(point: Point) -> float:
    """How far the p95 lies above the p50, as a share."""
    times = point.response
    return times.quantile_ns(0.95) / times.quantile_ns(0.5) - 1


def _suspicion(record: PhaseRecord, says: str, evidence: dict[str, float], *, confidence: float) -> Finding:
    return Finding(
        code=CODE,
        severity="warn",
        phase=record.phase.name,
        says=says,
        evidence=evidence,
        remedy="Look for io.max, blkio.throttle, quality of service or the volume's size; lift the cap or report it.",
        hypothesis="something caps IOPS or throughput",
        confidence=confidence,
        confirm="run at half of the rate: behind a cap each I/O is then much quicker",
        state="suggested",
    )


def _if_rejected(evidence: dict[str, float]) -> str:
    """What follows when an I/O takes as long at half of the rate."""
    if evidence.get("bandwidth"):
        return (
            f"{brief_throughput(evidence['bytes_per_s'])} is a limit in bytes: a link, a cap that lets bytes"
            " out one after the other, and the device's own bandwidth look the same from here."
        )
    if "from_depth" in evidence:
        return "Not rate-limited: the storage serves one of these at a time, and takes that long for it."
    return "Not rate-limited: the storage itself takes that long for each I/O."


def confirm(run: Run, finding: Finding) -> Experiment | None:
    """One at once as fast as it goes, and the same at half of that rate."""
    if finding.evidence.get("from_depth", 1) > 1:
        return None
    record = row_of(run, finding)
    load, rate = record.phase.workload, record.measurement.rate_per_s
    full = replace(load, users=1, depth=1)
    half: Workload = replace(load, users=1, depth=8, arrival=Constant(rate / 2))
    seconds = max(LEAST_S, 60 / rate)
    return Experiment(
        question="At half the rate, does an I/O take much less time than lies between two at full rate?",
        arms=(
            Arm(name="full rate", workload=full, seconds=seconds, **same_place(record)),  # type: ignore[arg-type]
            Arm(name="half the rate", workload=half, seconds=seconds, **same_place(record)),  # type: ignore[arg-type]
        ),
        decision=Decision(statistic="mean", first="full rate", other="half the rate", limit=LONE, direction="below"),
        if_confirmed="Rate-limited: the storage answers faster than the rate that it is allowed.",
        if_rejected=_if_rejected(finding.evidence),
        absence_proves=not finding.evidence.get("bandwidth"),
        # Credits that were spent then may be there again: that rejects nothing.
        seen_per_s=rate if record.measurement.asked_depth == 1 or "from_depth" in finding.evidence else None,
    )
