"""Sequential writes evict from a cache the blocks that random reads depend on.

What it is: a cache, of an array or of this machine, that keeps whatever was touched last: a log writer, a load or a
backup passes through it once, and the blocks that were read again and again are evicted.
Why it matters: after the backup reads are slow until the cache has warmed up again, though the database did nothing
different. A test without such writes beside it never shows that.
How it shows: beside such writes, or after them, the same random reads take a fifth longer, and fewer of them are as
quick as before.
How to confirm: read a set until it is cached, write once through a region apart from it, and read the set again, in
rounds. The set must be quicker than blocks that were never read, and slower after the writes; blocks that were never
read must not become slower: on a device that is still busy with the writes, or shares its bandwidth with them, all
reads do. A cache larger than all that can be written here evicts nothing, and looks like a good one.
What to change: keep log writes and backups out of the cache (quality of service, direct I/O, caching by volume), cap
them, or give them separate storage.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.load_kind import bytes_of, really_direct, simulated
from iocast.analyse.statistics import bucket_shares
from iocast.diagnose.evidence import row_of, times_ratio
from iocast.diagnose.preconditions import ALONE, ENOUGH_TO_COMPARE, ONLY_READS, Only, meets, pairs_for
from iocast.diagnose.same_load import mib_below, target_bytes
from iocast.model.codes import FindingCode
from iocast.model.experiment import Arm, Decision, Experiment
from iocast.model.finding import Finding
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import Constant, MixItem, Sequential, Stride, Uniform, Workload
from iocast.text import brief_percent, brief_time, capacity

NEEDS: tuple[str, ...] = ()
ONLY: Only = (ONLY_READS, ENOUGH_TO_COMPARE)

CODE: FindingCode = "cache_pollution"
HURTS = 1.2  # models C, 14: with the writes over without
FEWER = 0.9  # of the reads that were quick before are quick still, at the most [J]
QUICK = 2.0  # times what the fastest tenth took [J]
HELD = 0.7  # reads of the set over reads of what was never read: otherwise no cache holds it [J]
FORGETS, BUSY = 2.0, 2.0  # after the writes over before: reads of the set take more than that, others less [J]
LEAST_BYTES = 32 << 20  # written in order: less changes no cache [J]

HOT_MIB, WRITER_MIB = 32, 16 << 10  # at the most
AS_MUCH = 2.0  # times what was written when it was seen
COLD_BYTES, COLD_READS = 16 << 20, 96  # so few that hardly two of them meet in a line of a cache
HOT_READS = 200  # bounded: reads bring back what they miss
MOST_ROUNDS = 6  # with those of a second attempt; each on new ground, for caches learn what is used in every round
WRITE_BYTES, WARM_BYTES = 128 << 10, 1 << 20
PAUSE_S = 3.0  # for a device to end its writes


def detect(facts: Facts) -> Iterator[Finding]:
    """The same random reads before such writes and after, or alone and beside them; one finding tells."""
    run = facts.run
    for earlier, later in pairs_for(facts, ONLY):
        written = _written_between(run, earlier.record, later.record)
        if _at_random(earlier) and written >= LEAST_BYTES and (loss := _suffered(earlier, later)) is not None:
            yield _finding(later.record, loss, f"after {capacity(written)} of sequential writes", written)
            return
    for one, other in pairs_for(facts, ONLY, "together"):
        alone, beside = (one, other) if meets(one, ALONE) else (other, one)
        written = sum(_in_order(each) for each in beside.beside)
        loss = _suffered(alone, beside) if meets(alone, ALONE) and _at_random(alone) else None
        if loss is not None and written >= LEAST_BYTES:
            yield _finding(beside.record, loss, f"beside {capacity(written)} of sequential writes", written)
            return


class _Harm(Struct, frozen=True):
    """Means and shares of quick reads, without the writes and with them."""

    before_ns: float
    after_ns: float
    quick_before: float
    quick_after: float


def _at_random(row: RowFacts) -> bool:
    return not isinstance(row.workload.locality, Sequential | Stride)


def _in_order(record: PhaseRecord) -> int:
    """Bytes that a phase wrote in order."""
    if not isinstance(record.phase.workload.locality, Sequential):
        return 0
    return bytes_of(record.measurement, "write")


def _written_between(run: Run, earlier: PhaseRecord, later: PhaseRecord) -> int:
    """Bytes that all phases between two wrote in order, whether or not they are rows."""
    places = [at for at, each in enumerate(run.phases) if each is earlier or each is later]
    return sum(_in_order(each) for each in run.phases[places[0] + 1 : places[-1]])


def _suffered(before: RowFacts, after: RowFacts) -> _Harm | None:
    edge_ns = round(QUICK * before.response().quantile_ns(0.1))
    quick, left = (bucket_shares(each.response(), (edge_ns,))[0] for each in (before, after))
    harm = _Harm(before.mean_ns, after.mean_ns, quick, left)
    apart = times_ratio(before, after)  # of rows whose times scatter as much, a mean is a fifth longer by chance
    by_chance = apart.low is not None and apart.low <= 1
    return harm if harm.after_ns > HURTS * harm.before_ns and left < FEWER * quick and not by_chance else None


def _finding(record: PhaseRecord, harm: _Harm, when: str, written: int) -> Finding:
    return Finding(
        code=CODE,
        severity="warn",
        phase=record.phase.name,
        says=f"Reads slowed down from {brief_time(harm.before_ns)} to {brief_time(harm.after_ns)} {when}:"
        f" {brief_percent(harm.quick_before)} of them were quick before, {brief_percent(harm.quick_after)} then.",
        evidence={
            "before_ns": harm.before_ns,
            "after_ns": harm.after_ns,
            "ratio": harm.after_ns / harm.before_ns,
            "written_bytes": float(written),
        },
        remedy="Keep log writes and backups out of the cache, cap them, or give them separate storage.",
        hypothesis="sequential writes evicted the blocks of these reads from a cache",
        confidence=0.5,
        confirm="read a set until it is cached, write once through another region, and read the set again",
        state="suggested",
    )


class _Ground(Struct, frozen=True):
    """Where an experiment reads what is held, what was never read, and where it writes: apart from each other."""

    hot_bytes: int
    cold_start: int
    writer_start: int
    writer_bytes: int


def _ground(run: Run, written_bytes: float) -> _Ground | None:
    room = target_bytes(run)
    hot = mib_below(room / (4 * MOST_ROUNDS), HOT_MIB)
    cold_start = MOST_ROUNDS * hot
    writer_start = cold_start + 2 * MOST_ROUNDS * COLD_BYTES
    writer = mib_below(min(max(0, room - writer_start), AS_MUCH * written_bytes), WRITER_MIB)
    return _Ground(hot, cold_start, writer_start, writer) if hot and writer >= 2 * LEAST_BYTES else None


def confirm(run: Run, finding: Finding) -> Experiment | None:
    """What is held and what is not, before and after one pass of writes through a place of its own."""
    record = row_of(run, finding)
    ground = _ground(run, finding.evidence["written_bytes"])
    if ground is None:
        return None
    return Experiment(
        question="Do sequential writes elsewhere slow down cached reads, and only those?",
        arms=_arms(run, record, ground),
        keep_order=True,
        decision=Decision(statistic="mean", first="cached", other="cached, after", limit=FORGETS, direction="above"),
        also=(
            Decision(statistic="mean", first="not cached", other="cached", limit=HELD, direction="below"),
            Decision(statistic="p50", first="not cached", other="not cached, after", limit=BUSY, direction="below"),
        ),
        absence_proves=really_direct(run, record) or simulated(run),  # all of the host's memory is too much to write
        if_confirmed="Sequential writes evict from the cache what was read again and again.",
        if_rejected="Sequential writes do not evict these blocks from a cache.",
    )


def _arms(run: Run, record: PhaseRecord, ground: _Ground) -> tuple[Arm, ...]:
    load = record.phase.workload
    reads, once = (MixItem("read", load.mix[0].size_bytes),), Uniform(repeats=False)
    hot = Arm(
        name="cached",
        workload=Workload(mix=reads, direct=load.direct),
        seconds=2.0,
        ios=HOT_READS,
        region_size_bytes=ground.hot_bytes,
        step_bytes=ground.hot_bytes,
    )
    # Not in order: a cache that ignores scans would keep nothing of them, and is no worse for it.
    fill = Workload(mix=(MixItem("read", WARM_BYTES),), locality=once, direct=load.direct, depth=4)
    filling = replace(hot, name="filling", workload=fill, seconds=5.0, ios=None, bytes=ground.hot_bytes, measured=False)
    cold = Arm(
        name="not cached",
        workload=Workload(mix=reads, locality=once, direct=load.direct),
        seconds=2.0,
        ios=COLD_READS,
        region_start_bytes=ground.cold_start,
        region_size_bytes=COLD_BYTES,
        step_bytes=2 * COLD_BYTES,
    )
    further = replace(cold, name="not cached, after", region_start_bytes=ground.cold_start + COLD_BYTES)
    return filling, hot, cold, *_writing(run, load, ground), replace(hot, name="cached, after"), further


def _writing(run: Run, load: Workload, ground: _Ground) -> tuple[Arm, ...]:
    """Once through the place of the writer; a real device has time to end what it began."""
    writing = Arm(
        name="writing",
        workload=Workload(mix=(MixItem("write", WRITE_BYTES),), locality=Sequential(), direct=load.direct, depth=4),
        seconds=20.0,
        bytes=ground.writer_bytes,
        region_start_bytes=ground.writer_start,
        region_size_bytes=ground.writer_bytes,
        measured=False,
    )
    if simulated(run):
        return (writing,)
    quiet = Workload(mix=(MixItem("read", load.mix[0].size_bytes),), arrival=Constant(1.0), direct=load.direct)
    return writing, replace(writing, name="a pause", workload=quiet, seconds=PAUSE_S, bytes=None)
