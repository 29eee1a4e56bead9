"""Faster than this machine's memory, than a link on the way, or than any device could answer.

What it is: a result that the hardware below the test cannot have produced.
Why it matters: something else answered: a cache, a hole in a file, a broken clock. No statistics can rescue it.
How it shows: throughput above what memory or a link can carry; answers in less time than a command takes to reach a
device and come back.
How to confirm: count the bytes at the device; make the data set ten times larger and watch the figure fall.
What to change: direct I/O, files written in full with unique data, more data than every cache on the way.
"""

from __future__ import annotations

from collections.abc import Iterator

from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.load_kind import MOVING, bytes_per_s_of
from iocast.diagnose.evidence import MEMORY_FILESYSTEMS, MEMORY_KINDS, memory_words
from iocast.diagnose.limits.links import links_used
from iocast.diagnose.preconditions import DIRECT, REAL_DEVICE, Only, applies, meets
from iocast.diagnose.thresholds import LINK_AT_MOST
from iocast.model.codes import FindingCode
from iocast.model.finding import Finding
from iocast.model.run import PhaseRecord, Run
from iocast.model.target import Target
from iocast.text import brief_percent, brief_throughput, brief_time, number, sentence

NEEDS: tuple[str, ...] = ()
ONLY: Only = (REAL_DEVICE,)

CODES: tuple[FindingCode, ...] = (
    "memory_file_system",
    "memory_device",
    "faster_than_memory",
    "faster_than_the_link",
    "too_quick_for_a_device",
)
MEMORY_SHARE = 0.9  # of the copy bandwidth of all cores (models, C 1c)
MOSTLY = 0.5  # of the bytes, before the row is called memory's
FASTEST_DEVICE_NS = 5_000  # median at depth 1 (models, C 1)

REMEDY = "Use direct I/O on files written in full with unique data, and more data than any cache on the way holds."


def detect(facts: Facts) -> Iterator[Finding]:
    """Results of measured phases that cannot be true of a storage device."""
    run = facts.run
    if not applies(facts, ONLY):
        return
    if run.plan.target.filesystem in MEMORY_FILESYSTEMS:
        yield _memory_filesystem(run.plan.target)
        return
    yield from _memory_device(run.plan.target)
    for row in facts.rows:
        yield from _faster_than_memory(run, row.record)
        yield from _faster_than_link(run, row.record)
        yield from _too_quick(row)


def _memory_filesystem(target: Target) -> Finding:
    return Finding(
        code="memory_file_system",
        severity="severe",
        phase="",
        says=f"{memory_words(target)}: these figures are memory's, not storage's.",
        remedy="Choose a path on the storage that the database will use.",
    )


def _memory_device(target: Target) -> Iterator[Finding]:
    memory = memory_words(target)
    if memory:
        yield Finding(
            code="memory_device",
            severity="severe",
            phase="",
            says=f"{memory}: these figures are memory's, not storage's.",
            remedy="Choose a path on the storage that the database will use.",
        )


def _faster_than_memory(run: Run, record: PhaseRecord) -> Iterator[Finding]:
    one_core = run.host.memory_bytes_per_s
    if not one_core:
        return
    # One core's bandwidth times the cores is more than any machine has, so this never accuses wrongly.
    ceiling = one_core * run.host.cpus
    did = record.measurement
    moved_per_s = sum(bytes_per_s_of(did, op) for op in MOVING)  # a trim names bytes and moves none
    if moved_per_s > MEMORY_SHARE * ceiling:
        clause = (
            f"{brief_throughput(moved_per_s)} did not come from storage, as it is"
            f" {brief_percent(moved_per_s / ceiling)}"
            f" of what all cores of this machine can copy in memory ({brief_throughput(ceiling)})"
        )
        yield Finding(
            code="faster_than_memory",
            severity="void",
            phase=record.phase.name,
            says=sentence(clause),
            clause=clause,
            evidence={"bytes_per_s": moved_per_s, "memory_bytes_per_s": float(ceiling)},
            remedy=REMEDY,
        )


def _faster_than_link(run: Run, record: PhaseRecord) -> Iterator[Finding]:
    for used in links_used(record, run.plan.target):
        if used.share <= LINK_AT_MOST:
            continue
        ceiling, beyond = used.links.bytes_per_s, 1 - 1 / used.share  # of the bytes did not come by the links
        by = "impossible, memory answered" if beyond > MOSTLY else "a cache on this side of it answered"
        clause = (
            f"{used.op}s ran at {brief_throughput(used.bytes_per_s)}, {number(100 * (used.share - 1))}% above the"
            f" {brief_throughput(ceiling)} that {used.links.words}: {by} at least {brief_percent(beyond)} of them"
        )
        yield Finding(
            code="faster_than_the_link",
            severity="void",
            phase=record.phase.name,
            says=sentence(clause),
            clause=clause,
            evidence={
                "bytes_per_s": used.bytes_per_s,
                "link_bytes_per_s": float(ceiling),
                "paths": float(len(used.links.speeds)),
            },
            remedy=REMEDY,
        )


def _too_quick(row: RowFacts) -> Iterator[Finding]:
    record, layers = row.record, row.run.plan.target.layers
    if not meets(row, DIRECT) or not layers or any(layer.kind in MEMORY_KINDS for layer in layers):
        return
    reads = row.service("read")
    if record.phase.workload.depth > 1 or not reads.total:
        return
    median_ns = reads.quantile_ns(0.5)
    if median_ns < FASTEST_DEVICE_NS:
        clause = (
            f"memory answered the direct reads, whose p50 at queue depth 1 is {brief_time(median_ns)}: a command needs"
            f" {brief_time(FASTEST_DEVICE_NS)} to reach a device and come back"
        )
        yield Finding(
            code="too_quick_for_a_device",
            severity="void",
            phase=record.phase.name,
            says=sentence(clause),
            clause=clause,
            evidence={"read_p50_ns": median_ns, "floor_ns": float(FASTEST_DEVICE_NS)},
            remedy=REMEDY,
        )
