"""Strangers are seen in bytes, in requests and in the queue, at every layer; a journal and a mirror are not accused."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from makers import card_runs

from iocast.analyse.facts import Facts
from iocast.diagnose.trust.isolation import isolation
from iocast.model.finding import TrustComponent
from iocast.model.run import PhaseRecord, Sample
from iocast.model.simulated_device import SimulatedNoise
from iocast.model.target import Layer, Target
from iocast.model.workload import MixItem, Op, Poisson, Sequential, Workload

replace = msgspec.structs.replace
MIB = 1 << 20
SECOND_NS = card_runs.SECOND_NS


def _judge(record: PhaseRecord, target: Target = card_runs.TARGET) -> TrustComponent:
    part = isolation(Facts(card_runs.run(record, target=target)).row(record))
    assert part.code == "isolation"
    return part


def _beside(share: float) -> PhaseRecord:
    """A read phase during which strangers made `share` of the device's traffic."""
    base = card_runs.reads()
    strange = int(base.measurement.bytes * share / (1 - share))
    samples = card_runs.diskstats(
        base.measurement.elapsed_ns,
        reads=base.measurement.ios,
        read_bytes=base.measurement.bytes + strange // 2,
        writes=100,
        written_bytes=strange - strange // 2,
    )
    return replace(base, samples=samples)


@pytest.mark.parametrize(("share", "grade"), [(0.0, "A"), (0.04, "B"), (0.09, "C"), (0.2, "D"), (0.5, "F")])
def test_isolation_of_reads_is_what_the_device_moved_beyond_them(share: float, grade: str) -> None:
    part = _judge(_beside(share))
    assert part.grade == grade
    assert part.evidence["foreign_share"] == pytest.approx(share, abs=1e-3)


def test_a_journal_is_not_taken_for_a_stranger() -> None:
    part = _judge(card_runs.commits())
    assert (part.grade, part.more) == ("B", "")
    assert part.clause == ("the device vda1 wrote 64.5 MiB more than the test: the file system's journal or other I/O")
    assert _judge(card_runs.mixed()).grade == "A"


@pytest.mark.parametrize(("late_bytes", "grade"), [(56 << 10, "B"), (600 << 10, "D")])
def test_a_file_system_that_writes_its_journal_late_is_no_stranger(late_bytes: int, grade: str) -> None:
    base = card_runs.reads(times=card_runs.histogram((1_000_000, 128)))
    did = base.measurement
    moved = {"reads": did.ios, "read_bytes": did.bytes, "writes": late_bytes >> 12, "written_bytes": late_bytes}
    samples = card_runs.diskstats(did.elapsed_ns, queue_ns=did.elapsed_ns, **moved)
    assert _judge(replace(base, samples=samples)).grade == grade


def test_isolation_that_cannot_be_seen_is_a_b() -> None:
    assert _judge(replace(card_runs.reads(), samples=())).grade == "B"
    assert _judge(card_runs.reads(direct=False)).grade == "B"


def test_trims_that_move_no_bytes_do_not_make_every_byte_a_strangers() -> None:
    workload = Workload(mix=(MixItem("trim", MIB),), direct=True)
    trims = card_runs.measurement((card_runs.part("trim", MIB, card_runs.histogram((200_000, 1000))),))
    seen = card_runs.diskstats(trims.elapsed_ns, reads=0, read_bytes=0, writes=10, written_bytes=10 * MIB)
    part = _judge(card_runs.record("trim 1M", workload, trims, seen))
    assert (part.grade, part.clause) == ("B", "other I/O is unknown: the row itself moved no bytes")


def _writes(**workload: Any) -> PhaseRecord:
    """Eight users who write 8 KiB at random for ten seconds, 12,000 a second."""
    asked = Workload(mix=(MixItem("write", 8192),), users=8, **workload)
    times = card_runs.histogram((666_666, 120_000))
    did = card_runs.measurement((card_runs.part("write", 8192, times),), users=8)
    return card_runs.record("randwrite 8k 8x1", asked, did)


def _moved(record: PhaseRecord, *, layer: str = "vda1", more_bytes: float = 0.0, **more: float) -> tuple[Sample, ...]:
    """Samples of a layer that did what the test did, and more."""
    did = record.measurement
    own = {op: [part for part in did.classes if part.op == op] for op in ("read", "write")}
    counters = {
        "reads": float(sum(part.ios for part in own["read"])),
        "read_bytes": float(sum(part.bytes for part in own["read"])),
        "writes": float(sum(part.ios for part in own["write"])),
        "written_bytes": sum(part.bytes for part in own["write"]) + more_bytes,
        "queue_ns": float(sum(part.service.sum_ns for part in did.classes)),
    }
    counters = {metric: value + more.get(metric, 0) for metric, value in counters.items()}
    return card_runs.diskstats(did.elapsed_ns, layer=layer, **counters, flushes=more.get("flushes", 0))


def test_a_neighbour_who_writes_is_no_journal() -> None:
    """64 KiB at 1.9 GB/s beside 12,000 writes of 8 KiB a second."""
    record = _writes()
    seconds = record.measurement.elapsed_ns / 1e9
    neighbour = 1.9e9 * seconds
    part = _judge(replace(record, samples=_moved(record, more_bytes=neighbour, writes=neighbour / 65_536)))
    assert part.grade == "F"
    assert part.evidence["foreign_share"] > 0.9
    assert "95% of the bytes that vda1 moved were other I/O" in part.reason


@pytest.mark.parametrize(
    ("workload", "kib_per_write", "grade"),
    [
        ({"sync": "dsync"}, 0, "A"),
        ({"sync": "dsync"}, 31, "B"),
        ({"sync": "sync"}, 31, "B"),
        ({"sync": "dsync"}, 60, "F"),
        ({}, 31, "F"),
        ({}, 0.1, "B"),  # 1.2 % of 8 KiB: metadata
    ],
)
def test_a_journal_writes_so_much_for_each_durable_write(
    workload: dict[str, Any], kib_per_write: float, grade: str
) -> None:
    record = _writes(**workload)
    more = kib_per_write * 1024 * record.measurement.ios
    assert _judge(replace(record, samples=_moved(record, more_bytes=more))).grade == grade


@pytest.mark.parametrize(("kib_per_flush", "grade"), [(30, "B"), (100, "F")])
def test_a_journal_writes_so_much_for_each_flush(kib_per_flush: int, grade: str) -> None:
    items = (MixItem("write", 8192), MixItem("fdatasync", 0))
    parts = (
        card_runs.part("write", 8192, card_runs.histogram((100_000, 20_000))),
        card_runs.part("fdatasync", 0, card_runs.histogram((400_000, 20_000))),
    )
    record = card_runs.record("log 8k", Workload(mix=items), card_runs.measurement(parts))
    record = replace(record, samples=_moved(record, more_bytes=kib_per_flush * 1024 * 20_000))
    assert _judge(record).grade == grade


def test_a_device_without_a_file_system_has_no_journal() -> None:
    record = _writes(sync="dsync")
    record = replace(record, samples=_moved(record, more_bytes=31 * 1024 * record.measurement.ios))
    raw = replace(card_runs.TARGET, kind="block", filesystem=None)
    assert _judge(record, raw).grade == "F"


def test_flushes_are_not_a_strangers_requests() -> None:
    record = _writes(sync="dsync")
    ios = record.measurement.ios
    samples = _moved(record, writes=ios, flushes=ios, more_bytes=4096 * ios)
    assert _judge(replace(record, samples=samples)).evidence["foreign_request_share"] == 0


def test_load_on_another_partition_of_the_disk_is_seen() -> None:
    record = card_runs.reads()
    own = record.measurement.bytes
    samples = _moved(record) + _moved(record, layer="vda", read_bytes=own, reads=record.measurement.ios)
    part = _judge(replace(record, samples=samples))
    assert (part.grade, "bytes that vda moved" in part.reason) == ("F", True)


def test_load_on_the_disk_below_a_loop_device_is_seen() -> None:
    loop = Layer(name="loop0", kind="loop", major=7, minor=0, lower=("vda",))
    target = replace(card_runs.TARGET, kind="block", filesystem=None, layers=(loop, card_runs.VDA))
    record = card_runs.reads()
    samples = _moved(record, layer="loop0") + _moved(record, layer="vda", more_bytes=record.measurement.bytes)
    assert _judge(replace(record, samples=samples), target).grade == "F"


def _array(kind: str) -> Target:
    top = Layer(name="md0", kind=kind, major=9, minor=0, lower=("sda", "sdb"), max_io_bytes=MIB)
    disks = [Layer(name=name, kind="disk", major=8, minor=0, max_io_bytes=MIB) for name in top.lower]
    return replace(card_runs.TARGET, layers=(top, *disks))


@pytest.mark.parametrize(("kind", "grade"), [("raid1", "A"), ("raid5", "A"), ("raid0", "F")])
def test_a_mirror_writes_twice_and_is_not_accused(kind: str, grade: str) -> None:
    record = _writes()
    samples = [_moved(record, layer=name, queue_ns=1e13) for name in ("md0", "sda", "sdb")]
    samples[0] = _moved(record, layer="md0")
    part = _judge(replace(record, samples=sum(samples, ())), _array(kind))
    assert part.grade == grade


@pytest.mark.parametrize("kind", ["raid0", "raid1", "raid5"])
def test_reads_do_not_multiply_anywhere(kind: str) -> None:
    record = card_runs.reads()
    samples = sum((_moved(record, layer=name) for name in ("md0", "sda", "sdb")), ())
    part = _judge(replace(record, samples=samples), _array(kind))
    assert (part.grade, "sda+sdb" in part.reason) == ("F", True)


def _scan(target_split: int | None = 1280 << 10) -> tuple[PhaseRecord, Target]:
    times = card_runs.histogram((1_000_000, 3_000))
    record = card_runs.reads("read 1M", size_bytes=MIB, sequential=True, times=times)
    layer = replace(card_runs.VDA, max_io_bytes=target_split)
    return record, replace(card_runs.TARGET, layers=(layer,))


def test_many_small_requests_beside_a_scan_are_counted_as_requests() -> None:
    """50,000 reads of 4 KiB a second are 6 % of the bytes and nearly all of the requests."""
    record, target = _scan()
    samples = _moved(record, layer="vda", reads=150_000, read_bytes=150_000 * 4096)
    part = _judge(replace(record, samples=samples), target)
    assert part.grade == "F"
    assert part.evidence["foreign_share"] < 0.2
    assert part.reason.startswith("98% of the requests at vda were other I/O")


@pytest.mark.parametrize("split", [MIB, 128 << 10, 4096])
def test_own_ios_that_the_device_splits_are_own(split: int) -> None:
    record, target = _scan(split)
    pieces = 3_000 * (MIB // split) - 3_000
    assert _judge(replace(record, samples=_moved(record, layer="vda", reads=pieces * 1.05)), target).grade == "A"


def test_extra_requests_without_extra_bytes_are_no_strangers() -> None:
    """A file in many small pieces: the file system splits what the device would take whole."""
    record, target = _scan()
    assert _judge(replace(record, samples=_moved(record, layer="vda", reads=90_000)), target).grade == "A"


def test_without_the_largest_size_requests_cannot_tell() -> None:
    record, target = _scan(None)
    samples = _moved(record, layer="vda", reads=150_000, read_bytes=4096)
    assert _judge(replace(record, samples=samples), target).grade == "A"


@pytest.mark.parametrize(("queue", "grade"), [(8.0, "A"), (16.9, "A"), (17.6, "C")])
def test_a_queue_that_the_test_cannot_have_made_is_named(queue: float, grade: str) -> None:
    record = card_runs.reads(users=8)
    samples = tuple(sample for sample in _moved(record, layer="vda") if sample.metric != "queue_ns")
    samples += card_runs.diskstats(
        record.measurement.elapsed_ns, layer="vda", queue_ns=queue * record.measurement.elapsed_ns
    )
    part = _judge(replace(record, samples=samples))
    assert part.grade == grade
    assert ("17.6 requests at vda on average, at most 8 of them from this test" in part.reason) == (grade == "C")


@pytest.mark.parametrize(("in_flight", "grade"), [(0.02, "B"), (0.08, "C"), (0.3, "D"), (1.0, "F"), (5.0, "F")])
def test_other_io_on_an_idle_device_hardly_meet_a_light_load(in_flight: float, grade: str) -> None:
    """Thirty reads a second beside a hundred of others': whether they meet is told by the queue."""
    did = card_runs.measurement(
        (card_runs.part("read", 8192, card_runs.histogram((150_000, 3_000))),), users=4, elapsed_ns=100_000_000_000
    )
    workload = Workload(mix=(MixItem("read", 8192),), arrival=Poisson(30.0), users=4)
    record = card_runs.record("open 8k", workload, did)
    samples = tuple(
        sample
        for sample in _moved(record, layer="vda", reads=10_000, read_bytes=10_000 * 8192)
        if sample.metric != "queue_ns"
    )
    samples += card_runs.diskstats(did.elapsed_ns, layer="vda", queue_ns=in_flight * did.elapsed_ns)
    part = _judge(replace(record, samples=samples))
    assert part.grade == grade
    met = f"; few of the test's I/Os met them: the mean queue was {in_flight:g}"
    assert part.clause.endswith(met) == (grade != "F")


@pytest.mark.parametrize(
    ("record", "why"),
    [
        (replace(card_runs.reads(), samples=()), "the device's counters were not seen"),
        (card_runs.reads(samples=card_runs.diskstats(10**9, reads=5, read_bytes=40_960)), "counters were not seen"),
        (
            card_runs.reads(samples=card_runs.diskstats(10**9, reads=0, read_bytes=0, writes=0, written_bytes=0)),
            "the device counted nothing",
        ),
        (card_runs.reads(direct=False), "with buffered I/O it looks the same as read-ahead"),
    ],
)
def test_what_cannot_be_seen_is_unknown_and_says_why(record: PhaseRecord, why: str) -> None:
    part = _judge(record)
    assert (part.code, part.grade) == ("isolation", "B")
    assert part.clause.startswith("other I/O is unknown: ")
    assert part.clause.endswith(why)


def test_a_busy_device_makes_a_share_no_larger() -> None:
    record = _beside(0.2)
    queue = card_runs.diskstats(record.measurement.elapsed_ns, queue_ns=1.9 * record.measurement.elapsed_ns)
    part = _judge(replace(record, samples=record.samples + queue))
    assert (part.grade, part.evidence["device_queue"]) == ("D", pytest.approx(1.9))
    assert part.clause == "20% of the bytes that vda1 moved were other I/O (77.9 MiB)"


@pytest.mark.parametrize("filesystem", ["ext4", None])
def test_metadata_is_a_share_of_what_is_written_and_so_much_a_second(filesystem: str | None) -> None:
    record = _writes()
    did = record.measurement
    target = replace(card_runs.TARGET, filesystem=filesystem)
    part = _judge(replace(record, samples=_moved(record, more_bytes=100 * MIB)), target)
    allowed = 0.02 * did.bytes + MIB * did.elapsed_ns / 1e9 if filesystem else 0.0
    total = did.bytes + 100 * MIB
    assert part.evidence["unsure_write_share"] == pytest.approx(allowed / total, rel=1e-6)
    assert part.evidence["foreign_share"] == pytest.approx((100 * MIB - allowed) / total, rel=1e-6)


@pytest.mark.parametrize("flush", ["fsync", "fdatasync"])
def test_durable_writes_and_flushes_each_have_their_journal(flush: Op) -> None:
    parts = (
        card_runs.part("write", 8192, card_runs.histogram((100_000, 20_000))),
        card_runs.part(flush, 0, card_runs.histogram((400_000, 5_000))),
    )
    mix = (MixItem("write", 8192), MixItem(flush, 0))
    record = card_runs.record("log 8k", Workload(mix=mix, sync="dsync"), card_runs.measurement(parts))
    enough = 32 * 1024 * 25_000
    assert _judge(replace(record, samples=_moved(record, more_bytes=enough))).evidence["foreign_share"] == 0
    assert _judge(replace(record, samples=_moved(record, more_bytes=1.1 * enough))).evidence["foreign_share"] > 0.05


@pytest.mark.parametrize(("size_bytes", "direct", "grade"), [(2300, False, "B"), (4096, False, "D"), (2300, True, "D")])
def test_pages_that_a_buffered_write_covers_in_part_are_read_first(size_bytes: int, direct: bool, grade: str) -> None:
    """etcd's test: 2300 bytes one after the other into a file that is there, each with fdatasync."""
    parts = (
        card_runs.part("write", size_bytes, card_runs.histogram((40_000, 8_000))),
        card_runs.part("fdatasync", 0, card_runs.histogram((400_000, 8_000))),
    )
    mix = (MixItem("write", size_bytes), MixItem("fdatasync", 0))
    load = Workload(mix=mix, locality=Sequential(), direct=direct)
    record = card_runs.record("etcd", load, card_runs.measurement(parts))
    did = record.measurement
    pages = 8_000 * 2300 // 4096
    samples = card_runs.diskstats(
        did.elapsed_ns, reads=pages, read_bytes=4096 * pages, writes=16_000, written_bytes=32 * 1024 * 8_000
    )
    judged = _judge(replace(record, samples=samples), replace(card_runs.TARGET, filesystem="ext4"))
    assert (judged.grade in "AB") == (grade == "B")


def test_late_writes_are_those_of_a_file_system() -> None:
    record = card_runs.reads(times=card_runs.histogram((1_000_000, 128)))
    samples = _moved(record, more_bytes=56 << 10, writes=14)
    assert _judge(replace(record, samples=samples)).evidence["foreign_share"] == 0
    raw = replace(card_runs.TARGET, kind="block", filesystem=None)
    assert _judge(replace(record, samples=samples), raw).evidence["foreign_share"] == pytest.approx(56 / (1024 + 56))


def test_a_cache_above_may_read_ahead_as_much_again() -> None:
    loop = Layer(name="loop0", kind="loop", major=7, minor=0, lower=("vda",))
    target = replace(card_runs.TARGET, kind="block", filesystem=None, layers=(loop, card_runs.VDA))
    record = card_runs.reads()
    own = record.measurement.bytes

    def share(beyond: float) -> TrustComponent:
        below = _moved(record, layer="vda", read_bytes=beyond * own)
        return _judge(replace(record, samples=_moved(record, layer="loop0") + below), target)

    assert (share(1.0).grade, share(1.0).evidence["foreign_share"]) == ("B", 0.0)
    assert share(1.0).evidence["unsure_write_share"] == pytest.approx(0.5)
    assert share(2.0).evidence["foreign_share"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(("filesystem", "others"), [(None, 150_000), ("ext4", 150_000), ("ext4", 3_000)])
def test_small_writes_beside_large_ones_are_counted_but_for_pages_of_the_file_system(
    filesystem: str | None, others: int
) -> None:
    times = card_runs.histogram((1_000_000, 3_000))
    did = card_runs.measurement((card_runs.part("write", MIB, times),))
    record = card_runs.record("write 1M", Workload(mix=(MixItem("write", MIB),)), did)
    layer = replace(card_runs.VDA, max_io_bytes=MIB)
    target = replace(card_runs.TARGET, filesystem=filesystem, layers=(layer,))
    part = _judge(replace(record, samples=_moved(record, layer="vda", writes=others, more_bytes=4096 * others)), target)
    pages = (0.02 * did.bytes + MIB * did.elapsed_ns / 1e9) / 4096 if filesystem else 0.0
    counted = max(0.0, others - 0.1 * 3_000 - pages)
    assert part.evidence["foreign_request_share"] == pytest.approx(counted / (others + 3_000), rel=1e-6)
    if others > 100_000:
        assert f"were other I/O ({round(counted / 3):,} IOPS)" in part.clause


def test_own_ios_of_all_sizes_count_as_the_pieces_that_they_are_split_into() -> None:
    record, target = _scan(256 << 10)
    extra = 20_000
    samples = _moved(record, layer="vda", reads=3 * 3_000 + extra, read_bytes=extra * 4096)
    share = _judge(replace(record, samples=samples), target).evidence["foreign_request_share"]
    assert share == pytest.approx((extra - 0.1 * 12_000) / (12_000 + extra))


@pytest.mark.parametrize(("kind", "seen"), [("raid0", False), ("linear", False), ("lvm", True)])
def test_the_queue_of_disks_is_not_judged_below_a_stripe(kind: str, seen: bool) -> None:
    lower = ("sda",) if kind == "lvm" else ("sda", "sdb")
    top = Layer(name="dm-0", kind=kind, major=9, minor=0, lower=lower, max_io_bytes=MIB)
    disks = [Layer(name=name, kind="disk", major=8, minor=0, max_io_bytes=MIB) for name in lower]
    record = card_runs.reads()
    busy = 100.0 * record.measurement.elapsed_ns
    samples = _moved(record, layer="dm-0")
    for name in lower:
        of_disk = replace(record, measurement=replace(record.measurement, classes=()))
        half = record.measurement.bytes / len(lower)
        samples += _moved(
            of_disk, layer=name, read_bytes=half, reads=record.measurement.ios / len(lower), queue_ns=busy
        )
    part = _judge(replace(record, samples=samples), replace(card_runs.TARGET, layers=(top, *disks)))
    assert (part.grade == "C") == seen


def test_a_row_that_writes_as_much_as_it_reads_has_been_counted() -> None:
    parts = tuple(card_runs.part(op, 8192, card_runs.histogram((666_666, 60_000))) for op in ("read", "write"))
    mix = (MixItem("read", 8192), MixItem("write", 8192))
    record = card_runs.record("mixed 8k", Workload(mix=mix), card_runs.measurement(parts))
    part = _judge(replace(record, samples=_moved(record)))
    assert (part.code, part.grade, part.clause) == (
        "isolation",
        "A",
        "0% of the bytes that vda1 moved were other I/O (0 bytes)",
    )


def test_what_rewrites_over_one_disk_may_read_and_write_more_but_not_for_reads() -> None:
    top = Layer(name="dm-0", kind="dm", major=253, minor=0, lower=("sda",), max_io_bytes=MIB)
    disk = Layer(name="sda", kind="disk", major=8, minor=0, max_io_bytes=MIB)
    target = replace(card_runs.TARGET, kind="block", filesystem=None, layers=(top, disk))
    for record, foreign in ((_writes(), 0.0), (card_runs.reads(), 0.5)):
        did = record.measurement
        more = {"reads": did.ios, "read_bytes": did.bytes, "writes": did.ios, "more_bytes": did.bytes}
        if foreign:
            more |= {"writes": 0, "more_bytes": 0}
        part = _judge(
            replace(record, samples=_moved(record, layer="dm-0") + _moved(record, layer="sda", **more)), target
        )
        assert part.evidence["foreign_share"] == foreign
        assert part.evidence["unsure_write_share"] == 0
        assert (part.evidence["foreign_request_share"] > 0.4) == bool(foreign)


def test_no_more_requests_are_others_than_their_bytes_have_room_for() -> None:
    record, target = _scan()
    samples = _moved(record, layer="vda", reads=90_000, read_bytes=512 * 1000)
    part = _judge(replace(record, samples=samples), target)
    assert part.evidence["foreign_request_share"] == pytest.approx(1000 / 93_000)


def test_requests_that_were_not_counted_are_no_others() -> None:
    record, target = _scan()
    did = record.measurement
    samples = card_runs.diskstats(did.elapsed_ns, layer="vda", reads=10**6, read_bytes=2 * did.bytes, written_bytes=0)
    part = _judge(replace(record, samples=samples), target)
    assert (part.grade, part.evidence["foreign_request_share"]) == ("F", 0.0)


def test_bytes_and_queue_of_others_are_both_told() -> None:
    record = _beside(0.2)
    queue = card_runs.diskstats(record.measurement.elapsed_ns, queue_ns=9 * record.measurement.elapsed_ns)
    target = replace(card_runs.TARGET, layers=(replace(card_runs.VDA1, max_io_bytes=MIB), card_runs.VDA))
    part = _judge(replace(record, samples=record.samples + queue), target)
    assert part.clause.startswith("20% of the bytes")
    assert part.more == (
        "Other I/O waited in the same queue: 9 requests at vda1 on average, at most 1 of them from this test."
    )


@pytest.mark.parametrize(("kind", "grade"), [("dm", "A"), ("lvm", "C")])
def test_the_queue_below_what_rewrites_is_not_judged(kind: str, grade: str) -> None:
    top = Layer(name="dm-0", kind=kind, major=253, minor=0, lower=("sda",), max_io_bytes=MIB)
    disk = Layer(name="sda", kind="disk", major=8, minor=0, max_io_bytes=MIB)
    record = _writes()
    samples = _moved(record, layer="dm-0") + _moved(record, layer="sda", queue_ns=100 * record.measurement.elapsed_ns)
    part = _judge(replace(record, samples=samples), replace(card_runs.TARGET, layers=(top, disk)))
    assert part.grade == grade


def test_nothing_is_known_of_others_on_a_simulated_device() -> None:
    """It is closed: what it is told of others is no evidence."""
    device = card_runs.SIMULATED.simulated
    assert device is not None
    noisy = replace(card_runs.SIMULATED, simulated=replace(device, noise=SimulatedNoise(rate_per_s=1500.0)))
    parts = [_judge(card_runs.reads(), target) for target in (noisy, card_runs.SIMULATED)]
    assert [(part.grade, part.evidence) for part in parts] == [("A", {})] * 2
    assert parts[0] == parts[1]
