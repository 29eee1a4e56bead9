"""The network round trip, not the storage, sets the shortest time of an I/O.

What it is: a network between this machine and the storage: each I/O, whatever its size or kind, crosses it twice.
Why it matters: a database that waits for one I/O after another does at most one in each round trip. Faster storage
behind the network does not help; more outstanding I/Os do.
How it shows: the storage is reached over a network, and the quickest small reads and the quickest small writes take
about as long, though they have nothing else in common; the median read takes hardly longer. How much of that is the
network, and how much the least time that the other side needs, is unknown from here.
How to confirm: it is counted. For the round trip alone, ask ping, or TCP's estimate (ss -ti), for the storage's
address.
What to change: move the database nearer to its storage, or keep more I/Os outstanding.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from iocast.analyse.facts import Facts
from iocast.diagnose.preconditions import CLOSED_LOOP, MEASURED_HERE, PAST_THE_HOST, Only, applies, rows_for
from iocast.model.codes import FindingCode
from iocast.model.finding import Finding
from iocast.model.measurement import ClassResult
from iocast.model.run import PhaseRecord
from iocast.model.target import NETWORK_FILESYSTEMS, Target
from iocast.model.workload import Op
from iocast.text import brief_time, number

NEEDS: tuple[str, ...] = ()
ONLY: Only = (MEASURED_HERE, CLOSED_LOOP, PAST_THE_HOST)

CODE: FindingCode = "round_trip_floor"
NETWORK_KINDS = frozenset({"nbd", "rbd", "drbd"})
OVER_FABRICS = "NVMe over"  # as the link of a layer says it
SMALL_BYTES = 16 << 10  # larger ones take their time on the wire [J]
ENOUGH = 100  # I/Os of a class: else the quickest is not the quickest there can be [J]
ALIKE = 1.5  # the floors of reads and of writes [J]
MOSTLY = 0.67  # of the median read one at a time: less is no question of the network [J]


def detect(facts: Facts) -> Iterator[Finding]:
    """One finding for the run when reads and writes share a floor that is most of what a read takes."""
    if not applies(facts, ONLY) or not over_a_network(facts.run.plan.target):
        return
    rows = [row.record for row in rows_for(facts, ONLY)]
    reads, writes = _floor_ns(rows, "read"), _floor_ns(rows, "write")
    alone = min((_median_ns(row) for row in rows if row.measurement.asked_depth == 1), default=math.inf)
    if reads is None or writes is None:
        return
    floor_ns = min(reads, writes)
    if max(reads, writes) > ALIKE * floor_ns or floor_ns < MOSTLY * alone:
        return
    yield Finding(
        code=CODE,
        severity="note",
        phase="",
        says=(
            f"Reads took at least {brief_time(reads)}, writes at least {brief_time(writes)}: most of a read at 1x1 (p50"
            f" {brief_time(alone)}) is the network round trip and the least time that the other side needs."
        ),
        evidence={
            "read_floor_ns": reads,
            "write_floor_ns": writes,
            "read_p50_ns": alone,
            "most_per_s": 1e9 / floor_ns,
        },
        remedy=(
            f"One outstanding I/O gives at most {number(1e9 / floor_ns)} IOPS this way: move nearer to the storage, or"
            " keep more I/Os outstanding."
        ),
    )


def over_a_network(target: Target) -> bool:
    """Whether the kernel says that a network lies in between."""
    if target.filesystem in NETWORK_FILESYSTEMS:
        return True
    return any(each.kind in NETWORK_KINDS or (each.link or "").startswith(OVER_FABRICS) for each in target.layers)


def _floor_ns(rows: list[PhaseRecord], op: Op) -> float | None:
    """The quickest of the small I/Os of one operation."""
    parts = [part for row in rows for part in row.measurement.classes if _counts(part, op)]
    return min((part.service.least_ns for part in parts), default=None)


def _median_ns(row: PhaseRecord) -> float:
    """The median of its small reads; no limit where it has none."""
    parts = [part for part in row.measurement.classes if _counts(part, "read")]
    return min((part.service.quantile_ns(0.5) for part in parts), default=math.inf)


def _counts(part: ClassResult, op: Op) -> bool:
    return part.op == op and 0 < part.size_bytes <= SMALL_BYTES and part.ios >= ENOUGH
