"""The laws against the documents' tables, against each other, and where they must refuse."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iocast.errors import AnalysisError, SpecError
from iocast.forecast.laws import bursts, closed_queues, disks, knees, mixes, open_queues, sizing, volumes

SERVERS = st.integers(1, 64)
UTILISATIONS = st.floats(0.01, 0.97)
GIB = 1 << 30


def test_kolk_s_disk_and_its_queue() -> None:
    """15,000 rpm, 5 ms seek, 40 MB/s: the slides' service times, and response times of 8 KB I/Os at four rates."""
    sizes = [disks.disk_service(0.005, 15000, size, 40e6).service_s * 1e3 for size in (4e3, 8e3, 32e3, 64e3)]
    assert sizes == pytest.approx([7.1, 7.2, 7.8, 8.6])
    times = [open_queues.mm1(rate, 0.0072).response_s * 1e3 for rate in (135, 105, 75, 45)]
    assert times == pytest.approx([257.143, 29.508, 15.652, 10.651], rel=1e-4)


def test_the_rule_of_60_percent_is_of_one_server() -> None:
    found = [knees.latency_multiple_utilisation(count, 2.5) for count in (1, 2, 8, 64)]
    assert found == pytest.approx([0.600, 0.775, 0.934, 0.991], abs=6e-4)
    assert knees.max_power_utilisation(16) == pytest.approx(0.811, abs=6e-4)


def test_overload_is_refused() -> None:
    for rate in (1000.0, 1001.0):
        with pytest.raises(open_queues.Overloaded, match="overloaded: utilisation would be 100"):
            open_queues.mm1(rate, 0.001)
    with pytest.raises(open_queues.Overloaded) as refused:
        open_queues.mmc(9.0, 1.0, 8)
    assert refused.value.utilisation == pytest.approx(1.125)
    with pytest.raises(SpecError, match="servers"):
        open_queues.mmc(1.0, 0.5, 0)
    with pytest.raises(SpecError, match="does not exist"):
        open_queues.mm1(-1.0, 0.5)


@settings(deadline=None)
@given(SERVERS, UTILISATIONS, st.sampled_from([0.5, 0.9, 0.99]))
def test_a_percentile_is_where_the_tail_says(servers: int, utilisation: float, q: float) -> None:
    load = utilisation * servers, 1.0, servers
    assert open_queues.mmc_tail(*load)(open_queues.mmc_quantile_s(*load, q)) == pytest.approx(1 - q, rel=1e-6)


@settings(deadline=None)
@given(UTILISATIONS, SERVERS)
def test_the_laws_agree_where_they_mean_the_same(utilisation: float, servers: int) -> None:
    single = open_queues.mm1(utilisation, 1.0)
    assert open_queues.mg1(utilisation, 1.0, 1.0).response_s == pytest.approx(single.response_s)
    assert open_queues.mm1_quantile_s(utilisation, 1.0, 0.9) == pytest.approx(
        open_queues.mmc_quantile_s(utilisation, 1.0, 1, 0.9), rel=1e-9
    )
    pool = open_queues.mmc(utilisation * servers, 1.0, servers)
    random = open_queues.allen_cunneen(utilisation * servers, 1.0, servers, 1.0, 1.0)
    assert random.wait_s == pytest.approx(pool.wait_s)
    assert pool.response_s <= single.response_s * (1 + 1e-9), "a shared queue never waits longer than one of its own"


@settings(deadline=None)
@given(st.lists(st.floats(0.001, 2.0), min_size=1, max_size=4), st.integers(1, 30), st.floats(0, 20))
def test_a_closed_queue_keeps_its_bounds(demands: list[float], users: int, think_s: float) -> None:
    did, within = closed_queues.mva(demands, users, think_s), closed_queues.bounds(demands, users, think_s)
    assert did.rate_per_s <= min(within.rate_high_per_s, within.balanced_high_per_s) * (1 + 1e-9)
    assert did.rate_per_s >= max(within.rate_low_per_s, within.balanced_low_per_s) * (1 - 1e-9)
    assert did.rate_per_s * (did.response_s + think_s) == pytest.approx(users), "Little's law"
    assert sum(did.at_station) == pytest.approx(did.rate_per_s * did.response_s)
    ones = closed_queues.mva_servers(demands, [1] * len(demands), users, think_s)
    assert ones.rate_per_s == pytest.approx(did.rate_per_s, rel=1e-6)


def test_two_shapes_decide_everything() -> None:
    """A pool of 8 servers has a sharp knee, 8 striped disks a soft one (models A3)."""
    pool = [closed_queues.mva_servers([1.0], [8], users).rate_per_s for users in (1, 8, 16)]
    assert pool == pytest.approx([1, 8, 8])
    striped = [closed_queues.mva([1 / 8] * 8, users).rate_per_s for users in (1, 8, 63)]
    assert striped == pytest.approx([8 * users / (users + 7) for users in (1, 8, 63)])


def test_an_impossible_limit_leaves_no_load() -> None:
    assert knees.slo_rate_per_s(8, 0.001, 0.004) == 0.0
    assert knees.slo_rate_per_s(8, 0.001, 0.0047) > 0


def test_a_bucket_that_holds_and_one_that_does_not() -> None:
    quiet = bursts.token_bucket(100, 1000, [bursts.Stretch(10, 150), bursts.Stretch(100, 50)])
    assert (quiet.first_empty_s, quiet.peak_backlog_ios, quiet.balance_ios) == (None, 0.0, 1000)
    endless = bursts.fluid_backlog(5000, 3000, 3000, 10)
    assert endless.peak_ios == 20_000
    assert math.isinf(endless.drain_s)
    assert bursts.fluid_backlog(2000, 1000, 3000, 10) == bursts.Backlog(0, 0, 0)


def test_volumes() -> None:
    assert volumes.counted_ios("gp3", 4096) == 1
    assert volumes.counted_ios("gp3", 1 << 20) == 4
    assert volumes.provisioned("io2", 100 * GIB, 256_000, 1e9).iops == 100_000
    with pytest.raises(SpecError, match="'gp4' is unknown") as refused:
        volumes.limits_of("gp4")
    assert refused.value.hint == "known: gp2, gp3, io2"
    with pytest.raises(SpecError, match="no burst credits"):
        volumes.burst("gp3", GIB, 4000)


@pytest.mark.parametrize("name", ["10", "RAID-10", "raid10", "raid 10"])
def test_names_of_raid_levels(name: str) -> None:
    assert disks.raid_level(name) == "raid10"
    with pytest.raises(SpecError, match="unknown"):
        disks.raid_level("raid7")


def test_sizes_between_measured_ones_only() -> None:
    with pytest.raises(AnalysisError, match="outside of the measured sizes"):
        mixes.capacity_at_size([4096, 65536], [1000, 100], 131072)


def test_each_need_can_bind() -> None:
    disk = sizing.Disk(capacity_bytes=1e12, iops=100, bytes_per_s=100e6)
    large = sizing.Demand(capacity_bytes=20e12, iops=10, write_fraction=0.5, bytes_per_s=1e6)
    wide = sizing.Demand(capacity_bytes=1e12, iops=10, write_fraction=0.5, bytes_per_s=950e6)
    assert sizing.size_disks(large, disk, "raid6").binding == "capacity"
    assert sizing.size_disks(large, disk, "raid6").disks == 22
    assert sizing.size_disks(wide, disk, "raid10") == sizing.DiskCount(15, 2, 1, 10, 10, "throughput")
    with pytest.raises(SpecError, match="write share"):
        sizing.size_disks(sizing.Demand(capacity_bytes=1, iops=1, write_fraction=1.5), disk, "raid0")


def test_a_measured_size_has_its_capacity_however_often_it_was_measured() -> None:
    assert mixes.capacity_at_size([8192], [900], 8192) == 900
    assert mixes.capacity_at_size([65536, 4096, 8192, 8192], [100, 1000, 900, 800], 8192) in (800, 900)
    assert mixes.capacity_at_size([65536, 4096], [100, 1000], 4096) == 1000
    assert mixes.capacity_at_size([65536, 4096], [100, 1000], 65536) == 100
    for sizes in ([], [8192]):
        with pytest.raises(AnalysisError, match="4096 bytes lie outside of the measured sizes"):
            mixes.capacity_at_size(sizes, [900.0] * len(sizes), 4096)
