"""Where the time of a row went: parts that add up, and every reason why they may not."""

from __future__ import annotations

import pytest
from makers.block_runs import block, row
from makers.card_runs import histogram, measurement, part, record, run
from msgspec.structs import replace

from iocast.analyse.time_breakdown import lowest, whereabouts
from iocast.model.block_times import BlockTimes
from iocast.model.run import PhaseRecord
from iocast.model.target import Layer, Target
from iocast.model.workload import MixItem, Sync, Workload


def test_the_parts_add_up_to_the_response() -> None:
    made = row(block(), response_ns=1_000_000)
    (found,) = whereabouts(run(made), made)
    parts = (found.unsent_ns, found.system_ns, found.queue_ns, found.device_ns)
    assert parts == pytest.approx((600_000, 90_000, 10_000, 300_000))
    assert found.inexact == ()
    assert (found.requests, found.watched_share, found.devices) == (100, 1.0, ("vda",))


@pytest.mark.parametrize(
    ("times", "why"),
    [
        (block(ios=200, size_bytes=4096), ("merged",)),
        (block(ios=150), ("others",)),
        (block(ios=150, watched_ns=5), ()),  # who watched half of the time cannot know
    ],
)
def test_what_does_not_add_up_is_blank_and_says_why(times: BlockTimes, why: tuple[str, ...]) -> None:
    made = row(times)
    (found,) = whereabouts(run(made), made)
    assert found.inexact == why
    assert (found.system_ns is None) == bool(why)


def test_the_page_cache_and_syncs_are_no_part_of_a_request() -> None:
    made = row(block())
    load = replace(made.phase.workload, direct=False)
    (found,) = whereabouts(run(made), replace(made, phase=replace(made.phase, workload=load)))
    assert found.inexact == ("cached",)


def test_nothing_seen_and_too_little_seen_say_nothing() -> None:
    for times in (None, block(ios=20)):
        made = row(times)
        assert list(whereabouts(run(made), made)) == []


def test_phases_at_once_share_what_was_seen() -> None:
    first, second = row(block()), row(None)
    first, second = (
        replace(each, phase=replace(each.phase, name=name, together="both"))
        for each, name in ((first, "a"), (second, "b"))
    )
    (found,) = whereabouts(run(first, second), second)
    assert "shared" in found.inexact


def test_requests_are_not_counted_again_in_the_layer_above() -> None:
    path = Layer(name="mp", kind="multipath", major=1, minor=0, lower=("sda",))
    disk = Layer(name="sda", kind="disk", major=1, minor=1)
    times = BlockTimes(elapsed_ns=1, watched_ns=1, devices=(*block(name="mp").devices, *block(name="sda").devices))
    assert [each.name for each in lowest(times, Target(path="/x", kind="block", layers=(path, disk)))] == ["sda"]


def test_every_figure_of_a_row() -> None:
    made = row(block(lost=3), service_ns=250_000, response_ns=200_000)
    (found,) = whereabouts(run(made), made)
    assert (found.phase, found.op, found.response_ns) == ("reads", "read", 200_000)
    assert (found.unsent_ns, found.system_ns) == (0.0, 0.0)  # never below nought
    assert (found.queue_p99_ns, found.device_p99_ns) == pytest.approx((20_000, 300_000), rel=2e-3)
    assert (found.size_ratio, found.lost_events) == (1.0, 3)


def _writes(sync: Sync = "none", ios: int = 100) -> PhaseRecord:
    """100 writes of 8k that waited 400 µs each, and what the devices wrote for them."""
    did = measurement([part("write", 8192, histogram((400_000, 100)))])
    load = Workload(mix=(MixItem("write", 8192),), sync=sync)
    (seen,) = block(ios=ios).devices
    classes = tuple(replace(each, op="write") for each in seen.classes)
    return replace(record("writes", load, did), block=replace(block(), devices=(replace(seen, classes=classes),)))


@pytest.mark.parametrize(("sync", "why"), [("none", ()), ("sync", ("synced",)), ("dsync", ("synced",))])
def test_writes_that_wait_for_more_than_their_own_request_are_inexact(sync: Sync, why: tuple[str, ...]) -> None:
    made = _writes(sync)
    (found,) = whereabouts(run(made), made)
    assert (found.op, found.inexact) == ("write", why)


def test_reads_of_a_row_with_synced_writes_are_exact() -> None:
    made = row(block())
    made = replace(made, phase=replace(made.phase, workload=replace(made.phase.workload, sync="dsync")))
    (found,) = whereabouts(run(made), made)
    assert found.inexact == ()


@pytest.mark.parametrize(
    ("times", "why"),
    [
        (block(ios=109), ()),
        (block(ios=111), ("others",)),
        (block(size_bytes=8192 * 102 // 100), ()),
        (block(size_bytes=8192 * 103 // 100), ("merged",)),
        (block(size_bytes=8192 * 97 // 100), ("merged",)),
        (block(ios=30), ()),
    ],
)
def test_a_tenth_of_others_and_two_hundredths_of_size_are_let_pass(times: BlockTimes, why: tuple[str, ...]) -> None:
    made = row(times)
    (found,) = whereabouts(run(made), made)
    assert found.inexact == why


def test_others_are_unknown_when_the_row_was_stopped_early() -> None:
    made = row(block(ios=150))
    made = replace(made, measurement=replace(made.measurement, stopped="interrupted"))
    (found,) = whereabouts(run(made), made)
    assert found.inexact == ()


def test_phases_at_once_are_shared_and_not_others() -> None:
    first, second = row(block(ios=150)), row(None)
    first, second = (
        replace(each, phase=replace(each.phase, name=name, together="both"))
        for each, name in ((first, "a"), (second, "b"))
    )
    (found,) = whereabouts(run(first, second), second)
    assert found.inexact == ("shared",)


def test_devices_side_by_side_are_one_and_only_those_with_requests_are_named() -> None:
    two = (*block(ios=60, name="sda").devices, *block(ios=40, name="sdb").devices)
    idle = replace(two[0], name="sdc", classes=())
    made = row(replace(block(), devices=(*two, idle)))
    (found,) = whereabouts(run(made), made)
    assert (found.requests, found.devices, found.size_ratio) == (100, ("sda", "sdb"), 1.0)
    assert (found.queue_ns, found.device_ns) == pytest.approx((10_000, 300_000))


def test_a_disk_far_below_hides_the_layers_above_it() -> None:
    layers = (
        Layer(name="dm-0", kind="lvm", major=1, minor=0, lower=("md0",)),
        Layer(name="md0", kind="raid1", major=1, minor=1, lower=("sda",)),
        Layer(name="sda", kind="disk", major=1, minor=2),
    )
    times = BlockTimes(elapsed_ns=1, watched_ns=1, devices=(*block(name="dm-0").devices, *block(name="sda").devices))
    assert [each.name for each in lowest(times, Target(path="/x", kind="block", layers=layers))] == ["sda"]


def test_reads_and_writes_of_one_device_are_told_apart() -> None:
    (seen,) = block().devices
    (reads,) = seen.classes
    slow = histogram((900_000, 100))
    writes = replace(reads, op="write", queue=histogram((200_000, 100)), device=slow, total=slow)
    did = measurement([part(op, 8192, histogram((2_000_000, 100))) for op in ("read", "write")])
    load = Workload(mix=(MixItem("read", 8192), MixItem("write", 8192)))
    made = replace(record("both", load, did), block=replace(block(), devices=(replace(seen, classes=(reads, writes)),)))
    found = {each.op: each for each in whereabouts(run(made), made)}
    assert {op: (each.queue_ns, each.device_ns, each.inexact) for op, each in found.items()} == {
        "read": (10_000, 300_000, ()),
        "write": (200_000, 900_000, ()),
    }
    assert found["read"].device_p99_ns == pytest.approx(300_000, rel=2e-3)
    assert found["write"].queue_p99_ns == pytest.approx(200_000, rel=2e-3)
