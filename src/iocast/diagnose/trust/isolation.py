"""The component of trust that asks how much of what the devices did was someone else's work.

It looks at every layer that all of the test's I/O passes, at bytes, at requests and at the queue; the worst
counts. A file system's own writes are allowed for; mirrors and parity, which multiply writes, are not accused.
"""

from __future__ import annotations

import math

from msgspec import Struct

from iocast.analyse.facts import RowFacts, once
from iocast.analyse.load_kind import MOVING
from iocast.analyse.places import PAGE_BYTES, Place
from iocast.diagnose import thresholds as limits
from iocast.model.codes import TrustCode
from iocast.model.finding import GRADES, Grade, TrustComponent
from iocast.model.run import PhaseRecord
from iocast.model.workload import Op
from iocast.text import brief_percent, capacity, number, sentence

CODE: TrustCode = "isolation"


class _Foreign(Struct, frozen=True):
    """What of a place's work cannot have been the test's; `unsure` may have been its file system's."""

    place: Place
    byte_share: float
    foreign_bytes: float
    request_share: float
    requests: float
    unsure_bytes: float
    unsure_share: float
    queue_excess: bool

    @property
    def share(self) -> float:
        """The larger of the shares of bytes and of requests."""
        return max(self.byte_share, self.request_share)

    @property
    def met(self) -> float:
        """The share, less for a device that was idle most of the time: there few I/Os ever met any of the others."""
        queue = self.place.io.queue_mean
        return self.share if queue is None else self.share * min(1.0, queue)

    @property
    def certain(self) -> Grade:
        """The letter for what was certainly someone else's."""
        return limits.FOREIGN.grade(self.met)

    @property
    def grade(self) -> Grade:
        """The letter of the place."""
        unsure: Grade = "A" if limits.FOREIGN.grade(self.unsure_share) == "A" else "B"
        return limits.worst(self.certain, unsure, "C" if self.queue_excess else "A")


@once
def isolation(row: RowFacts) -> TrustComponent:
    """The letter of the place in the stack where the most was someone else's; phases that run together are one load."""
    worst = _worst_place(row)
    if isinstance(worst, TrustComponent):
        return worst
    clause, more = _why(row.seen_by_devices.record, worst)
    return TrustComponent(CODE, worst.grade, clause, _figures(worst), more)


@once
def others_per_s(row: RowFacts) -> float | None:
    """I/Os a second that the devices did for others while a row ran; None where nobody can tell."""
    worst = _worst_place(row)
    if isinstance(worst, TrustComponent):
        return 0.0 if row.facts.simulated else None
    size_bytes, seconds = worst.place.io.size_bytes, row.measurement.elapsed_ns / 1e9
    requests = worst.requests or (worst.foreign_bytes / size_bytes if size_bytes else 0.0)
    return requests / seconds if seconds else None


@once
def _worst_place(row: RowFacts) -> _Foreign | TrustComponent:
    """The place where the most was someone else's, or the letter where nobody can tell."""
    every = row.seen_by_devices
    record = every.record
    if row.facts.simulated:
        return TrustComponent(CODE, "A", "no other program of this machine can use a simulated device")
    if record.phase.database is not None and record.phase.workload.writes:
        unknown = (
            "other I/O is unknown: the log and the pages that an engine writes are not the bytes of its statements"
        )
        return TrustComponent(CODE, "B", unknown)
    places = [place for place in every.places if _counted(place)]
    if not places:
        unseen = "other I/O is unknown: the device's counters were not seen"
        return TrustComponent(CODE, "B", unseen)
    if not any((place.io.read_bytes or 0) + (place.io.written_bytes or 0) for place in places):
        return TrustComponent(CODE, "B", "other I/O is unknown: the device counted nothing")
    if not every.is_really_direct and not every.waits_for_the_device:
        return TrustComponent(CODE, "B", "other I/O is unknown: with buffered I/O it looks the same as read-ahead")
    if not any(part.op in MOVING for part in record.measurement.classes):
        # Beside nothing, every byte of others would be all there was.
        unknown = "other I/O is unknown: the row itself moved no bytes"
        return TrustComponent(CODE, "B", unknown)
    foreign = [_foreign(every, place) for place in places]
    # Of equal letters the one with the most; of equal shares the uppermost, because max keeps the first.
    return max(foreign, key=lambda each: (GRADES.index(each.grade), each.share))


def _counted(place: Place) -> bool:
    return place.io.read_bytes is not None and place.io.written_bytes is not None


def _foreign(row: RowFacts, place: Place) -> _Foreign:
    io, record = place.io, row.record
    own_read, own_written = row.bytes_read + PAGE_BYTES * _pages_read_first(record), row.bytes_written
    read, written = io.read_bytes or 0, io.written_bytes or 0
    more_read = 0 if own_written and place.reads_multiply else max(0, read - own_read)
    more_written = 0 if own_written and place.writes_multiply else max(0, written - own_written)
    allowed = _file_system_bytes(row, place) if own_written else _late_bytes(place)
    ahead = float(min(more_read, own_read)) if place.cached else 0.0  # a cache above may have read ahead
    unsure = min(float(more_written), allowed) + ahead
    foreign = more_read + more_written - unsure
    total = max(1, read + written)
    requests = _foreign_requests(record, place, more_read + more_written, allowed + ahead)
    return _Foreign(
        place=place,
        byte_share=foreign / total,
        foreign_bytes=foreign,
        request_share=requests / max(1, (io.reads or 0) + (io.data_writes or 0)),
        requests=requests,
        unsure_bytes=unsure,
        unsure_share=unsure / total,
        queue_excess=_queue_is_not_its_own(record, place),
    )


def _file_system_bytes(row: RowFacts, place: Place) -> float:
    """What a file system may have written for itself: metadata, and a journal for whatever must be durable."""
    if not place.journalled:
        return 0.0
    did, workload = row.measurement, row.workload
    ops = {part.op: part.ios for part in did.classes}
    durable = sum(count for op, count in ops.items() if op in ("fsync", "fdatasync"))
    if workload.sync != "none":
        durable += sum(part.ios for part in did.classes if part.op == "write")
    metadata = limits.METADATA_SHARE * row.bytes_written + limits.METADATA_BYTES_PER_S * did.elapsed_ns / 1e9
    return metadata + limits.JOURNAL_BYTES * durable


def _late_bytes(place: Place) -> float:
    """What a file system may still write while a row reads: the journal and the metadata of rows before it."""
    return float(limits.LATE_BYTES) if place.journalled else 0.0


def _foreign_requests(record: PhaseRecord, place: Place, more_bytes: int, allowed_bytes: float) -> float:
    """Requests beyond those that the test's own I/Os make when each is split as often as it can be.

    A request of another program moves bytes too, at least a block: extra requests without extra bytes are the test's.
    """
    io = place.io
    if place.spread or place.split_bytes is None or io.reads is None or io.data_writes is None:
        return 0.0
    own_reads, own_writes = _own_requests(record, place, "read"), _own_requests(record, place, "write")
    own_reads += _pages_read_first(record)
    more_reads = max(0.0, io.reads - own_reads)
    more_writes = max(0.0, io.data_writes - own_writes - allowed_bytes / PAGE_BYTES)
    if own_writes and place.writes_multiply:
        more_writes = 0.0
    if own_writes and place.reads_multiply:
        more_reads = 0.0
    return min(more_reads + more_writes, more_bytes / place.block_bytes)


def _pages_read_first(record: PhaseRecord) -> int:
    """At most so many pages are read for buffered writes: a page that is written in part and is not cached is read
    first, and a write that is no multiple of a page has one at each end."""
    if record.phase.workload.direct:
        return 0
    return 2 * sum(
        part.ios for part in record.measurement.classes if part.op == "write" and part.size_bytes % PAGE_BYTES
    )


def _own_requests(record: PhaseRecord, place: Place, op: Op) -> float:
    """The most requests that the test's own I/Os of one operation can have made."""
    parts = [part for part in record.measurement.classes if part.op == op]
    return limits.SPLIT_MARGIN * sum(part.ios * _pieces(part.size_bytes, place) for part in parts)


def _pieces(size_bytes: int, place: Place) -> int:
    return max(1, math.ceil(size_bytes / place.split_bytes)) if place.split_bytes else 1


def _own_queue(record: PhaseRecord, place: Place) -> int:
    largest = max((item.size_bytes for item in record.phase.workload.mix), default=0)
    return record.measurement.asked_depth * _pieces(largest, place)


def _queue_is_not_its_own(record: PhaseRecord, place: Place) -> bool:
    if place.spread or place.writes_multiply or place.split_bytes is None or place.io.queue_mean is None:
        return False
    return place.io.queue_mean > limits.QUEUE_FACTOR * _own_queue(record, place) + 1


def _why(record: PhaseRecord, worst: _Foreign) -> tuple[str, str]:
    """The clause, and what there is to say after it."""
    layer = worst.place.io.layer
    queue = ""
    if worst.queue_excess:
        queue = (
            f"other I/O waited in the same queue: {number(worst.place.io.queue_mean or 0.0)} requests at {layer} on"
            f" average, at most {_own_queue(record, worst.place)} of them from this test"
        )
    if worst.certain == worst.grade:
        return _how_much(worst, layer, record), sentence(queue)
    if queue:
        return queue, ""
    return (
        f"the device {layer} wrote {capacity(worst.unsure_bytes)} more than the test: the file system's journal or"
        " other I/O"
    ), ""


def _how_much(worst: _Foreign, layer: str, record: PhaseRecord) -> str:
    if worst.request_share > worst.byte_share:
        seconds = record.measurement.elapsed_ns / 1e9
        rate = f" ({number(round(worst.requests / seconds))} IOPS)" if seconds else ""
        said = f"{brief_percent(worst.request_share)} of the requests at {layer} were other I/O{rate}"
    else:
        size = capacity(worst.foreign_bytes)
        said = f"{brief_percent(worst.byte_share)} of the bytes that {layer} moved were other I/O ({size})"
    if worst.certain == limits.FOREIGN.grade(worst.share):
        return said
    return f"{said}; few of the test's I/Os met them: the mean queue was {number(worst.place.io.queue_mean or 0.0)}"


def _figures(worst: _Foreign) -> dict[str, float]:
    return {
        "foreign_share": worst.byte_share,
        "foreign_request_share": worst.request_share,
        "unsure_write_share": worst.unsure_share,
        "device_queue": worst.place.io.queue_mean or 0.0,
    }
