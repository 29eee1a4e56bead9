"""The times are waits, not response times: the I/Os were asynchronous, and only the remaining wait was timed.

What it is: a database, or a test, that submits I/Os ahead or in batches. What it reports as the time of an I/O is the
wait that remained when it came for the data, or one wait for a whole batch.
Why it matters: 30 µs for a MiB that took the device 5 ms looks impossibly fast, and a batch of a hundred looks like a
slow device. Neither is the time of an I/O, and their percentiles are not the storage's.
How it shows: imported times bear the name of such a wait (direct path read and write, db file parallel read and write
of Oracle); in an imported test with a high queue depth, the rate times the mean time gives less than half of it; or
the device itself took longer than the row that it served. iocast cannot see a database while it waits, and reports
nothing for a source that names neither its event nor its depth.
How to confirm: block requests of the same minutes beside the database's figures (iocast watch blk), or single blocks
read one at a time by the database (db file sequential read).
What to change: take the storage's times from the block layer, or from synchronous single-block I/O; call the others
waits.
"""

from __future__ import annotations

from collections.abc import Iterator

from iocast.analyse.device_io import DeviceIo
from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.load_kind import bytes_of
from iocast.analyse.statistics import in_flight_mean
from iocast.diagnose.preconditions import (
    ALONE,
    DIRECT,
    MEASURED_HERE,
    NO_PAUSES,
    REAL_DEVICE,
    SOME_IOS,
    Only,
    meets,
    rows_for,
)
from iocast.model.codes import FindingCode
from iocast.model.finding import Finding
from iocast.model.run import PhaseRecord
from iocast.model.workload import Op
from iocast.text import brief_percent, brief_time, number

NEEDS: tuple[str, ...] = ()  # with diskstats it holds its own rows against the device
ONLY: Only = (SOME_IOS,)

CODE: FindingCode = "asynchronous_timing"
# Waits of Oracle that are no times of an I/O (source-systems C5, databases: "wait, not latency"), and what they are.
WAITS: tuple[tuple[str, str], ...] = (
    ("direct path", "the wait that remained when the session came for blocks requested earlier"),
    ("db file parallel", "one wait for a batch of blocks"),
    ("db file async i/o submit", "the time to submit a batch"),
    ("cell smart", "the wait that remained for cells that read ahead"),
)
ASYNCHRONOUS = ("libaio", "io_uring", "posixaio", "asynchronous")  # engines of imported tests that wait for nothing
LEAST_DEPTH, HALF = 4, 0.5  # models C, 16 with 13: rate x time over what was in flight [J]
DIFFERS = 0.20  # models C, 16
ENOUGH = 100  # requests [J]
# The kernel counts a request just after it has told its end, so the last one of a row may be counted in the next. [J]
AT_THE_EDGE_NS = 250_000_000
SAME = 0.05  # of requests and of bytes: then the device saw these I/Os and no others [J]


def detect(facts: Facts) -> Iterator[Finding]:
    """Imported rows by their names and by Little's law, own rows by what the device says of the same I/Os."""
    for row in rows_for(facts, ONLY):
        if not meets(row, MEASURED_HERE):
            yield from _named(row.record) or _half_missing(row)
        elif meets(row, REAL_DEVICE, DIRECT, ALONE):
            yield from _quicker_than_its_device(row)


def _named(record: PhaseRecord) -> list[Finding]:
    name = f"{record.phase.name} {record.phase.test}".lower()
    what = next((what for wait, what in WAITS if wait in name), None)
    if what is None:
        return []
    return [
        Finding(
            code=CODE,
            severity="warn",
            phase=record.phase.name,
            says=f'The times of "{record.phase.name}" are {what}: a wait, not the response time of an I/O.',
            remedy="Take the storage's times from block requests (iocast watch blk), or from single-block reads.",
        )
    ]


def _half_missing(row: RowFacts) -> list[Finding]:
    """Of a load that keeps a known number in flight, less than half of it is in the times."""
    record, did, load = row.record, row.measurement, row.workload
    unknown = {"users", "depth", "arrival", "length"} & {*record.unstated}
    if unknown or not meets(row, NO_PAUSES) or load.asked_depth < LEAST_DEPTH:
        return []
    accounted = in_flight_mean(did)
    if did.engine.name not in ASYNCHRONOUS or not 0 < accounted < HALF * load.asked_depth:
        return []
    return [
        Finding(
            code=CODE,
            severity="warn",
            phase=record.phase.name,
            says=(
                f"IOPS times the mean time gives {number(accounted)} outstanding I/Os, but the load asks for"
                f" {load.asked_depth}: either the load was not reached, or the times leave a part out."
            ),
            evidence={"in_flight": accounted, "asked": float(load.asked_depth)},
            remedy="Check the queue depth that the tool reached, and whether its times start at submission.",
            hypothesis="the times leave out what passed before the program waited for the I/O",
            confidence=0.3,
            confirm="run the same load with iocast, which counts from submission",
            state="suggested",
        )
    ]


def _quicker_than_its_device(row: RowFacts) -> Iterator[Finding]:
    record, device = row.record, row.under_filesystem
    if device is None or record.phase.workload.sync != "none":
        return
    ops: tuple[Op, ...] = ("read", "write")
    for op in ops:
        device_ns = device.read_await_ns if op == "read" else device.write_await_ns
        own = row.service(op)
        own_ns = own.mean_ns
        if device_ns is None or not _the_same(record, device, op) or device_ns <= (1 + DIFFERS) * own_ns:
            continue
        # What the few requests of others may have waited: in a stall, each of them as long as the longest of ours.
        others_ns = max(0.0, (_requests(device, op) or 0.0) - own.total) * own.max_ns
        if (device_ns - own_ns) * own.total < AT_THE_EDGE_NS + others_ns:
            continue
        yield Finding(
            code=CODE,
            severity="severe",
            phase=record.phase.name,
            says=(
                f"{op.capitalize()}s were acknowledged early: {brief_time(own_ns)} on average in the test, but"
                f" {brief_time(device_ns)} at {device.layer}, {brief_percent(device_ns / own_ns - 1)} more."
            ),
            evidence={"service_ns": own_ns, "device_ns": device_ns},
            remedy="Find what acknowledges them above the device; take the times from block requests"
            " (iocast watch blk).",
        )


def _requests(device: DeviceIo, op: Op) -> float | None:
    return device.reads if op == "read" else device.data_writes


def _the_same(record: PhaseRecord, device: DeviceIo, op: Op) -> bool:
    """Whether the device did as many requests as the row did I/Os, of as many bytes, and nothing else."""
    did = record.measurement
    asked_ios = sum(part.ios for part in did.classes if part.op == op)
    requests, moved = _requests(device, op), device.read_bytes if op == "read" else device.written_bytes
    if requests is None or moved is None or asked_ios < ENOUGH:
        return False
    return abs(requests / asked_ios - 1) <= SAME and abs(moved / bytes_of(did, op) - 1) <= SAME
