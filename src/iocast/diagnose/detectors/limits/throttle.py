"""Rate-limited: a cgroup, quality of service, a cloud volume's size, or heat caps the rate.

What it is: I/Os that wait in front of the device, so that only a set number of them, or of bytes, pass in a second.
Linux's cgroup version 1 does so in slices of 100 ms.
Why it matters: the row measures a setting. The device itself may be many times faster, and production may have another
cap.
How it shows: the same IOPS with one outstanding I/O as with many, and a response time that grows exactly with their
number; or most I/Os quick and the others 100 ms; or a limit of this process's cgroup that the rate has reached.
How to confirm: run at half of that rate, evenly spaced: where each I/O then takes much less time than lies between
two I/Os at full rate, the device is not the limit.
What to change: lift the cap (io.max, blkio.throttle, quality of service, a larger volume), or report the row as the
rate that this machine is allowed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from msgspec.structs import replace

from iocast import metrics
from iocast.analyse.facts import Facts, RowFacts, once
from iocast.analyse.ladder import Curve, Point
from iocast.diagnose.evidence import row_of, waited_for_a_processor
from iocast.diagnose.same_load import same_place
from iocast.model.codes import FindingCode
from iocast.model.experiment import Arm, Decision, Experiment
from iocast.model.finding import Finding
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import Closed, Constant, Workload
from iocast.text import brief_percent, brief_throughput, brief_time, number

NEEDS: tuple[str, ...] = ()  # with the observer of limits it sees our own cgroup's

CODE: FindingCode = "throttle"
OBSERVER = metrics.LIMITS
REACHED = (0.90, 1.10)  # of a limit; cgroups of version 1 let 3 % more through (measured)
FLAT = 1.05  # the rate of many at once over that of one
DEEPER = 4
EVEN = 0.10  # p95 over p50, less 1, of the deeper row: all wait for the same clock [J]
# A device that serves one at a time evens its times out as the root of the number does; a clock does far more. [J]
MORE_EVEN = 0.5
EXACT = 0.02  # where even one at once takes always the same, it waits for a clock, or is one [J]
SLICE_NS, SLICE_WITHIN = 100_000_000, 0.06  # models C, 20, and load-engines 4.4: p99 of 97 to 103 ms
QUICK_NS = 5_000_000  # the I/Os between the slices [J]
LARGE_BYTES = 128 << 10  # what a scan reads in one I/O: its rate is the bandwidth of something [J]
LEAST_IOS = 100
LEAST_S = 1.5  # many times the slices of a throttle
LONE = 0.6  # the time of one I/O at half the rate over the distance at full rate; a free device gives 1 or more [J]


def detect(facts: Facts) -> Iterator[Finding]:
    """A limit that is known and was reached, then what looks like one that is not known."""
    if facts.imported:
        return
    told = set()
    for row in facts.rows:
        for finding in known_limits(row):
            told.add(row.name)
            yield finding
    for curve in facts.curves:
        first = curve.rows[0]
        if first.phase.workload.arrival != Closed() or any(row.phase.name in told for row in curve.rows):
            continue
        busy = waited_for_a_processor(facts.row(curve.rows[-1]))  # then it was no cap that kept the rate level
        yield from _slices(curve.points[0]) or ([] if busy else _level(curve))


@once
def known_limits(row: RowFacts) -> tuple[Finding, ...]:
    """Limits of our own cgroup that the row has reached."""
    return tuple(_known_limits(row.record))


def _known_limits(record: PhaseRecord) -> Iterator[Finding]:
    did = record.measurement
    seconds = did.elapsed_ns / 1e9
    limits = {
        (each.subject, each.metric): each.value
        for each in record.samples
        if each.observer == OBSERVER and each.metric in metrics.LIMITED
    }
    for (subject, metric), limit in sorted(limits.items()):
        op, what = metrics.LIMITED[metric]
        parts = [part for part in did.classes if part.op == op]
        got = sum(part.bytes if what == metrics.BYTES else part.ios for part in parts) / seconds if seconds else 0.0
        if REACHED[0] * limit <= got <= REACHED[1] * limit:
            shown = brief_throughput if what == metrics.BYTES else _per_second
            yield Finding(
                code=CODE,
                severity="warn",
                phase=record.phase.name,
                says=(
                    f"Rate-limited by the cgroup: this process may {op} {shown(limit)} on {subject}, and the row did"
                    f" {shown(got)}; it measures that setting."
                ),
                clause=f"the cgroup allows {shown(limit)} of {op}s on {subject}, and the row did {shown(got)}",
                evidence={"limit": limit, "achieved": got},
                remedy="Lift the cgroup limit, or report the row as the rate that this machine is allowed.",
            )


def _per_second(rate: float) -> str:
    return f"{number(rate)} IOPS"


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


def _level(curve: Curve) -> list[Finding]:
    one, deep = curve.rows[0], curve.rows[-1]
    even_one, even_deep = _spread(curve.points[0]), _spread(curve.points[-1])
    if one.measurement.asked_depth != 1 or deep.measurement.asked_depth < DEEPER:
        return []
    few = min(row.measurement.ios for row in (one, deep)) < LEAST_IOS
    times = curve.points[-1].response
    ratio = deep.measurement.rate_per_s / one.measurement.rate_per_s
    averaged = even_one / math.sqrt(deep.measurement.asked_depth)
    by_the_clock = even_one < EXACT or even_deep < MORE_EVEN * averaged
    even = even_deep < EVEN and by_the_clock
    if few or not even or not 1 / FLAT <= ratio <= FLAT:
        return []
    # One large I/O may fill the device by itself: then more of them are as even, and nothing caps them.
    size = min((item.size_bytes for item in deep.phase.workload.mix), default=0)
    large = size >= LARGE_BYTES
    says = (
        f"{deep.measurement.asked_depth} outstanding I/Os reached {number(deep.measurement.rate_per_s)} IOPS, 1 reached"
        f" {number(one.measurement.rate_per_s)}; the response times of the {deep.measurement.asked_depth} are nearly"
        f" equal (p50 {brief_time(times.quantile_ns(0.5))}, p95 {brief_percent(even_deep)} above), as behind a rate"
        f" limit{', or at the full bandwidth of the device' if large else ''}."
    )
    evidence = {"rate_per_s": deep.measurement.rate_per_s, "ratio": ratio, "depth": deep.measurement.asked_depth}
    level = [row for row in curve.rows if 1 / FLAT <= deep.measurement.rate_per_s / row.measurement.rate_per_s <= FLAT]
    found = [_suspicion(row, says, evidence, confidence=0.3 if large else 0.5) for row in level]
    return [replace(each, severity="note") for each in found] if large else found


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
        rivals=("link_limit", "serialised_direct_io"),
    )


def confirm(run: Run, finding: Finding) -> Experiment | None:
    """One at once as fast as it goes, and the same at half of that rate."""
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
        if_rejected="Not rate-limited: the storage itself takes that long for each I/O.",
    )
