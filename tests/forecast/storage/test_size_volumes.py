"""Volumes: as many as their limits ask for, each large and fast enough, with headroom, and no more."""

from __future__ import annotations

from typing import Any

import pytest

from iocast.errors import AnalysisError, SpecError
from iocast.forecast.storage.size_volumes import VolumePlan, size_volumes
from iocast.forecast.storage.storage_device import Prices, built_in
from iocast.forecast.storage.storage_need import LatencyLimit, Layout, StorageNeed

LAYOUT = Layout(level="raid0", most_utilisation=0.7)


def plan(kind: str, *, iops: float = 30_000, capacity: float = 2e12, **changes: Any) -> VolumePlan:
    return size_volumes(StorageNeed(capacity_bytes=capacity, iops=iops, **changes), built_in(kind), LAYOUT)


def test_one_gp3_is_given_what_it_needs_with_headroom() -> None:
    found = plan("gp3")
    assert (found.devices, found.size_gib, found.iops) == (1, 1863, 42858)
    assert found.normal.utilisation == pytest.approx(0.7, abs=1e-4)


def test_a_small_gp3_grows_for_its_iops() -> None:
    found = plan("gp3", capacity=10e9, iops=28_000)
    assert (found.size_gib, found.iops) == (80, 40_000)


def test_a_gp3_within_what_is_included_is_not_made_larger() -> None:
    found = plan("gp3", capacity=5e9, iops=2000)
    assert (found.size_gib, found.iops, found.mib_per_s) == (5, 3000, 125)


def test_gp2_buys_iops_by_size_and_stripes_for_throughput() -> None:
    found = plan("gp2", bytes_per_s=800e6)
    assert (found.devices, found.binding) == (4, "throughput")
    assert found.size_gib * 3 == found.iops
    assert found.iops * 4 * 0.7 >= 30_000


def test_iops_beyond_one_volume_take_several() -> None:
    found = plan("gp3", iops=100_000)
    assert (found.devices, found.binding) == (2, "iops")


def test_large_ios_count_several_times() -> None:
    small, large = plan("io2", iops=2000, size_bytes=256 << 10), plan("io2", iops=2000, size_bytes=1 << 20)
    assert large.iops >= 4 * small.iops * 0.99


def test_throughput_is_bought_with_iops() -> None:
    found = plan("gp3", iops=1000, bytes_per_s=1400e6)
    assert found.mib_per_s >= 1400e6 / 0.7 / (1 << 20) - 1
    assert found.iops >= 4 * found.mib_per_s - 4


def test_a_tighter_response_time_is_met_by_more_iops_or_refused() -> None:
    tight = plan("gp2", latency=LatencyLimit(0.0047))
    assert tight.normal.limited_s is not None
    assert tight.normal.limited_s <= 0.0047
    with pytest.raises(AnalysisError, match="no number of gp3 meets p99 4 ms"):
        plan("gp3", latency=LatencyLimit(0.004))


def test_prices_of_a_month() -> None:
    from msgspec.structs import replace

    priced = replace(built_in("gp3"), prices=Prices(per_gib=0.08, per_iops=0.005, per_mib_per_s=0.04))
    found = size_volumes(StorageNeed(capacity_bytes=2e12, iops=30_000), priced, LAYOUT)
    assert found.cost == pytest.approx(1863 * 0.08 + 42858 * 0.005 + found.mib_per_s * 0.04, rel=0.01)


def test_a_raid_of_volumes_is_refused() -> None:
    with pytest.raises(SpecError, match="raid10 of cloud volumes is not sized"):
        size_volumes(StorageNeed(capacity_bytes=1e12, iops=1000), built_in("gp3"), Layout(level="raid10"))
