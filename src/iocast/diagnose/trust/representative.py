"""The component of trust that asks whether what was exercised is the storage that a database would meet."""

from __future__ import annotations

from collections.abc import Iterator

from iocast.analyse.database.memory_shares import memory_shares
from iocast.analyse.device_io import DEVICE_SHARE
from iocast.analyse.facts import RowFacts
from iocast.diagnose import thresholds as limits
from iocast.model.finding import Grade, TrustComponent
from iocast.model.workload import Compressible, Dedupable, Payload, Repeated, Zeros
from iocast.text import brief_percent, capacity

NAMES = "the kernel answers operations on names from its caches, as it does in use; cold = true begins without them"
NAMES_COLD = "the kernel's caches of names were dropped before the row, and filled during it"


def representative(row: RowFacts) -> TrustComponent:
    """Payload, page cache, layout; caches inside a drive or an array stay unknown, so a B is the best."""
    run = row.run
    if row.record.plan.tree is not None and not any(item.op in ("read", "write") for item in row.workload.mix):
        return TrustComponent("representative", "B", NAMES_COLD if row.record.phase.cold else NAMES)
    missing = [*_payload_faults(row), *_access_faults(row)]
    if missing:
        grade: Grade = "C" if len(missing) == 1 else "D"
        return TrustComponent("representative", grade, "; ".join(missing), {"missing": len(missing)})
    if not _seen_laid_out(row):
        what = "these files" if run.plan.target.kind in ("directory", "file") else "this device"
        unseen = f"parts may be holes: iocast did not see {what} written in full"
        return TrustComponent("representative", "B", unseen)
    unknown = "a cache of unknown size in the drive or the array may answer some I/Os"
    return TrustComponent("representative", "B", unknown)


def _payload_faults(row: RowFacts) -> Iterator[str]:
    workload = row.workload
    met: list[Payload] = [workload.payload] if workload.writes else []
    if any(item.op == "read" for item in workload.mix):
        met.append(row.left_before)
        if workload.trims:
            yield "reads of trimmed blocks do not reach the storage"
    for payload in dict.fromkeys(met):
        match payload:
            case Zeros():
                yield "the data is all zeros: storage may compress it or not store it"
            case Repeated():
                yield "the data is one repeated block: storage may store it once"
            case Dedupable(percent=same) if same:
                yield f"{brief_percent(same / 100)} of the blocks are dedupable: storage may store them once"
            case Compressible(percent=zeros) if zeros:
                yield f"{brief_percent(zeros / 100)} of the data is zero bytes: storage may compress it"


def _access_faults(row: RowFacts) -> Iterator[str]:
    workload = row.workload
    if row.record.phase.database is not None:
        yield from _memory_of_database(row)
        return
    if row.is_past_the_host:
        return
    if workload.direct:
        yield "direct I/O was requested but not available"
    elif not row.waits_for_the_device:
        yield "buffered I/O goes through the page cache"
    else:
        return
    yield from _memory_faults(row)


def _memory_of_database(row: RowFacts) -> Iterator[str]:
    """The part of a database load that its caches answered, where its storage is to be judged."""
    shares = memory_shares(row)
    if shares is None or shares.storage is None or shares.storage >= DEVICE_SHARE:
        return
    yield f"caches answered {brief_percent(1 - shares.storage)} of the blocks that the statements read"


def _memory_faults(row: RowFacts) -> Iterator[str]:
    host, size = row.run.host, row.data_bytes
    memory = host.usable_memory_bytes
    words = f"{host.whose_memory} memory of {capacity(memory)}"
    if size >= limits.DATA_OVER_MEMORY * memory:
        return
    if size >= limits.DATA_BARELY_OVER_MEMORY * memory:
        yield f"{capacity(size)} of data is less than ten times {words}"
    else:
        yield f"at least half of the {capacity(size)} of data fits into {words}"


def _seen_laid_out(row: RowFacts) -> bool:
    """iocast wrote everything, now or in an earlier run, or the device really delivered all that was read."""
    if row.run.files_whole or any(each.phase.role == "fill" for each in row.run.phases):
        return True
    share = row.device_share_of_reads
    return row.only_reads and share is not None and share >= DEVICE_SHARE
