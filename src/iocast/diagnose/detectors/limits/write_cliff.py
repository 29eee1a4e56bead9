"""Write cliff: the write rate fell once an SLC area or a write cache was full.

What it is: drives keep part of their flash in a fast mode (SLC); arrays and controllers acknowledge writes from
memory. Both have a fixed size, and writes are slower once it is full.
Why it matters: a larger load or restore runs at the rate beyond the cliff; a short test never reaches it.
How it shows: the write rate falls for good after a certain volume, 64 MiB or more, whatever the rate; reads stay as
quick. After less, or where the rate comes back while writes go on, it was something else: a neighbour, or maintenance.
In rows of three seconds, a fall to half or less counts where no row of reads was uneven.
How to confirm: writes are slow after the volume, but not after the same time without it, so that the order of the test
decides nothing; and reads do not slow down with the writes.
What to change: write twice the device's capacity (or four times the cache) before trusting a write rate.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.levels import SIZE_APART, counts
from iocast.analyse.load_kind import bytes_of, simulated
from iocast.analyse.rate_drops import Drop
from iocast.diagnose.evidence import row_of
from iocast.diagnose.preconditions import (
    ALONE,
    CLOSED_LOOP,
    NEVER_STILL,
    NOT_SHORT_OF_CPU,
    ONLY_WRITES,
    Only,
    meets,
    rows_for,
)
from iocast.model.codes import FindingCode
from iocast.model.experiment import Arm, Decision, Experiment
from iocast.model.finding import Finding, Span
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import Constant, MixItem, Workload
from iocast.text import brief_throughput, brief_time, capacity

NEEDS: tuple[str, ...] = ()
ONLY: Only = (CLOSED_LOOP, ONLY_WRITES)

CODE: FindingCode = "write_cliff"
SLOWER, READS_KEEP = 0.7, 0.7  # writes beyond the cliff, and reads, over those before it [J]
LEAST_VOLUME = 64 << 20  # caches are larger: after less, as of commits to disks, something else took the rate [J]
LEAST_OF_ROW = 16 << 20  # of the row itself, where it began at the speed before: the same, of commits to disks [J]
IDLE_S = (20.0, 120.0)  # at least, at most [J]
AT_THROUGHPUT = 0.05  # throughputs nearer to each other are the same [J]
MORE = 2.0  # times the throughput beyond a cliff: no writes do that before there is room again [J]
READS_LEVEL = 0.7  # of the fastest interval of a row of reads, where nobody else took from it [J]
MADE_ROOM = 3.0  # what an idle time frees, at the speed beyond the cliff, over what is written before it comes [J]
WRITES_S, READS_S = 0.25, 0.5
READ_BYTES = 8192
OBSERVATIONS = 3
OBSERVED_PART, LEAST_TURNS = 0.25, 4  # of the volume; I/Os of each outstanding one [J]
DRAIN_MORE = 1.5


def detect(facts: Facts) -> Iterator[Finding]:
    """Rows of writes whose rate fell for good."""
    phases = facts.run.phases
    for row in rows_for(facts, ONLY):
        drop = row.drop or _short(facts, row)
        if drop is None or _came_back(row, drop):
            continue
        earlier = sum(bytes_of(each.measurement, "write") for each in phases[: phases.index(row.record)])
        if drop.bytes + earlier >= LEAST_VOLUME and (drop.in_first or drop.bytes >= LEAST_OF_ROW):
            yield _finding(row.record, drop, earlier)


def _short(facts: Facts, row: RowFacts) -> Drop | None:
    """A fall in a row of few intervals, where reads went on at their levels: a neighbour takes from them as well. Or
    to a throughput that later writes of quite another size keep, whatever reads met."""
    fall = row.short_drop if meets(row, ALONE, NOT_SHORT_OF_CPU, NEVER_STILL) else None
    others = (each for each in rows_for(facts, (ALONE,)) if not each.workload.writes)
    if fall is None or not (_keeps_throughput(row, fall) or not any(map(_uneven, others))):
        return None
    return fall


def _later_writes(row: RowFacts) -> Iterator[RowFacts]:
    rows = row.facts.rows
    return (each for each in rows[rows.index(row) + 1 :] if meets(each, ONLY_WRITES) and counts(each))


def _keeps_throughput(row: RowFacts, fall: Drop) -> bool:
    """Whether later writes of quite another size go, all the time, at the throughput that the row ends with."""
    size = fall.bytes / max(1, fall.ios)
    for each in () if fall.in_last else _later_writes(row):
        other, series = each.measurement.bytes / each.measurement.ios, each.record.series
        per_s = [value * 1e9 / series.interval_ns for value in series.bytes]
        apart = max(other / size, size / other) >= SIZE_APART
        if apart and per_s and all(abs(one / (fall.after_per_s * size) - 1) <= AT_THROUGHPUT for one in per_s):
            return True
    return False


def _came_back(row: RowFacts, fall: Drop) -> bool:
    """Whether later writes moved far more than is left beyond a cliff, and than quiet times may have freed."""
    after = fall.after_per_s * fall.bytes / max(1, fall.ios)
    before, room, phases = row.measurement, float(LEAST_VOLUME), row.run.phases
    for each in map(row.facts.row, phases[phases.index(row.record) + 1 :]):
        did = each.measurement
        idle_ns = max(0, did.started_unix_ns - before.started_unix_ns - before.elapsed_ns)
        room += MADE_ROOM * after * idle_ns / 1e9
        if each.bytes_written > MORE * after * did.elapsed_ns / 1e9 + room:
            return True
        room, before = max(0.0, room + MADE_ROOM * after * did.elapsed_ns / 1e9 - each.bytes_written), did
    return False


def _uneven(row: RowFacts) -> bool:
    rates = row.rates_per_s
    return bool(rates) and min(rates) < READS_LEVEL * max(rates)


def _finding(record: PhaseRecord, drop: Drop, earlier_bytes: int) -> Finding:
    size, least = drop.bytes / max(1, drop.ios), "at least " if drop.in_first else ""
    return Finding(
        code=CODE,
        severity="warn",
        phase=record.phase.name,
        says=f"{_when(drop)}, the write rate {'had fallen' if drop.in_first else 'fell'} from {least}"
        f"{brief_throughput(drop.before_per_s * size)} to {brief_throughput(drop.after_per_s * size)}"
        f"{' or less' if drop.in_last else ''}.",
        evidence={
            "at_ns": float(drop.at_ns),
            "volume_bytes": float(drop.bytes + earlier_bytes),
            "before_bytes_per_s": drop.before_per_s * size,
            "after_bytes_per_s": drop.after_per_s * size,
            "after_per_s": drop.after_per_s,
            "constant": drop.constant,
        },
        remedy="Write twice the device's capacity (or four times its cache) before trusting a write rate.",
        hypothesis="the SLC area of the flash, or a write cache, is full",
        confidence=0.6,
        confirm="write the same volume again, with writes and reads before and after, and after such a time without it",
        state="suggested",
        spans=(Span(drop.at_ns, record.measurement.elapsed_ns),),
    )


def _when(drop: Drop) -> str:
    """At which time and after how much; what fell in the first interval had fallen at its end."""
    at, volume = f"t={brief_time(drop.at_ns)}", capacity(drop.bytes)
    return f"By {at}, after at most {volume}" if drop.in_first else f"At {at}, after {volume}"


def confirm(run: Run, finding: Finding) -> Experiment | None:
    """Writes and reads, as long a time of reads alone as the volume takes, writes again, then so much that the cliff
    must come, and both again. What the time or the order of the arms does, a drift or a neighbour, it does to writes
    after the time without the volume too."""
    record = row_of(run, finding)
    load, evidence = record.phase.workload, finding.evidence
    start, size = record.phase.region_start_bytes, record.phase.region_size_bytes
    reads = Workload(mix=(MixItem("read", READ_BYTES),), direct=load.direct)
    quiet = Workload(mix=reads.mix, arrival=Constant(1.0), direct=load.direct)
    drain_s = DRAIN_MORE * (evidence["volume_bytes"] / evidence["before_bytes_per_s"]) + 2.0

    def observed(name: str, workload: Workload) -> list[Arm]:
        writes = workload is load
        arm = Arm(
            name=name,
            workload=workload,
            seconds=WRITES_S if writes else READS_S,
            bytes=_observed_bytes(record, evidence) if writes else None,
            region_start_bytes=start,
            region_size_bytes=size,
        )
        return [arm] * OBSERVATIONS

    def passing(name: str, workload: Workload) -> Arm:
        return replace(observed(name, workload)[0], seconds=drain_s, bytes=None, measured=False)

    return Experiment(
        question="Do writes, and only writes, slow down after that volume, and not after that time?",
        prepare=() if simulated(run) else (Arm(name="idle", workload=quiet, seconds=_idle_s(evidence)),),
        arms=(
            *observed("reads before", reads),
            *observed("writes first", load),
            passing("the same time without writes", quiet),
            *observed("writes before", load),
            passing("writing", load),
            *observed("writes beyond", load),
            *observed("reads beyond", reads),
        ),
        rounds=1,
        keep_order=True,
        decision=Decision(
            statistic="bytes_per_s", first="writes before", other="writes beyond", limit=SLOWER, direction="below"
        ),
        also=(
            Decision(
                statistic="bytes_per_s", first="writes first", other="writes before", limit=SLOWER, direction="above"
            ),
            Decision(
                statistic="bytes_per_s", first="reads before", other="reads beyond", limit=READS_KEEP, direction="above"
            ),
        ),
        if_confirmed="Write cliff: after that volume writes are slow, after that time alone they are not, and reads are"
        " unchanged.",
        if_rejected="The volume written does not explain it: writes keep their rate.",
        if_split="reads fell too, or writes did after that time alone, which a write cliff does not explain",
    )


def _observed_bytes(record: PhaseRecord, evidence: dict[str, float]) -> int:
    """So little that all observations before the cliff are a small part of the volume: quick flash writes it in a
    second. No less than a few I/Os of each outstanding one."""
    did = record.measurement
    least = LEAST_TURNS * max(1, did.asked_depth) * did.bytes / max(1, did.ios)
    return round(max(least, evidence["volume_bytes"] * OBSERVED_PART / (2 * OBSERVATIONS)))


def _idle_s(evidence: dict[str, float]) -> float:
    """So long that what is fast has room again: it is emptied about as fast as writes go that find it full."""
    written_s = OBSERVATIONS * WRITES_S * evidence["before_bytes_per_s"] / max(1.0, evidence["after_bytes_per_s"])
    return min(IDLE_S[1], max(IDLE_S[0], MADE_ROOM * written_s))
