"""The page cache of this machine answered instead of the device.

What it is: reads served from memory, or writes that only reached memory, while storage was to be measured.
Why it matters: memory is a hundred to ten thousand times faster than storage; even a few per cent of hits turn the
average into a figure of the cache.
How it shows: the device under the file system, or the disks below it, moved fewer bytes than the test did;
the test's files become resident in the page cache while it runs. A loop device keeps a page cache of its own
unless it was attached with direct I/O.
How to confirm: read the same blocks twice, buffered and direct, and compare the medians.
What to change: use direct I/O, drop the page cache first, or use ten times as much data as memory.
"""

from __future__ import annotations

from collections.abc import Iterator

from iocast.analyse.device_io import DEVICE_SHARE, DeviceIo
from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.load_kind import bytes_of, data_bytes
from iocast.analyse.places import RESHAPING_FILESYSTEMS, SHRINKING
from iocast.diagnose.evidence import MEMORY_FILESYSTEMS
from iocast.diagnose.preconditions import DIRECT, NO_DATABASE, REAL_DEVICE, Only, meets, rows_for
from iocast.model.codes import FindingCode
from iocast.model.experiment import Arm, Decision, Experiment
from iocast.model.finding import Finding
from iocast.model.run import Run
from iocast.model.workload import MixItem, Op, Sequential, Workload
from iocast.text import brief_percent, brief_time, capacity, sentence

NEEDS: tuple[str, ...] = ("diskstats", "pagecache")
# A statement is no read of the file system: see memory_test.
ONLY: Only = (REAL_DEVICE, NO_DATABASE)

CODES: tuple[FindingCode, ...] = ("cached_although_direct_was_claimed", "device_counters_stood_still", "page_cache")
MOSTLY_SHARE = 0.5  # below this the buffered figure is mostly the cache's [J]
QUICK_NS = 5_000  # models C, 1: p50 at depth 1
SAME_BLOCKS = 0.7  # models C, 1: buffered over direct
WARM_BYTES = 64 << 20
RISE_SHARE = 0.05  # of the files becoming resident (models, C 1: residency > 5 %)

DIRECT_REMEDY = "Check that the file is fully written and that its file system honours direct I/O; then run again."
LOOP_REMEDY = "Attach the loop device with direct I/O (losetup --direct-io=on), or measure the file system below it."
BUFFERED_REMEDY = "Use direct I/O to measure the storage, or ten times as much data as memory."


def detect(facts: Facts) -> Iterator[Finding]:
    """Measured phases that were answered by the page cache, in whole or in part."""
    if facts.run.plan.target.filesystem in MEMORY_FILESYSTEMS:
        return
    for row in rows_for(facts, ONLY):
        if meets(row, DIRECT):
            yield from _direct_but_cached(row)
        else:
            yield from _buffered_reads(row)
            yield from _buffered_writes(row)


def _direct_but_cached(row: RowFacts) -> Iterator[Finding]:
    record = row.record
    cache = row.residency if bytes_of(row.measurement, "read") else None
    if cache is not None and cache.rise_share > RISE_SHARE:
        clause = (
            f"the reads were not direct ({brief_percent(cache.rise_share)} of the test files entered the page cache"
            " during the row)"
        )
        yield Finding(
            code="cached_although_direct_was_claimed",
            severity="void",
            phase=record.phase.name,
            says=sentence(clause),
            clause=clause,
            evidence={"resident_rise_share": cache.rise_share},
            remedy=DIRECT_REMEDY,
        )
        return
    ops: tuple[Op, ...] = ("read", "write")
    shares = [(*share_and_device, op) for op in ops if (share_and_device := row.share_of_device(op)) is not None]
    if shares:
        share, device, op = min(shares, key=lambda each: each[0])
        if share < DEVICE_SHARE:
            yield _device_too_idle(row, share, device, op)


def _device_too_idle(row: RowFacts, share: float, device: DeviceIo, op: Op) -> Finding:
    run, record, top = row.run, row.record, row.under_filesystem
    if top is not None and top.stood_still:
        # Some stacks are simply not counted (NVMe multipath on older kernels, iostats=0): accuse no one.
        return Finding(
            code="device_counters_stood_still",
            severity="severe",
            phase=record.phase.name,
            says=f"The kernel counted no I/O on {top.layer} during the row: either a cache answered everything, or"
            " the kernel does not count this device.",
            evidence={"device_share": share},
            remedy="Check that /sys/block/*/queue/iostats is 1 and that the counters move while dd runs.",
        )
    shrinks = _what_shrinks(run)
    did, done = ("delivered", "read") if op == "read" else ("received", "wrote")
    on_top = top is None or device.layer == top.layer
    place = "the device" if on_top else f"{device.layer}, below {top.layer if top else 'it'},"
    loop = any(layer.kind == "loop" for layer in run.plan.target.layers)
    clause = (
        f"{place} {did} {_only(share)} of the bytes that the test {done} with direct I/O: the rest"
        + (" came from a cache on this machine or was never stored" if op == "read" else " stayed in a cache")
        + (f" ({shrinks} may also have compressed it)" if shrinks else "")
    )
    return Finding(
        code="cached_although_direct_was_claimed",
        severity="severe" if shrinks else "void",
        phase=record.phase.name,
        says=f"{clause}." if not on_top else sentence(clause),
        clause=clause,
        evidence={"device_share": share},
        remedy=LOOP_REMEDY if loop and not on_top else DIRECT_REMEDY,
    )


def _only(share: float) -> str:
    if not share:
        return "none"
    shown = brief_percent(share)
    return shown.replace("below", "less than") if shown.startswith("below") else f"only {shown}"


def _what_shrinks(run: Run) -> str:
    """The file system or the layer that may store less than it is given ("" for none)."""
    target = run.plan.target
    if target.filesystem in RESHAPING_FILESYSTEMS:
        return target.filesystem or ""
    kinds = [layer.kind for layer in target.layers if layer.kind in SHRINKING]
    return kinds[0] if kinds else ""


def _buffered_reads(row: RowFacts) -> Iterator[Finding]:
    yield from _from_the_cache(row, "read", "of the bytes read came from the page cache")
    yield from _unseen(row)


def _buffered_writes(row: RowFacts) -> Iterator[Finding]:
    yield from _from_the_cache(
        row,
        "write",
        "of the bytes written did not reach the device: they stayed in the page cache, or were overwritten there",
    )


def _from_the_cache(row: RowFacts, op: Op, what: str) -> Iterator[Finding]:
    record, share_and_device = row.record, row.share_of_device(op)
    if share_and_device is not None and share_and_device[0] < DEVICE_SHARE:
        share = share_and_device[0]
        yield Finding(
            code="page_cache",
            severity="severe" if share < MOSTLY_SHARE else "warn",
            phase=record.phase.name,
            says=f"{brief_percent(1 - share)} {what}.",
            evidence={"device_share": share},
            remedy=BUFFERED_REMEDY,
        )


def _unseen(row: RowFacts) -> Iterator[Finding]:
    """Buffered reads of which nobody counted what the device did: they look like memory, or may well be."""
    run, record, reads = row.run, row.record, row.response("read")
    if run.source is not None and {"direct", "users", "depth"} & {*record.unstated}:
        return
    if row.device_share_of_reads is not None or not reads.total:
        return
    quick = record.measurement.asked_depth == 1 and reads.quantile_ns(0.5) < QUICK_NS
    fits = 0 < data_bytes(record) < run.host.usable_memory_bytes
    if not quick and not fits:
        return
    why = [f"p50 is {brief_time(reads.quantile_ns(0.5))}"] if quick else []
    if data_bytes(record) and run.host.usable_memory_bytes:  # neither of what another tool measured
        why.append(
            f"{capacity(data_bytes(record))} of data {'fit into' if fits else 'exceed'}"
            f" {run.host.whose_memory} {capacity(run.host.usable_memory_bytes)} of memory"
        )
    yield Finding(
        code="page_cache",
        severity="severe",
        phase=record.phase.name,
        says=f"Buffered reads whose bytes at the device were not measured: {', and '.join(why)}.",
        evidence={"read_p50_ns": reads.quantile_ns(0.5), "data_bytes": float(data_bytes(record))},
        remedy=BUFFERED_REMEDY,
        hypothesis="the page cache answered",
        confidence=0.9 if quick else 0.6,
        confirm="read the same blocks buffered and with direct I/O, and compare the medians",
        state="suggested",
    )


def confirm(run: Run, finding: Finding) -> Experiment | None:
    """The same blocks buffered and direct, after they were read once."""
    record = next((each for each in run.measured if each.phase.name == finding.phase), None)
    if record is None or run.plan.target.direct is not True:
        return None
    size = min(data_bytes(record) // max(1, len(record.plan.files)), WARM_BYTES)
    read_bytes = max((item.size_bytes for item in record.phase.workload.mix if item.op == "read"), default=8192)
    once = Workload(mix=(MixItem("read", read_bytes),), locality=Sequential(), direct=False)
    buffered, direct = (Workload(mix=once.mix, direct=direct) for direct in (False, True))
    return Experiment(
        question="Are the same blocks quicker through the page cache than with direct I/O?",
        prepare=(Arm(name="once", workload=once, seconds=10.0, bytes=size, region_size_bytes=size),),
        arms=(
            Arm(name="buffered", workload=buffered, seconds=1.0, region_size_bytes=size, same_offsets=True),
            Arm(name="direct", workload=direct, seconds=1.0, region_size_bytes=size, same_offsets=True),
        ),
        decision=Decision(statistic="p50", first="direct", other="buffered", limit=SAME_BLOCKS, direction="below"),
        if_confirmed="The page cache answers.",
        if_rejected="The page cache makes no difference.",
    )
