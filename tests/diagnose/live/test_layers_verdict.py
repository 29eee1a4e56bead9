"""The verdict on means that were measured on PostgreSQL with planted conditions, and the three questions of ioh."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from iocast import metrics
from iocast.analyse.live.layer_times import LayerTime, LayerTimes, ReachedLimit, layer_times, times_by_device
from iocast.diagnose.live.layer_questions import answers
from iocast.diagnose.live.layers_verdict import verdict
from iocast.model.codes import LayerCode
from iocast.model.run import Sample

SECOND_NS = 1_000_000_000
Means = dict[str, Any]
COUNT = 1000
CAP = ReachedLimit(device="vda", metric=metrics.READ_IOS_PER_S, limit_per_s=2000, rate_per_s=1990)


def times(**told: Any) -> LayerTimes:
    """A second in which each layer was used a thousand times, with these means in µs; or `name=(mean, count)`, or
    `(mean, count, size)`.

    `limits` are those that were reached, `quota` the share of the time in which a quota held the group.
    """
    limits, quota, own = told.pop("limits", ()), told.pop("quota", None), told.pop("own_read_bytes", None)
    layers: dict[LayerCode, LayerTime] = {}
    for name, mean in told.items():
        mean_us, count, *size = mean if isinstance(mean, tuple) else (mean, COUNT)
        layer: LayerCode = name  # type: ignore[assignment]
        size_bytes = count * size[0] if size else None
        layers[layer] = LayerTime(layer=layer, count=count, sum_ns=round(mean_us * 1000 * count), bytes=size_bytes)
    return LayerTimes(elapsed_ns=SECOND_NS, layers=layers, limits=limits, quota_share=quota, own_read_bytes=own)


# Means in µs, measured on PostgreSQL: database, pread, bio, request, driver, wait for a processor.
STARVED: Means = {
    "database": 138,
    "read_call": 117,
    "bio_read": 45,
    "request_read": 46,
    "driver_read": 43,
    "run_queue": 67,
}
CAPPED: Means = {
    "database": 1827,
    "read_call": 1592,
    "bio_read": 353,
    "request_read": 349,
    "driver_read": 33,
    "run_queue": 177,
}
NEIGHBOUR: Means = {
    "database": 2030,
    "read_call": 3230,
    "bio_read": 3130,
    "request_read": 3087,
    "driver_read": 34,
    "run_queue": 51,
}
CACHED: Means = {
    "database": 68,
    "read_call": 59,
    "bio_read": (75, 640),
    "request_read": (76, 640),
    "driver_read": (65, 640),
}
QUIET: Means = {
    "database": 125,
    "read_call": 110,
    "bio_read": 92,
    "request_read": 91,
    "driver_read": 85,
    "run_queue": 9,
}


@pytest.mark.parametrize(
    ("seen", "code", "rule"),
    [
        (times(**STARVED), "cpu", 1),
        (times(**CAPPED, limits=(CAP,)), "throttle", 2),
        # At its limit a group is no slower for waiting for a processor meanwhile.
        (times(**{**CAPPED, "run_queue": 1100}, limits=(CAP,)), "throttle", 2),
        (times(**CAPPED), "file_system", 2),
        (times(**NEIGHBOUR), "device_queue", 3),
        (times(**CACHED), "none", None),
        (times(**QUIET), "none", None),
        (times(**{**CAPPED, "run_queue": 9}, quota=0.4), "cpu", 1),
        (times(read_call=9100, bio_read=9000, request_read=9000, driver_read=8900, run_queue=5), "device", 4),
        (times(sync_call=28_000, bio_write=150, bio_flush=50, run_queue=5), "journal", 5),
        (times(sync_call=173, bio_write=37, bio_flush=27, run_queue=5), "none", None),
        # Slower, and still what a journal writes: three writes and two flushes.
        (times(sync_call=1400, bio_write=300, bio_flush=200, run_queue=5), "none", None),
        (times(sync_call=2000, bio_write=300, bio_flush=200, run_queue=5), "journal", 5),
        (times(nfs_queue=507_000, nfs_round_trip=10_500), "nfs_slots", 6),
        (times(nfs_queue=0, nfs_round_trip=61_000), "nfs_server", 6),
        (times(nfs_queue=0, nfs_round_trip=900), "none", None),
        (times(**{**QUIET, "database": 900}), "engine", 7),
        # Measured on Linux 6.18, where a quota holds a process on its way back from a call.
        (times(database=1500, read_call=108, bio_read=58, driver_read=55, run_queue=8, quota=0.83), "cpu", 1),
        # The weakest of five starved servers; waits are seen, so that a smaller gap will do.
        (times(read_call=103, bio_read=64, request_read=62, driver_read=59, run_queue=36), "cpu", 1),
        (times(read_call=87, bio_read=56, request_read=55, driver_read=53, run_queue=8), "none", None),
        # Beside one process that keeps one of two processors busy.
        (times(read_call=91, bio_read=52, request_read=51, driver_read=50, run_queue=20), "none", None),
        (times(**QUIET, client=4000), "client_path", 8),
        (times(**{**QUIET, "database": (0, 0)}), "late_statistics", 9),
        (times(**{name: (mean, 3) for name, mean in CAPPED.items()}), "unknown", None),
        (times(), "unknown", None),
    ],
)
def test_the_layer_that_loses_the_time(seen: LayerTimes, code: str, rule: int | None) -> None:
    found = verdict(seen)
    assert (found.code, found.rule) == (code, rule)
    assert found.says
    assert found.refuted_by


def test_an_engine_is_not_blamed_for_a_gap_that_chance_explains() -> None:
    """A quiet server beside a busy neighbour: its few reads take 1 or 8 ms, and its statistics are of other ones."""
    slow, quick = 8_388_608, 1_048_576
    calls = LayerTime(layer="read_call", count=30, sum_ns=30 * 3_000_000, buckets={quick: 21, slow: 9})
    few = times(database=(5500, 25), bio_read=(2900, 30), driver_read=(2800, 30))
    by_chance = replace(few, layers={**few.layers, "read_call": calls})
    assert verdict(by_chance).code == "device"
    assert not [lost for lost in verdict(by_chance).others if lost.code == "engine"]
    for_sure = times(database=(6000, 2500), bio_read=(2900, 3000), driver_read=(2800, 3000))
    many = LayerTime(layer="read_call", count=3000, sum_ns=3000 * 3_000_000, buckets={quick: 2100, slow: 900})
    losses = verdict(replace(for_sure, layers={**for_sure.layers, "read_call": many}))
    assert losses.code == "engine"


def test_an_engine_is_not_blamed_where_the_page_cache_answers_most_calls() -> None:
    """An idle server beside a busy neighbour: 25 of its 100 calls wait for the device, the others take 2 µs."""
    calls = LayerTime(layer="read_call", count=100, sum_ns=100 * 2_450_000, buckets={2048: 75, 16_777_216: 25})
    idle = times(database=(9800, 25), bio_read=(9700, 25), driver_read=(33, 25))
    losses = verdict(replace(idle, layers={**idle.layers, "read_call": calls}))
    assert "engine" not in [lost.code for lost in (losses, *losses.others)]


def test_reads_of_a_device_that_no_call_waits_for_are_not_told() -> None:
    """An idle server: its calls take 2 µs, and a neighbour's reads 8 ms."""
    idle = verdict(times(read_call=(2, 40), bio_read=(8100, 9000), request_read=(8000, 9000), driver_read=(1900, 9000)))
    assert (idle.code, idle.says) == ("none", "No layer loses time: read call 2 µs.")


def test_a_write_throttle_is_named_by_its_commits() -> None:
    cap = ReachedLimit(device="vda", metric=metrics.WRITE_IOS_PER_S, limit_per_s=100, rate_per_s=98)
    found = verdict(times(sync_call=28_000, bio_write=150, bio_flush=50, run_queue=5, limits=(cap,)))
    assert (found.code, found.rule) == ("throttle", 2)
    assert "98 of 100 IOPS on vda" in found.says


def test_the_figures_stand_in_the_verdict() -> None:
    found = verdict(times(**CAPPED, limits=(CAP,)))
    assert found.says == (
        "Throttle above the block layer: a read call takes 1.6 ms, its bio 353 µs; a call waits 177 µs for a "
        "processor; its control group does 1990 of 2000 IOPS on vda. iostat does not see it."
    )
    assert found.evidence["limit_per_s"] == 2000
    assert found.lost_share == pytest.approx(1.239)
    assert [lost.code for lost in found.others] == ["device_queue"]


def test_what_was_not_seen_is_said() -> None:
    found = verdict(times(read_call=1592, bio_read=353))
    assert found.code == "file_system"
    assert "it may be the CPU" in found.says
    assert found.missing == ("driver_read", "run_queue")


def test_calls_without_a_bio_came_from_the_page_cache() -> None:
    assert times(**CACHED).cached_share == pytest.approx(0.36)
    assert times(read_call=3, bio_read=(0, 0)).cached_share == 1
    assert times(read_call=3, bio_read=(70, 5000)).cached_share == 0, "read-ahead, or others"
    assert times(read_call=3).cached_share is None


def test_io_of_others_is_not_ours() -> None:
    """Writes of others wait in the queue of the device: those who are followed wrote nothing."""
    others = {"request_write": 6000, "bio_write": 6100, "driver_write": 500}
    assert verdict(times(**QUIET, **others)).code == "none"
    assert verdict(times(**others)).code == "device_queue"


# Measured: a neighbour that keeps 512 reads of 64k outstanding on the disk of a PostgreSQL.
CROWDED: Means = {
    "read_call": (15_583, 847, 8192),
    "bio_read": (9265, 142_012, 65_000),
    "request_read": (9300, 122_626, 65_536),
    "driver_read": (8900, 129_078, 65_536),
    "run_queue": 124,
}


def test_others_that_keep_the_device_busy_are_named() -> None:
    found = verdict(times(**CROWDED))
    assert (found.code, found.rule) == ("device_queue", 3)
    assert found.says.startswith(
        "The queue of the device, shared with others: they read 100% of its bytes and keep 1139 "
    )
    assert found.evidence["others_outstanding"] == pytest.approx(1140, rel=0.01)
    assert not found.others, "the device is not slow by itself, and no lock holds the calls back"
    ours = verdict(times(**CROWDED, own_read_bytes=122_626 * 65_536))
    assert (ours.code, ours.rule) == ("device", 4), "those who are followed read it without a call (mmap, read-ahead)"
    blocks = dict.fromkeys(("bio_read", "request_read", "driver_read"), (200, 122_626, 65_536))
    assert verdict(times(**{**CROWDED, **blocks, "read_call": (250, 847, 8192)})).code == "none", "quick all the same"


def test_what_nobody_waits_for_loses_no_time() -> None:
    """Measured: reads of a table of which half is cached; read-ahead and prefetch wait in the queue, calls do not."""
    ahead: Means = {"read_call": (28, 8544), "bio_read": (454, 3230), "request_read": (452, 3230)}
    assert verdict(times(**ahead, driver_read=(240, 3230))).code == "none"
    assert verdict(times(**ahead, driver_read=(2400, 3230))).code == "none"
    waiting = {**ahead, "read_call": (500, 3230)}
    assert verdict(times(**waiting, driver_read=(240, 3230))).code == "device_queue"


def test_late_statistics_hide_nothing_below_the_database() -> None:
    """PostgreSQL reports at most once a second: an interval of a second may have none."""
    found = verdict(times(**{**STARVED, "database": (0, 0)}))
    assert (found.code, [lost.code for lost in found.others]) == ("cpu", ["late_statistics"])
    assert verdict(times(**{**QUIET, "database": (0, 0)})).code == "late_statistics"


def test_a_small_gap_is_not_blamed_on_the_file_system() -> None:
    """A processor that sleeps takes tens of microseconds to come, in a virtual machine above all."""
    assert verdict(times(read_call=100, bio_read=40, request_read=40, driver_read=38, run_queue=8)).code == "none"
    assert verdict(times(read_call=200, bio_read=40, request_read=40, driver_read=38, run_queue=8)).rule == 2


@pytest.mark.parametrize(
    ("seen", "yes", "code"),
    [
        # The sample of ioh: io 4.60, file system 8.51, NFS client 22.67 ms.
        (times(bio_read=4600, driver_read=4600, read_call=8510), (False, None, True), "file_system"),
        (times(nfs_round_trip=8510, nfs_queue=0, client=22_670), (None, True, None), "client_path"),
        (times(bio_read=14_000, driver_read=13_900, read_call=14_100), (True, None, False), "device"),
        (times(), (None, None, None), "unknown"),
    ],
)
def test_the_three_questions_of_ioh(seen: LayerTimes, yes: tuple[bool | None, ...], code: str) -> None:
    found = answers(seen)
    assert tuple(answer.yes for answer in found) == yes
    assert verdict(seen).code == code


def test_the_questions_are_answered_in_sentences() -> None:
    said = [answer.says for answer in answers(times(bio_read=4600, read_call=8510, client=22_670))]
    assert said == [
        "Is the storage slow? No, for a disk: a read takes 4.60 ms; 3.00 ms to 12.0 ms are usual.",
        "Do the network or the client lose time? Yes: the client waits 22.7 ms, the server takes 8.51 ms.",
        "Does the file system lose time? Yes: a read of a file takes 8.51 ms, of the device 4.60 ms.",
    ]


READS_OF_IT = {"count": 1000, "sum_ns": 1_592_000_000, "lt_2000000ns": 900}


def test_samples_become_times() -> None:
    """Deltas between two instants, by names; the group that is at its limit is found by what it did itself."""

    def at(time_ns: int, factor: int) -> list[Sample]:
        told = [
            (metrics.SYSTEM_CALLS, "postgres|pread64|8192", READS_OF_IT),
            (metrics.SYSTEM_CALLS, "postgres|fdatasync|0", {"count": 10, "sum_ns": 1_000_000}),
            (metrics.SYSTEM_CALLS, "other|pread64|8192", {"count": 7, "sum_ns": 7}),
            (metrics.BLOCK_LAYER, "vda|bio|read|8192", {"count": 500, "sum_ns": 176_500_000, "bytes": 4_096_000}),
            (metrics.BLOCK_LAYER, "vda|driver|read|8192", {"count": 500, "sum_ns": 16_500_000}),
            (metrics.BLOCK_LAYER, "sdb|bio|read|8192", {"count": 9, "sum_ns": 9}),
            (metrics.PROCESSES, "4711|postgres", {"run_delay_ns": 177_000_000, "timeslices": 1000}),
            (metrics.THROTTLING, "/blkio/db|vda", {"reads": 500}),
        ]
        samples = [
            Sample(time_ns, observer, subject, metric, float(7 + value * factor))
            for observer, subject, counters in told
            for metric, value in counters.items()
        ]
        limit = Sample(time_ns, metrics.THROTTLING, "/blkio/db|vda", metrics.READ_IOS_PER_S, 250.0)
        return [*samples, limit]

    found = layer_times([*at(0, 0), *at(2 * SECOND_NS, 1)], devices=("vda",), commands=("postgres",))
    assert found.elapsed_ns == 2 * SECOND_NS
    assert (found.count("read_call"), found.mean_ns("read_call")) == (1000, 1_592_000)
    assert found.layers["read_call"].buckets == {2_000_000: 900}
    assert found.layers["read_call"].below_ns(0.5) == 2_000_000
    assert (found.count("sync_call"), found.count("bio_read"), found.count("write_call")) == (10, 500, 0)
    assert found.sum_ns("run_queue") == 177_000_000
    assert found.limits == (
        ReachedLimit(device="vda", metric=metrics.READ_IOS_PER_S, limit_per_s=250.0, rate_per_s=250.0),
    )
    assert verdict(found).code == "throttle"


def test_a_quota_holds_for_all_of_the_time_at_most() -> None:
    """Version 1 of control groups adds up what it held on each processor."""
    found = verdict(times(database=1584, read_call=93, bio_read=69, driver_read=65, quota=1.31))
    assert "held it for 100% of the time" in found.says
    assert found.evidence["quota_share"] == 1.31


def test_a_quota_is_a_share_of_the_time_and_a_far_limit_is_none() -> None:
    def at(time_ns: int, held_ns: float, reads: float) -> list[Sample]:
        return [
            Sample(time_ns, metrics.THROTTLING, "/cpu/db", metrics.THROTTLED_NS, held_ns),
            Sample(time_ns, metrics.THROTTLING, "/blkio/db|vda", metrics.READS, reads),
            Sample(time_ns, metrics.THROTTLING, "/blkio/db|vda", metrics.READ_IOS_PER_S, 250.0),
        ]

    found = layer_times([*at(0, 5.0, 100.0), *at(SECOND_NS, 5.0 + SECOND_NS / 4, 120.0)])
    assert (found.quota_share, found.limits) == (0.25, ())


# Recorded: ext4 on a loop device over a FUSE file whose fsync takes 20 ms, `fio --fsync=1`; a quick disk beside it.
SLOW_FLUSH = (
    (metrics.KERNEL_LAYERS, "", {"events": 900}),
    (metrics.SYSTEM_CALLS, "fio|fsync|0", {"count": 24, "sum_ns": 1_008_000_000}),
    (metrics.SYSTEM_CALLS, "fio|pwrite64|8192", {"count": 24, "sum_ns": 936_000}),
    (metrics.CALLS_BY_DEVICE, "loop0|fsync", {"count": 24, "sum_ns": 1_008_000_000}),
    (metrics.CALLS_BY_DEVICE, "loop0|pwrite64", {"count": 24, "sum_ns": 936_000, "bytes": 196_608}),
    (metrics.BLOCK_LAYER, "loop0|bio|write|8192", {"count": 96, "sum_ns": 499_200_000, "bytes": 524_288}),
    (metrics.BLOCK_LAYER, "loop0|request|write|8192", {"count": 72, "sum_ns": 496_800_000, "bytes": 524_288}),
    (metrics.BLOCK_LAYER, "loop0|driver|write|8192", {"count": 72, "sum_ns": 15_912_000, "bytes": 524_288}),
    (metrics.BLOCK_LAYER, "loop0|driver|flush|0", {"count": 48, "sum_ns": 960_000_000}),
    (metrics.BLOCK_LAYER, "vda|bio|write|8192", {"count": 9, "sum_ns": 1_485_000, "bytes": 73_728}),
    (metrics.BLOCK_LAYER, "vda|driver|write|8192", {"count": 9, "sum_ns": 1_395_000, "bytes": 73_728}),
    (metrics.BLOCK_LAYER, "vda|bio|read|8192", {"count": 164, "sum_ns": 45_592_000, "bytes": 671_744}),
    (metrics.BLOCK_LAYER, "vda|driver|read|8192", {"count": 132, "sum_ns": 33_660_000, "bytes": 671_744}),
    (metrics.PROCESSES, "4711|fio", {"run_delay_ns": 20_000_000, "timeslices": 400}),
)


def recorded(*counters: tuple[str, str, dict[str, int]]) -> list[Sample]:
    """The samples at both ends of a second in which these counters went so far."""
    return [
        Sample(at * SECOND_NS, observer, subject, metric, float(7 + value * at))
        for at in (0, 1)
        for observer, subject, values in counters
        for metric, value in values.items()
    ]


def test_a_sync_call_is_held_against_the_flush_of_its_own_device() -> None:
    answer = verdict(times_by_device(recorded(*SLOW_FLUSH), ("vda",)))
    assert (answer.code, answer.rule, answer.others) == ("device", 4, ())
    assert answer.says == "The device, or what is below it: a flush of loop0 takes 20 ms, a sync call 42 ms."
    assert answer.evidence["flush_ns"] == 20_000_000


def test_a_slow_flush_is_walked_down_to_the_device_that_is_slow() -> None:
    below = (
        (metrics.DEVICES_BELOW, "loop0|sdb", {"depth": 0}),
        (metrics.BLOCK_LAYER, "sdb|driver|flush|0", {"count": 48, "sum_ns": 912_000_000}),
    )
    answer = verdict(times_by_device(recorded(*SLOW_FLUSH, *below), ("vda", "sdb")))
    assert "a flush of loop0 takes 20 ms (of sdb below it 19 ms), a sync call 42 ms" in answer.says


def test_a_slow_flush_is_named_where_devices_are_not_told_apart() -> None:
    answer = verdict(times(sync_call=41_000, bio_write=306, driver_write=300, driver_flush=20_000, run_queue=5))
    assert (answer.code, answer.rule) == ("device", 4)


def test_a_flush_that_nobody_waits_for_loses_no_time() -> None:
    """Another process syncs on another device: those who are followed only read."""
    quick = (
        (metrics.SYSTEM_CALLS, "postgres|fsync|0", {"count": 100, "sum_ns": 20_000_000}),
        (metrics.CALLS_BY_DEVICE, "vda|fsync", {"count": 100, "sum_ns": 20_000_000}),
        (metrics.BLOCK_LAYER, "vda|bio|write|8192", {"count": 300, "sum_ns": 15_000_000}),
    )
    devices = [each for each in SLOW_FLUSH if each[0] == metrics.BLOCK_LAYER and each[1].startswith("loop0")]
    answer = verdict(times_by_device(recorded(*quick, *devices), ("vda",)))
    assert answer.code == "none"
    assert "0 s" not in answer.says


def test_a_flush_that_was_not_seen_is_no_figure() -> None:
    answer = verdict(times(sync_call=28_000, bio_write=150, run_queue=5))
    assert "flush" not in answer.says
    assert "bio_flush_ns" not in answer.evidence


def test_figures_that_cannot_belong_together_are_unknown() -> None:
    """Of io_uring of other processes: 14 ms a call, and next to no I/O of a device that belongs to them."""
    answer = verdict(times(read_call=14_000, bio_read=(80, 30), driver_read=(75, 30), run_queue=5))
    assert (answer.code, answer.rule) == ("unknown", None)
    assert answer.says.startswith("Unknown: a read call takes 14 ms; the I/O that was seen of its device does not")
    assert verdict(times(sync_call=41_000, bio_write=0.1, run_queue=5)).code == "unknown"


def test_writes_of_the_page_cache_wait_for_nobody() -> None:
    """Those who are followed write to the page cache; others make requests of writes wait."""
    waiting = {"bio_write": 5600, "request_write": 5500, "driver_write": 300}
    assert verdict(times(**QUIET, write_call=12, **waiting)).code == "none"
    assert verdict(times(**QUIET, write_call=6000, **waiting)).code == "device_queue"


def test_what_slows_nobody_down_is_no_verdict() -> None:
    """A server that is nearly idle: its few reads are those of whoever asks for its statistics."""
    few: Means = {"database": (131, 40), "read_call": (24, 40), "bio_read": (20, 40), "driver_read": (19, 40)}
    assert verdict(times(**few)).code == "none"


def test_reads_of_a_database_are_held_against_its_own_calls() -> None:
    others: Means = {"database": (900, 1000), "read_call": (100, 5000), "bio_read": (90, 5000)}
    assert verdict(times(**others)).code == "none"


def test_layers_that_are_not_watched_are_no_quick_ones() -> None:
    answer = verdict(times_by_device(recorded((metrics.PROCESSES, "4711|postgres", {"run_delay_ns": 5})), ()))
    assert (answer.code, answer.says) == ("unknown", "Layers are not watched (needs root): no verdict.")


def test_a_read_that_waits_for_its_process_is_no_time_of_the_file_system() -> None:
    """Recorded: fio with io_uring at a depth of 64 on a busy machine; a completion waits until the process runs."""
    counters = (
        (metrics.SYSTEM_CALLS, "fio|uring_read|8192", {"count": 20_000, "sum_ns": 48_000_000_000}),
        (metrics.CALLS_BY_DEVICE, "vda|pread64", {"count": 1, "sum_ns": 90_000}),
        (metrics.BLOCK_LAYER, "vda|bio|read|8192", {"count": 20_000, "sum_ns": 22_000_000_000}),
    )
    answer = verdict(times_by_device(recorded(*counters), ("vda",)))
    assert answer.code == "unknown"
    assert "asynchronous" in answer.says


def test_calls_that_nobody_makes_are_too_few_whatever_others_do() -> None:
    others: Means = {"bio_read": 90, "driver_read": 85, "run_queue": 9}
    assert verdict(times(**others, read_call=(24, 3))).says == (
        "Unknown: 1,000 block I/Os were seen, but almost no call that waits for one: the I/O is asynchronous, or that"
        " of other processes."
    )


def test_no_call_waits_longer_for_a_processor_than_it_takes() -> None:
    """Recorded: fifty committers on two processors; they wait between their calls, too."""
    answer = verdict(times(sync_call=2400, bio_write=118, driver_flush=76, run_queue=8600))
    assert answer.code == "cpu"
    assert "8.6 ms" not in answer.says
    assert answer.says.endswith("its processes wait longer for a processor than their calls take.")


def test_io_without_a_call_is_said() -> None:
    """A database that maps its files, and one that submits by libaio: no call stands for their I/O."""
    faults = verdict(replace(times(**QUIET), major_faults=1200))
    assert (faults.code, faults.says) == (
        "unknown",
        "Unknown: 1,200 page faults a second wait for I/O (mmap), and how long they take is not watched.",
    )
    assert verdict(replace(times(**QUIET), has_aio=True)).says.startswith("Unknown: it uses libaio")
    assert verdict(replace(times(**QUIET), major_faults=12)).code == "none"
    assert verdict(replace(times(**STARVED), major_faults=1200)).code == "cpu", "what is seen is still judged"


def test_page_faults_and_libaio_are_read_from_the_processes() -> None:
    counters = (metrics.PROCESSES, "4711|mdb", {"major_faults": 900})
    samples = [*recorded(counters), Sample(SECOND_NS, metrics.PROCESSES, "4711|mdb", metrics.AIO_CONTEXTS, 1.0)]
    seen = layer_times(samples)
    assert (seen.major_faults, seen.has_aio) == (900, True)


def test_who_makes_no_call_does_not_wait_for_the_queue_of_others() -> None:
    """Recorded: a reader by libaio beside writes of others."""
    others = (
        (metrics.KERNEL_LAYERS, "", {"events": 900}),
        (metrics.BLOCK_LAYER, "vda|request|write|8192", {"count": 500, "sum_ns": 3_900_000_000}),
        (metrics.BLOCK_LAYER, "vda|driver|write|8192", {"count": 500, "sum_ns": 600_000_000}),
    )
    answer = verdict(times_by_device(recorded(*others), ("vda",)))
    assert (answer.code, answer.rule) == ("unknown", None)


def test_a_call_that_only_begins_to_write_is_no_sync_call() -> None:
    """A checkpoint calls sync_file_range by the thousand before it syncs each file."""
    seen = layer_times(
        recorded(
            (metrics.SYSTEM_CALLS, "postgres|sync_file_range|0", {"count": 2000, "sum_ns": 4_000_000}),
            (metrics.SYSTEM_CALLS, "postgres|fdatasync|0", {"count": 10, "sum_ns": 200_000_000}),
        )
    )
    assert (seen.count("sync_call"), seen.mean_ns("sync_call")) == (10, 20_000_000)


def test_a_few_calls_that_take_most_of_the_time_are_enough() -> None:
    """Measured: a flush of 120 ms leaves four sync calls a second."""
    answer = verdict(times(sync_call=(242_000, 4), bio_write=(300, 16), driver_flush=(120_000, 8), run_queue=5))
    assert (answer.code, answer.rule) == ("device", 4)
