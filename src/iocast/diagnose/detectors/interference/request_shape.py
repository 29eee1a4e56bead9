"""Requests change size on the way: neighbouring ones are merged, or one is split.

What it is: the block layer, a file system or the page cache merges small adjacent I/Os (consolidation), or the block
layer splits a large one at max_sectors_kb, at the number of segments (a buffer of 4 KiB pages needs one for each page),
or where a file is scattered (fragmentation).
Why it matters: merged writes say nothing of single ones; split ones cost several times the work, and a limit of the
host looks like slow storage.
How it shows: the device's requests are more than 1.2 times as large as the test's, or a twentieth of them was merged;
or the device did more than 1.25 times as many, at 128 KiB and above, for the same bytes, and small I/O of others cannot
have added that many. Both ends are counted.
How to confirm: it is counted. Sizes from 64 KiB up show steps where the limit is.
What to change: merged: O_DSYNC, random offsets, nomerges=2 for the test. Split: raise max_sectors_kb, use huge pages
for buffers, align, lay files out in one extent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from iocast.analyse.device_io import DeviceIo
from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.load_kind import bytes_of, is_synced, really_direct
from iocast.analyse.places import PAGE_BYTES
from iocast.diagnose.preconditions import ALONE, DIRECT, MEASURED_HERE, SOME_IOS, Only, meets, rows_for
from iocast.model.codes import FindingCode
from iocast.model.finding import Finding
from iocast.model.run import PhaseRecord, Run
from iocast.text import brief_percent, capacity, number

NEEDS: tuple[str, ...] = ("diskstats",)
ONLY: Only = (MEASURED_HERE, ALONE, SOME_IOS)

MERGED: FindingCode = "consolidation"
SPLIT: FindingCode = "splitting"
CODES = (MERGED, SPLIT)
LARGER, MERGES = 1.2, 0.05  # models C, 4
MORE, LARGE_BYTES = 1.25, 128 << 10  # models C, 5
SAME_BYTES = (0.95, 1.10)
LATE = 0.05  # of what was written buffered must have reached the device, to say how it did [J]
NEAR = 0.1  # of a whole number of pieces
LATER = "gathered in the page cache"
UNEXPLAINED = ": no queue limit explains it, so the file may be fragmented"


def detect(facts: Facts) -> Iterator[Finding]:
    """Rows of one operation of one size whose requests are of another size at the device."""
    for row in rows_for(facts, ONLY):
        mix = row.workload.mix
        if len(mix) != 1 or mix[0].op not in ("read", "write") or not _reaches_device(row):
            continue
        device = _whole_device(row)
        if device is not None:
            yield from _judge(facts.run, row.record, device)


def _reaches_device(row: RowFacts) -> bool:
    return meets(row, DIRECT) or row.workload.mix[0].op == "write"


def _whole_device(row: RowFacts) -> DeviceIo | None:
    """What lies right under the file system, where nothing above may have reshaped what it was given."""
    device = row.under_filesystem
    top = row.places[0] if row.places else None
    if device is None or top is None or top.spread or top.cached or top.io.layer != device.layer:
        return None
    return device


def _judge(run: Run, record: PhaseRecord, device: DeviceIo) -> Iterator[Finding]:
    item, did = record.phase.workload.mix[0], record.measurement
    moved, requests = (
        (device.read_bytes, device.reads) if item.op == "read" else (device.written_bytes, device.data_writes)
    )
    own_bytes, own = bytes_of(did, item.op), sum(part.ios for part in did.classes if part.op == item.op)
    if not moved or not requests or not own or not own_bytes:
        return
    # What is written through the page cache reaches the device later, and only a part of it while the row runs.
    late = item.op == "write" and not is_synced(record) and not really_direct(run, record)
    if not (LATE if late else SAME_BYTES[0]) <= moved / own_bytes <= SAME_BYTES[1]:
        return
    size, more = moved / requests, requests / own
    figures = {"size_bytes": item.size_bytes, "device_size_bytes": size, "requests_per_io": more}
    merges = (device.reads_merged if item.op == "read" else device.writes_merged) or 0
    merged = merges / (merges + requests)
    if late:
        if size / item.size_bytes > LARGER:
            yield _merged(record, device, figures | {"merged_share": merged}, LATER)
    elif size / item.size_bytes > LARGER or (more <= 1.0 and merged > MERGES):
        yield _merged(record, device, figures | {"merged_share": merged})
    elif more > MORE and item.size_bytes >= LARGE_BYTES:
        # Requests beyond the test's own may be small ones of others, as many as the bytes beyond its own allow.
        others = max(0, moved - own_bytes) / PAGE_BYTES
        if _why(run, figures) or (requests - others) / own > MORE:
            yield _split(run, record, device, figures)


def _merged(record: PhaseRecord, device: DeviceIo, figures: dict[str, float], why: str = "") -> Finding:
    writes = is_synced(record)
    how = why or f"{brief_percent(figures['merged_share'])} merged"
    return Finding(
        code=MERGED,
        severity="severe" if writes else "warn",
        phase=record.phase.name,
        says=(
            f"I/Os of {capacity(figures['size_bytes'])} reached {device.layer} as requests of"
            f" {capacity(figures['device_size_bytes'])} ({how}): the row does"
            " not measure single I/Os."
        ),
        evidence=figures,
        remedy="Use O_DSYNC or random offsets, or set nomerges=2 on the device's queue for the test.",
    )


def _split(run: Run, record: PhaseRecord, device: DeviceIo, figures: dict[str, float]) -> Finding:
    why = _why(run, figures)
    return Finding(
        code=SPLIT,
        severity="warn",
        phase=record.phase.name,
        says=(
            f"Each I/O of {capacity(figures['size_bytes'])} became {number(figures['requests_per_io'])} requests"
            f" of {capacity(figures['device_size_bytes'])} at {device.layer}{why or UNEXPLAINED}."
        ),
        evidence=figures | {"explained": float(bool(why))},
        remedy="Raise max_sectors_kb, use huge pages for buffers, align, or lay the file out in one extent.",
    )


def _why(run: Run, figures: dict[str, float]) -> str:
    """Which known limit gives just as many pieces; "" when none does."""
    size, pieces = figures["size_bytes"], figures["requests_per_io"]
    for layer in run.plan.target.layers:
        if layer.max_io_bytes and _fits(pieces, size / layer.max_io_bytes):
            return f": max_sectors_kb of {layer.name} is {layer.max_io_bytes >> 10}"
        if layer.max_segments and _fits(pieces, size / (layer.max_segments * PAGE_BYTES)):
            return f": {layer.name} allows {layer.max_segments} segments of 4 KiB pages"
    return ""


def _fits(pieces: float, wanted: float) -> bool:
    return wanted > 1 and abs(pieces / math.ceil(wanted) - 1) <= NEAR
