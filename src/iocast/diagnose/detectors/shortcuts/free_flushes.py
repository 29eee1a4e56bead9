"""Flushes cost nothing: a write cache that forgets nothing when the power fails, or a lie.

What it is: a drive that says that its write cache is volatile ("write back"), and completes flushes in no time; or a
file system that sends no flush to it at all.
Why it matters: a database trusts a commit because it was flushed. Behind a protected cache (battery, capacitors) that
is right, and the times are real; else a power failure loses commits that were acknowledged.
How it shows: the device counts flushes, and they take less than 100 µs on average, or less than 1 ms and a third of
what a write takes (a volatile cache makes writes quick and flushes slow); or many fsyncs are made, and the
device counts none.
How to confirm: only a power failure can tell: write verified data, cut the power, and read them back (`iocast verify`).
What to change: nothing where the cache is known to be protected; else switch on barriers, or choose a cache mode of the
virtual disk that passes flushes on (not "unsafe").
"""

from __future__ import annotations

from collections.abc import Iterator

from iocast.analyse.facts import Facts, RowFacts
from iocast.diagnose.evidence import MEMORY_KINDS
from iocast.diagnose.preconditions import ALONE, MEASURED_HERE, NOT_DURABLE, REAL_DEVICE, Only, meets, rows_for
from iocast.model.codes import FindingCode
from iocast.model.finding import Finding
from iocast.text import brief_time, number

NEEDS: tuple[str, ...] = ("diskstats",)
ONLY: Only = (MEASURED_HERE, REAL_DEVICE, ALONE)

CODE: FindingCode = "flushes_cost_nothing"
FREE_NS = 100_000  # on average: a medium, and most of what lies on the way to one, takes longer [J]
QUICK_NS, OF_A_WRITE = 1_000_000, 1 / 3  # less than both: what was written was not in a volatile cache [J]
ENOUGH = 50  # flushes [J]
FEW = 0.02  # of the fsyncs must have reached the device, or a cache above swallowed them [J]
VOLATILE = "write back"


def detect(facts: Facts) -> Iterator[Finding]:
    """The first row of commits whose flushes were free, or never came."""
    kinds = {layer.name: layer for layer in facts.run.plan.target.layers}
    if any(layer.kind in MEMORY_KINDS for layer in kinds.values()):
        return
    for row in rows_for(facts, ONLY):
        device = row.under_filesystem
        layer = kinds.get(device.layer) if device is not None else None
        if device is None or layer is None or layer.write_cache != VOLATILE:
            continue
        syncs = sum(part.ios for part in row.measurement.classes if part.op in ("fsync", "fdatasync"))
        done = device.flushes
        if done is not None and syncs >= ENOUGH and done < FEW * syncs:
            yield _finding(row, f"{number(syncs)} flushes were asked for, and {number(done)} reached {layer.name}", 0.0)
            return
        if not meets(row, NOT_DURABLE) and done and done >= ENOUGH and device.flush_ns is not None:
            each_ns = device.flush_ns / done
            quick = each_ns < min(QUICK_NS, OF_A_WRITE * (device.write_await_ns or 0.0))
            if each_ns < FREE_NS or quick:
                yield _finding(row, f"{number(done)} flushes took {brief_time(each_ns)} each at {layer.name}", each_ns)
                return


def _finding(row: RowFacts, what: str, each_ns: float) -> Finding:
    return Finding(
        code=CODE,
        severity="note",
        phase=row.name,
        says=(
            f"{what}, although its write cache is reported as volatile: either the cache is protected against power"
            " failure or holds no writes, or commits may be at risk; the counters cannot tell which."
        ),
        evidence={"flush_ns": each_ns},
        remedy="Ask the maker whether the cache is protected; test it with `iocast verify` and a power failure.",
    )
