"""The storage compresses or deduplicates, or does not store zeros.

What it is: a layer that shrinks data before they reach the medium, or leaves out zeros and blocks that it already has.
Why it matters: test data (zeros, one block repeated) shrink far more than data of a database, and the figures rise
with it.
How it shows: the same writes are quicker with zeros, or with one block repeated, than with unique data.
How to confirm: write zeros, one block repeated, half-compressible and unique data in turns to the same blocks.
What to change: test with unique, incompressible data, or with the reduction ratio of production.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from iocast.analyse.facts import Facts, RowFacts
from iocast.diagnose.evidence import bytes_ratio, row_of
from iocast.diagnose.preconditions import (
    ENOUGH_TO_COMPARE,
    NOT_SHORT_OF_CPU,
    ONLY_WRITES,
    REAL_DEVICE,
    Only,
    meets,
    pairs_for,
)
from iocast.diagnose.same_load import mib_below, target_bytes
from iocast.model.codes import FindingCode
from iocast.model.experiment import Arm, Decision, Experiment
from iocast.model.finding import Finding
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import Compressible, MixItem, Payload, Repeated, Sequential, Unique, Zeros
from iocast.text import brief_throughput, number

NEEDS: tuple[str, ...] = ()
ONLY: Only = (ONLY_WRITES, ENOUGH_TO_COMPARE, NOT_SHORT_OF_CPU)

CODE: FindingCode = "compression_or_deduplication"
FACTOR = 1.1  # models C, 10
SUGGESTS = 1.2  # of one pair, whose ratio is not exact [J]
# Less than that where the times do not overlap: nearly all I/Os of one row are quicker than nearly all of the
# other. The interval of the ratio would not do: it knows nothing of what changed between the rows. [J]
QUICKEST, SLOWEST = 0.05, 0.95
BUSY_MAKING = 0.5  # of a processor: then it is the making of unique data that takes long [J]
KINDS: dict[str, Payload] = {
    "unique data": Unique(),
    "zeros": Zeros(),
    "one block repeated": Repeated(),
    "half-compressible data": Compressible(50.0),
}


def detect(facts: Facts) -> Iterator[Finding]:
    """Rows that wrote the same with other data, and were quicker than with unique data."""
    best: tuple[float, RowFacts, RowFacts] | None = None
    for one, other in pairs_for(facts, ONLY, "payload"):
        plain = [each for each in (one, other) if isinstance(each.workload.payload, Unique)]
        if not plain:
            continue
        unique, same = plain[0], other if plain[0] is one else one
        busy = unique.measurement.cpu_user_ns / max(1, unique.measurement.elapsed_ns)
        ratio, apart = same.measurement.bytes_per_s / unique.measurement.bytes_per_s, bytes_ratio(unique, same)
        carried = (apart.ratio if apart.low is None else apart.low) > FACTOR
        is_reduced = ratio > SUGGESTS or _do_not_overlap(unique, same)
        if (
            carried
            and is_reduced
            and (busy < BUSY_MAKING or not meets(unique, REAL_DEVICE))
            and (best is None or ratio > best[0])
        ):
            best = (ratio, unique, same)
    if best is not None:
        yield _finding(*best)


def _do_not_overlap(unique: RowFacts, same: RowFacts) -> bool:
    return same.service().quantile_ns(SLOWEST) < unique.service().quantile_ns(QUICKEST)


def _finding(ratio: float, unique: RowFacts, same: RowFacts) -> Finding:
    fast, slow = same.measurement.bytes_per_s, unique.measurement.bytes_per_s
    passes = unique.bytes_written / max(1, unique.data_bytes)
    return Finding(
        code=CODE,
        severity="severe",
        phase=same.name,
        says=f"{_kind(same.record).capitalize()} were written {number(ratio)} times as fast as unique data:"
        f" {brief_throughput(fast)} against {brief_throughput(slow)}.",
        evidence={
            "ratio": ratio,
            "bytes_per_s": fast,
            "unique_bytes_per_s": slow,
            "passes": passes,  # over its blocks: from the second on no write is the first of a block
            "p50_ratio": unique.p50_ns / same.p50_ns,
        },
        remedy="Test with unique, incompressible data, or with the reduction ratio of production.",
        hypothesis="a layer compresses or deduplicates, or does not store zeros",
        confidence=0.7,
        confirm="write zeros, one block repeated, half-compressible and unique data in turns",
        state="suggested",
    )


def _kind(record: PhaseRecord) -> str:
    match record.phase.workload.payload:
        case Zeros():
            return "zeros"
        case Repeated():
            return "copies of one block"
        case _:
            return "compressible data"


def confirm(run: Run, finding: Finding) -> Experiment | None:
    """The same writes with four kinds of data, to blocks that were written before."""
    size = mib_below(target_bytes(run) / 4, 64)
    if not size:
        return None
    start = target_bytes(run) * 3 // 4 >> 20 << 20
    load = row_of(run, finding).phase.workload
    # As the rows were written: some layers shrink only what passes the page cache.
    before = replace(load, mix=(MixItem("write", min(size, 1 << 20)),), locality=Sequential(), payload=Unique())
    arms = [
        Arm(
            name=name,
            workload=replace(load, payload=payload),
            seconds=1.5,
            region_start_bytes=start,
            region_size_bytes=size,
        )
        for name, payload in KINDS.items()
    ]
    unique, *others = KINDS
    return Experiment(
        question="Are compressible or dedupable data written faster than unique data?",
        prepare=(
            Arm(
                name="writing",
                workload=before,
                seconds=5.0,
                bytes=size,
                region_start_bytes=start,
                region_size_bytes=size,
            ),
        ),
        arms=tuple(arms),
        decision=Decision(
            statistic="bytes_per_s",
            first=unique,
            other=others[0],
            or_others=tuple(others[1:]),
            limit=FACTOR,
            direction="above",
        ),
        if_confirmed="The write rate depends on the data: something below compresses or deduplicates them.",
        if_rejected="The data make no difference.",
    )
