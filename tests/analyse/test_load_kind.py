"""What kind of load a row is, by the definition of each kind, and how much of it was done."""

from __future__ import annotations

from typing import Any

import pytest
from makers import card_runs
from msgspec.structs import replace

from iocast.analyse import load_kind
from iocast.model.plan import FileRegion
from iocast.model.run import PhaseRecord
from iocast.model.workload import Arrival, Bursts, Closed, Constant, MixItem, Op, Poisson, Sync, SyncOp, Workload

MS = 1_000_000
SIZES: dict[Op, int] = {"read": 8192, "write": 4096, "fsync": 0, "fdatasync": 0, "trim": 1 << 20}


def row(*ops: Op, ios: int = 1000, elapsed_ns: int = 2_000 * MS, **asked: Any) -> PhaseRecord:
    """A row that did as many I/Os of each of these operations, whose mix they are."""
    mix = tuple(MixItem(op, SIZES[op]) for op in ops)
    parts = [card_runs.part(op, SIZES[op], card_runs.histogram((MS, ios))) for op in ops]
    workload = Workload(**{"mix": mix, **asked})
    return card_runs.record("row", workload, card_runs.measurement(parts, elapsed_ns=elapsed_ns))


def test_only_a_simulated_device_is_simulated() -> None:
    record = card_runs.reads()
    assert load_kind.simulated(card_runs.run(record, target=card_runs.SIMULATED))
    assert not load_kind.simulated(card_runs.run(record))


@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize("handed", [True, False])
@pytest.mark.parametrize("can", [True, False, None])
def test_direct_io_was_asked_for_and_handed_on_and_is_possible(asked: bool, handed: bool, can: bool | None) -> None:
    """A target that does not say whether it can is believed."""
    record = card_runs.reads(direct=asked)
    record = replace(record, plan=replace(record.plan, direct=handed))
    run = card_runs.run(record, target=replace(card_runs.TARGET, direct=can))
    assert load_kind.really_direct(run, record) == (asked and handed and can is not False)


@pytest.mark.parametrize(
    ("arrival", "is_open"),
    [(Closed(), False), (Closed(MS), False), (Constant(10.0), True), (Poisson(10.0), True), (Bursts(4, MS), True)],
)
def test_a_loop_is_open_where_the_clock_says_when(arrival: Arrival, is_open: bool) -> None:
    assert load_kind.is_open_loop(row("read", arrival=arrival)) == is_open


@pytest.mark.parametrize(
    ("every", "op", "paced"),
    [(0, "fsync", 3000), (10, "fsync", 2000), (10, "fdatasync", 2000), (1, "fsync", 2000)],
)
def test_syncs_that_follow_their_writes_do_not_come_by_the_clock(every: int, op: SyncOp, paced: int) -> None:
    """An fsync of the mix does: it has a turn of its own."""
    record = row("read", "write", op, fsync_every=every, fsync_op=op)
    assert load_kind.paced_ios(record) == paced
    assert load_kind.paced_rate_per_s(record) == paced / 2


def test_what_took_no_time_has_no_rate() -> None:
    record = row("read", elapsed_ns=1)
    at_once = replace(record, measurement=replace(record.measurement, elapsed_ns=0))
    assert load_kind.paced_rate_per_s(record) == 1000 * 1e9
    assert load_kind.paced_rate_per_s(at_once) == 0.0


def test_bytes_of_an_operation_are_those_of_all_its_sizes() -> None:
    large = card_runs.part("read", 65_536, card_runs.histogram((MS, 10)))
    did = row("read", "write").measurement
    did = replace(did, classes=(*did.classes, large))
    assert load_kind.bytes_of(did, "read") == 1000 * 8192 + 10 * 65_536
    assert load_kind.bytes_of(did, "write") == 1000 * 4096
    assert load_kind.bytes_of(did, "trim") == 0
    assert load_kind.bytes_per_s_of(did, "write") == 1000 * 4096 / 2
    assert load_kind.bytes_per_s_of(replace(did, elapsed_ns=1), "write") == 1000 * 4096 * 1e9
    assert load_kind.bytes_per_s_of(replace(did, elapsed_ns=0), "write") == 1000 * 4096 * 1e9


def test_a_row_may_touch_all_of_its_files_and_as_far_as_the_smallest_in_each() -> None:
    record = card_runs.reads()
    files = (FileRegion("/mnt/db/iocast.0", 0, 300), FileRegion("/mnt/db/iocast.1", 0, 200))
    two = replace(record, plan=replace(record.plan, files=files), phase=replace(record.phase, region_start_bytes=64))
    assert (load_kind.data_bytes(two), load_kind.region(two)) == (500, (64, 200))
    none = replace(record, plan=replace(record.plan, files=()))
    assert (load_kind.data_bytes(none), load_kind.region(none)) == (0, (0, 0))


def test_a_row_of_one_operation_asks_for_nothing_else() -> None:
    assert load_kind.only(row("read"), "read")
    assert not load_kind.only(row("read"), "write")
    assert not load_kind.only(row("read", "write"), "read")


@pytest.mark.parametrize(
    ("ops", "sync", "every", "synced", "waits"),
    [
        (("write",), "none", 0, False, False),
        (("write",), "sync", 0, True, True),
        (("write",), "dsync", 0, True, True),
        (("write",), "rwf_dsync", 0, True, True),
        (("write",), "none", 1, True, True),
        (("write", "fsync"), "none", 0, True, True),
        (("write", "fdatasync"), "none", 0, True, True),
        (("read", "write"), "none", 0, False, False),
        (("read", "write"), "sync", 0, True, False),
        (("read", "write"), "none", 8, True, False),
        (("read", "write", "fsync"), "none", 0, True, False),
    ],
)
def test_writes_wait_for_the_device_where_each_of_them_or_a_flush_does(
    ops: tuple[Op, ...], sync: Sync, every: int, synced: bool, waits: bool
) -> None:
    record = row(*ops, sync=sync, fsync_every=every)
    assert (load_kind.is_synced(record), load_kind.waits_for_the_device(record)) == (synced, waits)
