"""What the device saw: deltas, sizes, queues, and counters that wrap, stand still or are not there."""

from __future__ import annotations

import msgspec
import pytest
from makers import card_runs

from iocast.analyse.device_io import device_io, top_layers, under_filesystem
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
