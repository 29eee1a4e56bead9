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
    assert refused.value.hint == "known: gp2, gp3, io2, premium-ssd-v2"
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
    wide = "measure that size, or ask for one from 8192 to 65536 bytes"
    for sizes, hint in (([], "measure it"), ([65536, 8192], wide)):
        with pytest.raises(AnalysisError, match="4096 bytes lie outside of the measured sizes") as refused:
            mixes.capacity_at_size(sizes, [900.0] * len(sizes), 4096)
        assert refused.value.hint == hint


def test_a_queue_that_cannot_be_is_refused_with_the_way_out() -> None:
    for servers, offered, message, hint in (
        (0, 0.5, "0 servers serve nothing", "give 1 or more"),
        (1, -0.5, "a load of -0.5 busy servers does not exist", "give a rate and a time above 0"),
        (1, math.inf, "a load of inf busy servers does not exist", "give a rate and a time above 0"),
        (1, math.nan, "a load of nan busy servers does not exist", "give a rate and a time above 0"),
    ):
        with pytest.raises(SpecError) as refused:
            open_queues.erlang(servers, offered)
        assert (str(refused.value), refused.value.hint) == (message, hint)
    assert open_queues.erlang(1, 0.0) == (0.0, 0.0)
    with pytest.raises(open_queues.Overloaded) as overloaded:
        open_queues.erlang(4, 6.0)
    assert str(overloaded.value) == "overloaded: utilisation would be 150.0%, and the queue would grow without end"
    assert overloaded.value.hint == "lower the load, shorten the service time or add servers"


def test_closed_queues_without_work_or_users_are_refused() -> None:
    for demands, users, message in (
        ([], 1, "no station has work to do"),
        ([0.0, 0.0], 1, "no station has work to do"),
        ([0.1, -0.1], 1, "no station has work to do"),
        ([0.1], 0, "0 users ask for nothing"),
    ):
        for law in (closed_queues.mva, closed_queues.schweitzer, closed_queues.bounds):
            with pytest.raises(SpecError, match=f"^{message}$"):
                law(demands, users)
        with pytest.raises(SpecError, match=f"^{message}$"):
            closed_queues.mva_servers(demands, [1] * len(demands), users)
    for servers in ([], [1, 1], [0]):
        with pytest.raises(SpecError, match=r"^each station needs its number of servers$"):
            closed_queues.mva_servers([0.1], servers, 1)
    assert closed_queues.mva([0.1, 0.0], 1).rate_per_s == pytest.approx(10.0)


def test_a_thousand_users_by_the_approximation_are_those_of_exact_analysis() -> None:
    demands, think_s = [0.010, 0.004, 0.001], 2.0
    exact, near = closed_queues.mva(demands, 1000, think_s), closed_queues.schweitzer(demands, 1000, think_s)
    assert near.rate_per_s == pytest.approx(exact.rate_per_s, rel=1e-3)
    assert near.rate_per_s * (near.response_s + think_s) == pytest.approx(1000)
    assert sum(near.at_station) == pytest.approx(near.rate_per_s * near.response_s)


def test_several_servers_by_hand() -> None:
    """Two users and two servers of 1 s beside one of 0.5 s: nobody waits but at the single one."""
    did = closed_queues.mva_servers([1.0, 0.5], [2, 1], 2)
    alone = 1 / 1.5
    response = 1.0 + 0.5 * (1 + 0.5 * alone)
    assert (did.rate_per_s, did.response_s) == pytest.approx((2 / response, response))
    assert did.at_station == pytest.approx((2 / response, 2 / response * (response - 1.0)))


def test_what_no_disk_can_be_is_refused() -> None:
    for fraction in (-0.01, 1.01):
        with pytest.raises(SpecError, match=f"^a stroke fraction of {fraction:g} does not exist$"):
            disks.short_stroke_seek_s(0.001, 0.01, fraction)
    assert disks.short_stroke_seek_s(0.001, 0.015, 0.0) == 0.001
    assert disks.short_stroke_seek_s(0.001, 0.015, 1.0) == pytest.approx(0.009)
    with pytest.raises(SpecError, match=r"^a rpm of 0 makes no I/O$"):
        disks.disk_service(0.005, 0, 8192, 40e6)
    with pytest.raises(SpecError, match=r"^a rate of -1 makes no I/O$"):
        disks.disk_service(0.005, 15000, 8192, -1)
    with pytest.raises(SpecError, match=r"^a bus of 0 makes no I/O$"):
        disks.controller_service(8192, 0.001, 0)
    assert disks.disk_service(0.005, 15000, 8e3, 40e6, 0.001).service_s == pytest.approx(0.0082)
    with pytest.raises(SpecError, match=r"^0 data disks hold nothing$"):
        disks.full_stripe_writes("raid5", 0)
    assert [disks.full_stripe_writes(level, 1) for level in ("raid0", "raid1", "raid10", "raid5", "raid6")] == [
        1.0,
        2.0,
        2.0,
        2.0,
        3.0,
    ]
    with pytest.raises(SpecError, match=r"^RAID level 'raid-dp' is unknown$") as refused:
        disks.raid_level("raid-dp")
    assert refused.value.hint == "give 0, 1, 10, 5 or 6"


def test_a_mix_that_cannot_be_is_refused() -> None:
    for rates, capacities in (([], []), ([1.0], [1.0, 2.0]), ([1.0, 1.0], [10.0, 0.0]), ([1.0], [-10.0])):
        with pytest.raises(SpecError, match=r"^each kind of I/O needs a rate and a capacity$") as refused:
            mixes.mix_use(rates, capacities)
        assert refused.value.hint == "give one capacity above 0 for each rate"
    with pytest.raises(SpecError, match=r"^this mix asks for nothing$") as refused:
        mixes.mix_use([0.0], [10.0])
    assert refused.value.hint == "give a rate above 0"
    assert mixes.mix_use([5.0, 1.0], [10.0, 4.0]) == mixes.MixUse((0.5, 0.25), 0.75, 0.5, 8.0, pytest.approx(1 / 3))
    assert [mixes.uniform_hit_ratio(data, 8.0) for data in (4.0, 8.0, 16.0)] == [1.0, 1.0, 0.5]


def test_disks_that_cannot_be_sized_are_refused() -> None:
    disk = sizing.Disk(capacity_bytes=1e12, iops=100, bytes_per_s=100e6)
    some = sizing.Demand(capacity_bytes=1e12, iops=10, write_fraction=0.5)
    for broken in (
        sizing.Disk(capacity_bytes=0, iops=100, bytes_per_s=1),
        sizing.Disk(capacity_bytes=1, iops=0, bytes_per_s=1),
        sizing.Disk(capacity_bytes=1, iops=100, bytes_per_s=0),
    ):
        with pytest.raises(SpecError, match=r"^such a disk holds or does nothing$"):
            sizing.size_disks(some, broken, "raid0")
    for most in (0.0, 1.01):
        with pytest.raises(SpecError, match=r"^such a disk holds or does nothing$"):
            sizing.size_disks(some, disk, "raid0", most)
    for share in (-0.1, 1.1):
        asked = sizing.Demand(capacity_bytes=1, iops=1, write_fraction=share)
        with pytest.raises(SpecError, match=f"^a write share of {share:g} does not exist$"):
            sizing.size_disks(asked, disk, "raid0")


@pytest.mark.parametrize(
    ("level", "iops", "disks_needed"),
    [
        ("raid0", 60.0, 1),
        ("raid0", 61.0, 2),
        ("raid1", 61.0, 2),
        ("raid10", 130.0, 4),
        ("raid5", 1.0, 2),
        ("raid6", 1.0, 3),
    ],
)
def test_reads_alone_need_so_many_disks(level: disks.RaidLevel, iops: float, disks_needed: int) -> None:
    """60 I/Os a second of each disk; parity needs a disk more than it has, mirrors come in pairs."""
    disk = sizing.Disk(capacity_bytes=1e12, iops=100, bytes_per_s=100e6)
    asked = sizing.Demand(capacity_bytes=1.0, iops=iops, write_fraction=0.0)
    assert sizing.size_disks(asked, disk, level).disks == disks_needed


def test_a_backlog_that_drains_and_one_that_cannot() -> None:
    assert bursts.fluid_backlog(5000, 1000, 3000, 10) == bursts.Backlog(20_000, pytest.approx(20 / 3), 10.0)
    assert bursts.fluid_backlog(3000, 3000, 3000, 10) == bursts.Backlog(0.0, 0.0, 0.0)
    with pytest.raises(SpecError, match=r"^no level of load is given$"):
        bursts.slow_changes([])
    for rate, bucket in ((0.0, 10.0), (-1.0, 10.0), (1.0, -1.0)):
        with pytest.raises(SpecError, match=r"^a bucket that is never refilled serves nothing$"):
            bursts.token_bucket(rate, bucket, [])


def test_a_bucket_empties_fills_a_backlog_and_drains_it_before_it_saves_again() -> None:
    """100 a second and 1,000 saved: 20 s of 200 leave a backlog of 1,000; 5 s of nothing drain half of it."""
    burst = [bursts.Stretch(20, 200)]
    assert bursts.token_bucket(100, 1000, burst) == bursts.BucketUse(10.0, 1000, 10.0, 0.0, 1000)
    half = bursts.token_bucket(100, 1000, [*burst, bursts.Stretch(5, 0)])
    assert half == bursts.BucketUse(10.0, 1000, 10.0, 0.0, 500)
    saved = bursts.token_bucket(100, 1000, [*burst, bursts.Stretch(12, 0)])
    assert saved == bursts.BucketUse(10.0, 1000, 10.0, 200.0, 0.0)
    full = bursts.token_bucket(100, 1000, [*burst, bursts.Stretch(25, 0), bursts.Stretch(5, 100)])
    assert full == bursts.BucketUse(10.0, 1000, 10.0, 1000, 0.0)
    again = bursts.token_bucket(100, 1000, [*burst, bursts.Stretch(12, 0), bursts.Stretch(3, 200)])
    assert again == bursts.BucketUse(10.0, 1000, 10.0, 0.0, 100)
    just = bursts.token_bucket(100, 1000, [bursts.Stretch(10, 200)])
    assert just == bursts.BucketUse(None, 0.0, 0.0, 0.0, 0.0)


def test_volumes_between_their_least_and_most() -> None:
    small, large = (
        volumes.provisioned("gp3", GIB, 16_000, 1e12),
        volumes.provisioned("gp3", 1000 * GIB, 3000, 125 << 20),
    )
    assert (small.iops, small.as_asked, large.as_asked) == (3000, False, True)
    assert not volumes.provisioned("gp3", 1000 * GIB, 3000, 1e12).as_asked
    assert large.crossover_bytes == pytest.approx((125 << 20) / 3000)
    assert [volumes.burst("gp2", size * GIB, 100).baseline_iops for size in (1, 100, 6000)] == [100, 300, 16_000]
    steady = volumes.burst("gp2", 100 * GIB, 300)
    assert math.isinf(steady.burst_s)
    assert steady.refill_s == pytest.approx(5_400_000 / 300)
    assert volumes.burst("gp2", 100 * GIB, 1300).burst_s == pytest.approx(5400)
    assert volumes.burst("gp2", 100 * GIB, 1e9).burst_s == pytest.approx(5_400_000 / 2700)
    assert [volumes.burst("gp2", size * GIB, 1).burst_iops for size in (100, 2000)] == [3000, 6000]
    assert [volumes.counted_ios("gp3", size) for size in (1, 256 << 10, (256 << 10) + 1)] == [1, 1, 2]


def test_the_largest_rate_within_a_limit_by_the_share_of_one_server() -> None:
    """P(R > t) of one server is exp(-(mu - lambda) t): 1 % at 20 ms leaves mu - 230 I/Os a second."""
    assert knees.slo_rate_per_s(1, 0.001, 0.020) == pytest.approx(1000 - math.log(100) / 0.020, rel=1e-9)
    assert knees.slo_rate_per_s(1, 0.001, 0.020, 0.5) == pytest.approx(1000 - math.log(2) / 0.020, rel=1e-9)
    assert knees.slo_rate_per_s(1, 0.001, 0.0046) == 0.0


def test_slow_changes_weigh_by_ios() -> None:
    """Half the time at 100 I/Os a second, half at 300: three quarters of them meet the higher load."""
    busy, idle = bursts.Level(0.5, 300.0, 1, 0.002), bursts.Level(0.5, 100.0, 1, 0.002)
    found = bursts.slow_changes([busy, idle])
    assert found.response_s == pytest.approx(0.75 * 0.002 / 0.4 + 0.25 * 0.002 / 0.8)
    assert found.response_at_average_s == pytest.approx(0.002 / 0.6)
    beyond = 0.75 * math.exp(-found.p99_s * 0.4 / 0.002) + 0.25 * math.exp(-found.p99_s * 0.8 / 0.002)
    assert beyond == pytest.approx(0.01, rel=1e-9)
    assert bursts.slow_changes([busy]).p99_s == pytest.approx(-math.log(0.01) * 0.005)
