"""What the device saw: deltas, sizes, queues, and counters that wrap, stand still or are not there."""

from __future__ import annotations

import msgspec
import pytest
from makers import card_runs

from iocast.analyse.device_io import DeviceIo, device_io, together, top_layers, under_filesystem
from iocast.metrics import DEVICE_TIME_PERIOD_NS
from iocast.model.run import PhaseRecord, Sample
from iocast.model.target import Layer

SECOND_NS = card_runs.SECOND_NS


def _record(*samples: Sample) -> PhaseRecord:
    return card_runs.reads(samples=tuple(samples))


def _disk(name: str, *lower: str) -> Layer:
    return Layer(name=name, kind="disk", major=8, minor=0, lower=lower)


def test_deltas_sizes_queue_and_await() -> None:
    samples = card_runs.diskstats(
        2 * SECOND_NS,
        reads=1000,
        reads_merged=0,
        read_bytes=8_192_000,
        read_ns=4 * SECOND_NS,
        writes=500,
        writes_merged=500,
        written_bytes=8_192_000,
        write_ns=SECOND_NS,
        queue_ns=5 * SECOND_NS,
    )
    record = card_runs.reads(samples=samples, elapsed_ns=2 * SECOND_NS)
    seen = device_io(record)["vda1"]
    assert seen.read_size_bytes == 8192
    assert seen.write_size_bytes == 16384
    assert seen.size_bytes == pytest.approx(16_384_000 / 1500)
    assert seen.queue_mean == 2.5
    assert seen.read_await_ns == 4_000_000
    assert seen.write_await_ns == 2_000_000
    assert seen.merged_share == 0.25


def test_the_queue_is_that_of_the_load_and_not_of_its_set_up() -> None:
    """The first sample was taken a second before the load began: nothing was in the queue then."""
    samples = card_runs.diskstats(2 * SECOND_NS, queue_ns=8 * SECOND_NS)
    record = card_runs.reads(samples=samples, elapsed_ns=SECOND_NS)
    assert device_io(record)["vda1"].queue_mean == 8.0


@pytest.mark.parametrize(
    ("writes", "flushes", "size_bytes"),
    [(2000, 1000, 8192), (1000, 0, 8192), (1000, 1000, 8192), (1000, None, 8192)],
)
def test_a_flush_is_no_write_of_half_the_size(writes: int, flushes: int | None, size_bytes: int) -> None:
    """A thousand commits of 8 KiB; the kernel counts a flush without data as a write of nought bytes."""
    counters = {"writes": writes, "written_bytes": 1000 * 8192, "reads": 0, "read_bytes": 0}
    if flushes is not None:
        counters["flushes"] = flushes
    seen = device_io(_record(*card_runs.diskstats(SECOND_NS, **counters)))["vda1"]
    assert (seen.write_size_bytes, seen.size_bytes) == (size_bytes, size_bytes)


def test_what_the_kernel_does_not_say_is_none_and_not_nought() -> None:
    seen = device_io(_record(*card_runs.diskstats(SECOND_NS, reads=10, read_bytes=40_960)))["vda1"]
    assert seen.flushes is None
    assert seen.queue_mean is None
    assert seen.size_bytes is None  # without the writes it would be a guess
    assert not seen.stood_still


def test_a_time_counter_that_starts_again_is_continued() -> None:
    samples = (
        Sample(0, "diskstats", "sda", "queue_ns", DEVICE_TIME_PERIOD_NS - SECOND_NS),
        Sample(SECOND_NS, "diskstats", "sda", "queue_ns", 3 * SECOND_NS),
    )
    assert device_io(_record(*samples))["sda"].queue_ns == 4 * SECOND_NS


@pytest.mark.parametrize("metric", ["queue_ns", "reads"])
def test_a_counter_that_fell_for_another_reason_is_not_believed(metric: str) -> None:
    samples = (
        Sample(0, "diskstats", "sda", metric, 5e9),
        Sample(SECOND_NS, "diskstats", "sda", metric, 1e9),
    )
    assert getattr(device_io(_record(*samples))["sda"], metric) is None


def test_one_sample_is_no_delta() -> None:
    assert device_io(_record(Sample(0, "diskstats", "sda", "reads", 5.0))) == {}


def test_other_observers_are_left_alone() -> None:
    samples = [Sample(at, "pressure", "io", "some", at) for at in (0, SECOND_NS)]
    assert device_io(_record(*samples)) == {}


def test_under_the_filesystem_is_the_top_layer_and_not_the_disk() -> None:
    samples = card_runs.diskstats(SECOND_NS, reads=10) + card_runs.diskstats(SECOND_NS, layer="vda", reads=99)
    seen = under_filesystem(device_io(_record(*samples)), card_runs.TARGET)
    assert seen is not None
    assert (seen.layer, seen.reads) == ("vda1", 10)


def test_a_layer_without_counters_is_seen_through_to_the_only_one_below() -> None:
    seen = under_filesystem(
        device_io(_record(*card_runs.diskstats(SECOND_NS, layer="vda", reads=99))), card_runs.TARGET
    )
    assert seen is not None
    assert seen.layer == "vda"


def test_a_mirror_without_counters_is_not_guessed_from_its_halves() -> None:
    layers = (_disk("md0", "sda", "sdb"), _disk("sda"), _disk("sdb"))
    target = msgspec.structs.replace(card_runs.TARGET, layers=layers)
    samples = card_runs.diskstats(SECOND_NS, layer="sda", reads=5)
    samples += card_runs.diskstats(SECOND_NS, layer="sdb", reads=5)
    assert under_filesystem(device_io(_record(*samples)), target) is None


def test_devices_side_by_side_are_summed_and_none_may_be_missing() -> None:
    target = msgspec.structs.replace(card_runs.TARGET, layers=(_disk("sda"), _disk("sdb")))
    both = card_runs.diskstats(SECOND_NS, layer="sda", reads=5) + card_runs.diskstats(SECOND_NS, layer="sdb", reads=7)
    assert len(top_layers(target)) == 2
    seen = under_filesystem(device_io(_record(*both)), target)
    assert seen is not None
    assert (seen.layer, seen.reads, seen.writes) == ("sda+sdb", 12, None)
    alone = _record(*card_runs.diskstats(SECOND_NS, layer="sda", reads=5))
    assert under_filesystem(device_io(alone), target) is None


def test_a_device_stood_still_where_not_one_request_was_counted() -> None:
    counted = [(0, 0), (1, 0), (0, 1), (None, 0), (0, None)]
    still = [DeviceIo(layer="sda", elapsed_ns=1, reads=reads, writes=writes).stood_still for reads, writes in counted]
    assert still == [True, False, False, False, False]


def test_every_counter_is_read_under_its_own_name() -> None:
    counters = {name: 1000 * at for at, name in enumerate(DeviceIo.__struct_fields__[2:], 1)}
    seen = device_io(_record(*card_runs.diskstats(SECOND_NS, **counters)))
    assert msgspec.structs.asdict(seen["vda1"]) == {
        "layer": "vda1",
        "elapsed_ns": card_runs.reads().measurement.elapsed_ns,
        **counters,
    }


def test_shares_and_sizes_of_a_device_that_did_nothing_are_unknown() -> None:
    idle = DeviceIo(layer="sda", elapsed_ns=0, reads=0, read_bytes=0, writes=0, written_bytes=0, queue_ns=0)
    assert (idle.read_size_bytes, idle.write_size_bytes, idle.size_bytes) == (None, None, None)
    assert (idle.read_await_ns, idle.write_await_ns, idle.queue_mean, idle.merged_share) == (None, None, None, None)


def test_the_merged_share_needs_both_kinds_of_merges() -> None:
    some = DeviceIo(layer="sda", elapsed_ns=1, reads=60, reads_merged=10, writes=20, writes_merged=10)
    assert some.merged_share == 0.2
    assert msgspec.structs.replace(some, writes_merged=None).merged_share is None
    assert msgspec.structs.replace(some, reads=None).merged_share is None


def test_several_layers_without_counters_are_seen_through_as_long_as_each_stands_on_one() -> None:
    layers = (_disk("dm-1", "dm-0"), _disk("dm-0", "sda1"), _disk("sda1", "sda"), _disk("sda"))
    target = msgspec.structs.replace(card_runs.TARGET, layers=layers)
    samples = card_runs.diskstats(SECOND_NS, layer="sda", reads=5)
    seen = under_filesystem(device_io(_record(*samples)), target)
    assert seen is not None
    assert (seen.layer, seen.reads) == ("sda", 5)
    assert under_filesystem({}, target) is None, "not even the disk has counters"
    unknown = msgspec.structs.replace(target, layers=layers[:2])
    assert under_filesystem(device_io(_record(*samples)), unknown) is None, "nothing is known of what lies below"
    assert under_filesystem({}, msgspec.structs.replace(target, layers=())) is None


def test_the_sum_of_several_layers_has_their_names_and_the_longest_time() -> None:
    one = DeviceIo(layer="sda", elapsed_ns=7, reads=1, read_bytes=10, flushes=3)
    other = DeviceIo(layer="sdb", elapsed_ns=9, reads=2, read_bytes=20)
    third = DeviceIo(layer="sdc", elapsed_ns=8, reads=4, read_bytes=40, flushes=5)
    assert together([one, other, third]) == DeviceIo(layer="sda+sdb+sdc", elapsed_ns=9, reads=7, read_bytes=70)
    assert together([one]) is one
