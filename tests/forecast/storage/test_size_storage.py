"""Sizing: Kolk's rule, each need can bind, a failure, growth, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import pytest
from msgspec.structs import replace

from iocast.errors import SpecError
from iocast.forecast.laws.open_queues import mm1
from iocast.forecast.storage.size_storage import (
    AFTER_FAILURE,
    RatedDevice,
    Rates,
    Sized,
    TooSlow,
    carried_by,
    data_devices,
    size_storage,
    whole_groups,
    without_one,
)
from iocast.forecast.storage.storage_device import Pool, built_in
from iocast.forecast.storage.storage_need import LatencyLimit, Layout, StorageNeed

NEED = StorageNeed(capacity_bytes=200e9, iops=2450, size_bytes=8000)
NONE = Layout(level="raid0")


def sized(device: str = "hdd-15k", layout: Layout = NONE, **changes: Any) -> Sized:
    return size_storage(replace(NEED, **changes), RatedDevice(built_in(device)), layout)


def counts(found: Sized) -> dict[str, int]:
    return {each.code: each.devices for each in found.counts}


def test_kolk_takes_the_larger_of_storage_and_iops() -> None:
    found = sized()
    assert counts(found) == {"capacity": 2, "iops": 30, "throughput": 0}
    assert (found.devices, found.binding) == (30, "iops")
    assert found.normal.utilisation == pytest.approx(2450 / 30 / (1 / 0.0072), rel=1e-3)
    assert found.normal.mean_s == pytest.approx(mm1(2450 / 30, 0.0072).response_s, rel=0.01)
    assert found.failed is None


def test_without_iops_the_capacity_binds() -> None:
    assert sized(iops=0.0, bytes_per_s=10e6).binding == "capacity"


def test_a_pair_of_mirrors_is_bound_by_no_need() -> None:
    small = {"capacity_bytes": 100e9, "iops": 10.0}
    assert sized(layout=Layout(level="raid10"), **small).binding == "layout"
    assert sized(**small).binding == "layout"
    assert sized(**{**small, "capacity_bytes": 147e9}).binding == "capacity"
    assert sized(layout=Layout(level="raid5"), **{**small, "capacity_bytes": 293e9}).binding == "capacity"
    assert sized(layout=Layout(level="raid5"), **{**small, "capacity_bytes": 292e9}).binding == "layout"


def test_throughput_binds() -> None:
    found = sized(bytes_per_s=4e9)
    assert (found.binding, found.devices) == ("throughput", 100)
    assert found.throughput_utilisation == 1.0


def test_60_percent_of_one_disk_is_two_and_a_half_service_times() -> None:
    pool = Pool(mean_s=0.0072, slowest_s=0.0072, iops=1 / 0.0072, spread=1.0)
    at = carried_by(pool, 83.3333, None)
    assert at.mean_s == pytest.approx(0.018, rel=1e-4)
    # Exponential service and one server is M/M/1, its percentiles too.
    assert carried_by(pool, 83.3333, 0.99).limited_s == pytest.approx(0.018 * math.log(100), rel=1e-3)
    assert carried_by(pool, 140.0, 0.99).limited_s == math.inf


def test_an_idle_disk_has_no_exponential_tail() -> None:
    pool = built_in("hdd-15k").pool(1.0, 8000)
    assert carried_by(pool, 1e-6, 0.99).limited_s == pytest.approx(0.0072 * (0.7 + 0.3 * math.log(100)), rel=1e-3)


def test_a_response_time_adds_devices_until_it_holds() -> None:
    limit = LatencyLimit(0.02, 0.95)
    found = sized(latency=limit)
    assert found.binding == "latency"
    assert found.normal.limited_s is not None
    assert found.normal.limited_s <= limit.limit_s
    fewer = RatedDevice(built_in("hdd-15k")).carried(
        Rates(0.7 * 2450 / (found.devices - 1), 0.3 * 2450 / (found.devices - 1)), 8000, 0.95
    )
    assert fewer.limited_s is not None
    assert fewer.limited_s > limit.limit_s


def test_what_no_number_of_devices_meets_is_refused_with_what_does() -> None:
    with pytest.raises(
        TooSlow, match=r"no number of hdd-15k meets p99 5 ms: idle, one already has p99 15 ms"
    ) as refused:
        sized(latency=LatencyLimit(0.005))
    assert "nvme" in refused.value.hint
    assert "hdd" not in refused.value.hint


def test_mirrors_are_pairs_and_the_other_half_reads_for_both() -> None:
    layout = Layout(level="raid10")
    found = sized(layout=layout)
    assert found.devices % 2 == 0
    assert found.binding == "failure"
    assert counts(found)["iops"] == 39
    assert found.failed is not None
    assert found.normal.utilisation < 0.6
    assert found.failed.utilisation <= AFTER_FAILURE
    assert tuple(without_one(NEED, layout, 10)) == pytest.approx((2 * 0.7 * 245, 2 * 0.3 * 245))
    assert found.usable_bytes == found.devices / 2 * 146e9


def test_parity_is_read_and_written_and_a_missing_disk_is_read_from_all_others() -> None:
    layout = Layout(level="raid5", group=8)
    found = sized(layout=layout)
    assert found.devices % 8 == 0
    assert found.usable_bytes == found.devices * 7 / 8 * 146e9
    reads, writes = without_one(NEED, layout, 80)
    assert reads == pytest.approx(2 * (0.7 * 2450 + 2 * 0.3 * 2450) / 80)
    assert writes == pytest.approx(2 * 0.3 * 2450 / 80 * 8 / 7)


def test_groups_are_whole_but_a_small_array_is_one() -> None:
    layout = Layout(level="raid6", group=10)
    assert (whole_groups(6, layout), whole_groups(11, layout)) == (6, 20)
    assert (data_devices(6, layout), data_devices(20, layout)) == (4, 16)
    grown = size_storage(replace(NEED, iops=10.0, capacity_bytes=30 * 146e9), RatedDevice(built_in("hdd-15k")), layout)
    assert (grown.devices, grown.binding) == (40, "capacity")  # 30 for data, 8 a group


def test_growth_is_of_everything_but_the_response_time() -> None:
    later = replace(NEED, growth=0.2, years=3, bytes_per_s=1e9).after(3)
    assert later.capacity_bytes == pytest.approx(200e9 * 1.728)
    assert (later.iops, later.bytes_per_s) == (pytest.approx(2450 * 1.728), pytest.approx(1.728e9))


def test_spares_cost_and_are_not_loaded() -> None:
    device = replace(built_in("hdd-15k"), prices=replace(built_in("hdd-15k").prices, each=100.0))
    found = size_storage(NEED, RatedDevice(device), replace(NONE, spares=2))
    assert (found.devices, found.bought, found.cost) == (30, 32, 3200.0)


@pytest.mark.parametrize(
    ("changes", "layout", "says"),
    [
        ({"iops": 0.0}, {}, "capacity alone does not size storage"),
        ({"capacity_bytes": 0.0}, {}, "the capacity is missing"),
        ({"read_fraction": 1.5}, {}, "a read share of 1.5 does not exist"),
        ({"iops": 0.0, "bytes_per_s": 1e6, "latency": LatencyLimit(0.01)}, {}, "a response time needs a load"),
        ({"latency": LatencyLimit(0.0)}, {}, "cannot be met"),
        ({}, {"most_utilisation": 1.0}, "a utilisation of 100% is too high"),
        ({"growth": -0.1}, {}, "growth is 0% or more"),
        ({}, {"level": "raid5", "group": 2}, "a group of 2 devices does not go with raid5"),
        ({}, {"level": "raid10", "group": 4}, "a group of 4 devices does not go with raid10"),
        ({"iops": 1e9}, {"level": "raid10"}, "more than 100,000 devices"),
    ],
)
def test_what_sizes_nothing_is_refused(changes: dict[str, Any], layout: dict[str, Any], says: str) -> None:
    with pytest.raises(SpecError, match=says) as refused:
        sized(layout=replace(NONE, **layout), **changes)
    assert refused.value.hint
