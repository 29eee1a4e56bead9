"""Direct I/O is serialised: one I/O passes at a time, whatever the queue depth.

What it is: a lock above the device (of an inode, of a file system that allocates, of a driver) that admits one I/O,
while the program believes that many are outstanding.
Why it matters: the writers of a database wait for each other, and storage that could do more is idle.
How it shows: the device has about one I/O while the test has many outstanding, more of them give no more IOPS, and the
times are not the device's own. Where the queue at the device is not seen: eight outstanding writes, or commits, do no
more than one, while reads of the same size gain, so that the device serves several; or no kind of small I/O gains from
more of them. The other explanations: a full bandwidth would have writes of other sizes move as many bytes; a cap would
have all kinds go at one rate; a cache, or a hole, that answers reads takes a small part of the time of a write; one arm
serves one at a time, and takes its time for it; who waits for a processor waits above the device too.
How to confirm: one outstanding write against eight, and the same with reads: writes gain nothing, reads do. By hand:
one file against many, overwriting against allocating, a raw device.
What to change: XFS or a raw device; lay files out in full and overwrite them (ext4 overwrites in parallel since
Linux 5.4, and waits where it allocates); more files; io_uring.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from iocast.analyse.device_io import DeviceIo
from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.ladder import Curve, of_random
from iocast.analyse.levels import level_of
from iocast.diagnose.evidence import ARM_NS, SMALL_BYTES, row_of
from iocast.diagnose.limits.device_queue import queue_verdict
from iocast.diagnose.preconditions import (
    ALONE,
    DIRECT,
    MEASURED_HERE,
    NO_PAUSES,
    NOT_DURABLE,
    NOT_SHORT_OF_CPU,
    ONE_STATE,
    ONLY_WRITES,
    PAST_THE_HOST,
    SOME_IOS,
    UNDER_NO_LIMIT,
    Only,
    curve_for,
    meets,
    rows_for,
)
from iocast.diagnose.same_load import at_depth, same_place
from iocast.diagnose.thresholds import DOUBLING_GAINS
from iocast.model.codes import FindingCode
from iocast.model.experiment import Arm, Decision, Experiment
from iocast.model.finding import Finding
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import Uniform
from iocast.text import brief_time, number

NEEDS: tuple[str, ...] = ()  # with diskstats it sees more
# What waits for a limit of our own group waits above the device too.
# Commits that wait for one flush together are all outstanding above the device, and no lock holds them.
ONLY: Only = (MEASURED_HERE, ALONE, DIRECT, NOT_SHORT_OF_CPU, NO_PAUSES, NOT_DURABLE, UNDER_NO_LIMIT)
ANSWERED: Only = (ONE_STATE, NOT_SHORT_OF_CPU, PAST_THE_HOST, SOME_IOS, UNDER_NO_LIMIT)  # by the storage

CODE: FindingCode = "serialised_direct_io"
GAINS = 2.0  # times the IOPS of one outstanding I/O: the device serves several
NO_ARM_GAINS = 3.0  # times with eight at once; a single arm gains less, even when it serves the nearest first [J]
LEAST_DEPTH, DEEP = 4, 8  # of so few a device that is quick now and then explains it [J]; what gains are taken from
KEPT = 0.9  # of the depth must have been in flight, or it is another finding
OVER_DEVICE, SLOW_NS = 2.0, 200_000  # the engine's time over the device's; quicker ones wait for processors [J]
UNLIKE = 1.5  # times: rates so far apart do not come from one cap [J]
SAME = 0.01  # of the rate: no gain worth a figure
ALIKE = 10.0  # one write may take so many times as long as one read; beyond that reads say nothing of writes [J]
LAY_OUT = "Overwrite files that are laid out in full, use more files, XFS or a raw device."


def detect(facts: Facts) -> Iterator[Finding]:
    """Rows whose I/Os wait above the device; writes that do not scale where reads do."""
    for row in rows_for(facts, ONLY):
        device = row.under_filesystem
        if device is not None and not _gains(row):
            yield from _above_the_device(row.record, device)
    pairs = [(writes, reads) for writes in facts.random_curves("write") for reads in facts.random_curves("read")]
    held = [tuple(curve_for(facts, curve, (ONE_STATE,)) for curve in pair) for pair in pairs]
    for writes, reads in held:
        if writes is None or reads is None or _as_many_bytes(facts, writes):
            continue
        if _size(writes) == _size(reads) and not any(_several_passed(facts.row(row)) for row in writes.rows):
            yield from _flat(writes, reads)
    if not any(len(writes.points) > 1 for writes in facts.random_curves("write")):
        yield from _commits_gain_nothing(facts)
    yield from _one_of_any_kind(facts)


def _as_many_bytes(facts: Facts, writes: Curve) -> bool:
    """Whether writes of quite another size go at the same constant throughput: then bytes are what is full, as those of
    flash whose SLC area is, and no lock."""
    level = level_of(facts, facts.row(writes.rows[0]), facts.rows)
    return level is not None and level.counts_bytes


def _size(curve: Curve) -> int:
    return curve.rows[0].phase.workload.mix[0].size_bytes


def _gains(row: RowFacts) -> bool:
    """Whether it did more than its kind did with one outstanding I/O."""
    curve = row.curve
    one = curve.at(1) if curve is not None else None
    return one is not None and row.measurement.rate_per_s > DOUBLING_GAINS * one.rate_per_s


def _several_passed(row: RowFacts) -> bool:
    """Whether the device was seen with more than a lock would let pass, or no processor was free."""
    device, asked_depth = row.under_filesystem, row.measurement.asked_depth
    queue_mean = device.queue_mean if device is not None and asked_depth >= LEAST_DEPTH else None
    return queue_verdict(queue_mean, asked_depth) == "parallel" or not meets(row, NOT_SHORT_OF_CPU)


def _above_the_device(record: PhaseRecord, device: DeviceIo) -> Iterator[Finding]:
    did = record.measurement
    kept, at_device = did.depth_mean, device.queue_mean
    if did.asked_depth < LEAST_DEPTH or kept < KEPT * did.asked_depth:
        return
    service_ns, awaits = did.service().mean_ns, [device.read_await_ns, device.write_await_ns]
    device_ns = max((each for each in awaits if each is not None), default=0.0)
    if queue_verdict(at_device, did.asked_depth) == "serialised" and service_ns >= max(
        SLOW_NS, OVER_DEVICE * device_ns
    ):
        yield _suspicion(
            record.phase.name,
            f"I/Os wait above the device: {number(kept)} outstanding, {number(at_device or 0.0)} of them"
            f" at {device.layer}; {brief_time(service_ns)} each, {brief_time(device_ns)} of it at the device.",
            {"in_flight": kept, "device_queue": at_device or 0.0, "service_ns": service_ns, "device_ns": device_ns},
            "a lock above the device admits one I/O at a time",
            0.7,
            "the same load on one file, on many, and on a raw device; overwriting against allocating",
        )


def _suspicion(
    phase: str, says: str, evidence: dict[str, float], hypothesis: str, confidence: float, confirm_by: str
) -> Finding:
    return Finding(
        code=CODE,
        severity="severe",
        phase=phase,
        says=says,
        evidence=evidence,
        remedy=LAY_OUT,
        hypothesis=hypothesis,
        confidence=confidence,
        confirm=confirm_by,
        state="suggested",
    )


def _flat(writes: Curve, reads: Curve) -> Iterator[Finding]:
    gain, other = _gain(writes), _gain(reads)
    if gain is None or other is None or gain[0] > DOUBLING_GAINS or other[0] < GAINS:
        return
    if not _of_other_kinds(gain[1], other[1]):
        yield _suspicion(
            gain[2].phase.name,
            f"Writes do not scale: {gain[2].measurement.asked_depth} outstanding gave {_times(gain[0])} one, while"
            f" reads gained {number(other[0])} times.",
            {"write_gain": gain[0], "read_gain": other[0]},
            "a lock admits one write at a time",
            0.6,
            f"one outstanding write against {DEEP}, and the same with reads",
        )


def _commits_gain_nothing(facts: Facts) -> Iterator[Finding]:
    """Without a curve of random writes: durable writes of which several give no more than one, eight and more random
    writes of that size, which need not be durable, that give no more either, and random reads that gain, on storage too
    quick to have an arm."""
    rows = rows_for(facts, (*ANSWERED, NO_PAUSES, ALONE))
    kept = [row for row in rows if not _several_passed(row)]
    commits = [row for row in kept if meets(row, ONLY_WRITES) and not meets(row, NOT_DURABLE)]
    for one in (row for row in commits if row.measurement.asked_depth == 1):
        size = one.workload.mix[0].size_bytes
        more = [row for row in commits if row.kind == one.kind and row.measurement.asked_depth >= LEAST_DEPTH]
        scattered = [row for row in kept if _random_writes(row, size) and row.measurement.asked_depth >= DEEP]
        reads = [curve for curve in facts.random_curves("read") if _size(curve) == size]
        gain = _gain(reads[0]) if reads else None
        if not more or not scattered or gain is None or gain[0] < GAINS:
            continue
        rates = [row.measurement.rate_per_s / one.measurement.rate_per_s for row in (*more, *scattered)]
        if (
            max(rates) <= DOUBLING_GAINS
            and (_too_quick_for_an_arm(reads[0]) or gain[0] >= NO_ARM_GAINS)
            and not _of_other_kinds(one.record, gain[1])
        ):
            answer = _no_write_beside_another(one, more[-1], scattered[-1], gain[0])
            yield from (answer, replace(answer, phase=more[-1].name))


def _random_writes(row: RowFacts, size_bytes: int) -> bool:
    load = row.workload
    same = meets(row, ONLY_WRITES, NOT_DURABLE) and load.mix[0].size_bytes == size_bytes
    return same and isinstance(load.locality, Uniform)


def _no_write_beside_another(one: RowFacts, more: RowFacts, scattered: RowFacts, gain: float) -> Finding:
    did = [row.measurement for row in (one, more, scattered)]
    return _suspicion(
        scattered.name,
        f"Writes do not scale: 1 durable write at a time reached {number(did[0].rate_per_s)} IOPS,"
        f" {did[1].asked_depth} outstanding reached {number(did[1].rate_per_s)}, and {did[2].asked_depth} random writes"
        f" that need not be durable {number(did[2].rate_per_s)}, while reads gained {number(gain)} times.",
        {"commit_gain": did[1].rate_per_s / did[0].rate_per_s, "read_gain": gain},
        "a lock admits one write at a time",
        0.5,
        "random writes with one outstanding and with eight: `iocast card --preset standard` has both",
    )


def _one_of_any_kind(facts: Facts) -> Iterator[Finding]:
    """Small I/Os of several kinds of which none gains from company, on storage too quick to have an arm."""
    flat: list[tuple[Curve, float]] = []
    for curve in facts.curves:
        rows, one, deep = [facts.row(record) for record in curve.rows], curve.at(1), curve.points[-1]
        largest = max(item.size_bytes for row in rows for item in row.workload.mix)
        if not meets(rows[0], NO_PAUSES) or largest > SMALL_BYTES or one is None or deep.load < LEAST_DEPTH:
            continue
        gain = deep.rate_per_s / one.rate_per_s
        if gain > DOUBLING_GAINS or any(not meets(row, *ANSWERED) for row in rows):
            return
        if gain >= 1 / DOUBLING_GAINS:
            flat.append((curve, gain))
    reads = [curve for curve, _ in flat if of_random(curve, "read")]
    rates = [curve.points[0].rate_per_s for curve, _ in flat]
    # At one rate it may be a cap; where larger I/Os move no more, bytes may be what is full.
    if not reads or max(rates) < UNLIKE * min(rates) or not _too_quick_for_an_arm(reads[0]):
        return
    most = max(row.measurement.bytes_per_s for row in facts.rows)
    if max(point.bytes_per_s for curve, _ in flat for point in curve.points) > most / UNLIKE:
        return
    names = [curve.rows[-1].phase.name for curve, _ in flat]
    for curve, gain in flat:
        suspicion = _suspicion(
            curve.rows[-1].phase.name,
            f"Nothing runs in parallel: {' and '.join([', '.join(names[:-1]), names[-1]])} give no more IOPS than one"
            " outstanding I/O of their kind, each kind at a rate of its own: one lock over all I/O, or a device that"
            " serves one at a time.",
            {"gain": gain, "kinds": float(len(names))},
            "one lock admits one I/O of any kind at a time",
            0.5,
            "the same load on two files or two devices behind the same path: a device adds up, a lock does not",
        )
        remedy = "Look for what all I/Os share: a lock of a driver, one thread of a gateway, a queue depth of 1."
        yield replace(suspicion, severity="warn", remedy=remedy)


def _too_quick_for_an_arm(reads: Curve) -> bool:
    return reads.points[0].response.quantile_ns(0.5) <= ARM_NS / 2


def _times(gain: float) -> str:
    """The IOPS over those of one, fit to be followed by it."""
    return "no more IOPS than" if abs(gain - 1) < SAME else f"{number(gain)} times the IOPS of"


def _of_other_kinds(write: PhaseRecord, read: PhaseRecord) -> bool:
    """Whether reads are answered by something else than what takes the writes: a cache, or a hole in a file."""
    return write.measurement.service().mean_ns > ALIKE * read.measurement.service().mean_ns


def _gain(curve: Curve) -> tuple[float, PhaseRecord, PhaseRecord] | None:
    """How many times the rate of one at once eight at once (or the next more) have."""
    one = curve.at(1)
    deep = next((point for point in curve.points if DEEP <= point.load <= 4 * DEEP), None)
    if one is None or deep is None:
        return None
    return deep.rate_per_s / one.rate_per_s, one.record, deep.record


def confirm(run: Run, finding: Finding) -> Experiment | None:
    """Writes and reads, one and eight at once."""
    if not {"write_gain", "commit_gain"} & finding.evidence.keys():
        return None
    write = row_of(run, finding)
    size = write.phase.workload.mix[0].size_bytes
    read = next(curve.rows[0] for curve in Facts(run).random_curves("read") if _size(curve) == size)
    arms = tuple(
        Arm(name=name, workload=at_depth(row, depth), **same_place(row))  # type: ignore[arg-type]
        for name, row, depth in (
            ("one write", write, 1),
            (f"{DEEP} writes", write, DEEP),
            ("one read", read, 1),
            (f"{DEEP} reads", read, DEEP),
        )
    )
    gains = Decision(statistic="rate", first="one read", other=f"{DEEP} reads", limit=GAINS * 0.75, direction="above")
    return Experiment(
        question=f"Do {DEEP} outstanding writes gain nothing over one, while reads gain?",
        arms=arms,
        decision=Decision(
            statistic="rate",
            first="one write",
            other=f"{DEEP} writes",
            limit=1 + 2 * (DOUBLING_GAINS - 1),
            direction="below",
        ),
        also=(gains,),
        if_confirmed="Writes are serialised, though the device serves several I/Os in parallel.",
        if_rejected="Writes are not serialised: more outstanding writes give more IOPS.",
    )
