"""Conditions that a load curve shows, planted in simulated devices: confirmed, and not seen elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from makers import card_runs, planted
from makers.left_out import long_after, long_but
from msgspec.structs import replace

from iocast import metrics
from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.limits import retrograde, serialised, throttle
from iocast.diagnose.examination import examine
from iocast.model.run import PhaseRecord, Sample
from iocast.model.workload import MixItem, Workload

pytestmark = pytest.mark.slow

US, MS = 1_000, 1_000_000
OURS = {throttle.CODE, serialised.CODE, retrograde.CODE}

PLANTED = [
    ("sim:nvme,iops=5000/s", throttle.CODE),
    ("sim:sata-ssd,serialised=writes", serialised.CODE),
    ("sim:nvme,servers=1024,bandwidth=none,usl=0.02:0.002", retrograde.CODE),
]
MORE = [
    ("sim:nvme,iops=8500/s", throttle.CODE),  # one at a time does 12,000: not much more
    ("sim:nvme,throughput=100MB/s", throttle.CODE),
    ("sim:sata-ssd,iops=2000/s", throttle.CODE),
    ("sim:nvme,service=constant:80us,iops=200/s", throttle.CODE),  # even as it is
    ("sim:nvme,serialised=writes", serialised.CODE),
]
CLEAN = ["sim:hdd", "sim:sata-ssd", "sim:nvme", "sim:cached-array", "sim:nfs-filer", "sim:qlc-ssd"]
LOOK_ALIKES = [
    "sim:hdd,holes=20us",  # reads that reach no disk gain, writes of its one arm do not
    "sim:hdd,service=constant:5ms",  # flat and even, and its own limit
    "sim:nvme,serialised=all",
    "sim:nvme,bandwidth=100MB/s",
    "sim:nvme,link=117MB/s:200us",
]


@pytest.mark.parametrize(("target", "name"), long_but([*PLANTED, *MORE], *PLANTED))
def test_what_is_planted_is_confirmed(target: str, name: str, tmp_path: Path) -> None:
    run = planted.measured(target, planted.ladder(1), tmp_path)
    found, _ = planted.inquired(run, tmp_path)
    assert found[name].state == "confirmed", found[name].learned
    assert {each for each in OURS if each in found and found[each].state == "confirmed"} == {name}


@pytest.mark.parametrize("target", long_but(CLEAN + LOOK_ALIKES, "sim:hdd", "sim:nfs-filer", *LOOK_ALIKES[1:4]))
def test_nothing_of_it_is_confirmed_elsewhere(target: str, tmp_path: Path) -> None:
    run = planted.measured(target, planted.ladder(1), tmp_path)
    assert not planted.confirmed(run, tmp_path) & OURS


@pytest.mark.long
@pytest.mark.parametrize(
    ("target", "rate"),
    [
        ("sim:nvme,write=same,iops=20000/s", 20_000),
        # eight at once are in the device: their own times scatter
        pytest.param("sim:nvme,iops=100000/s", 100_000, marks=pytest.mark.long),
        pytest.param("sim:sata-ssd,iops=40000/s", 40_000, marks=pytest.mark.long),
    ],
)
def test_a_cap_that_one_at_a_time_does_not_reach(target: str, rate: int, tmp_path: Path) -> None:
    """Level from some load on; reads and writes alike, which no device does. No experiment tells it from a device."""
    run = planted.measured(target, planted.ladder(3), tmp_path)
    found = [each for each in examine(run).findings if each.code == throttle.CODE and each.severity == "warn"]
    levels = {each.phase: each.evidence["rate_per_s"] for each in found}
    assert {"randread 8k 32x1", "randread 8k 64x1"} <= set(levels)
    assert all(level == pytest.approx(rate, rel=0.01) for level in levels.values())
    assert {each.state for each in found} == {"suggested"}
    assert all(throttle.confirm(run, each) is None for each in found)
    bound = examine(run).bounds["randread 8k 64x1"]
    assert bound.by == "device_or_limit"
    assert bound.says.startswith("Bound by the device or a rate limit in front of it (suspected, ")


@pytest.mark.long
def test_other_kinds_at_the_same_rate_make_a_cap_likelier(tmp_path: Path) -> None:
    run = planted.measured("sim:nvme,iops=20000/s", planted.ladder(3), tmp_path)
    found = {each.phase: each for each in examine(run).findings if each.code == throttle.CODE}
    assert "randwrite 8k 8x1" in found
    assert found["randread 8k 64x1"].confidence == 0.7
    assert "though the I/Os differ in kind or size" in found["randread 8k 64x1"].says


@pytest.mark.parametrize(
    "target",
    long_after(
        1,
        [
            "sim:hdd",
            pytest.param("sim:nvme", marks=pytest.mark.long),
            pytest.param("sim:sata-ssd", marks=pytest.mark.long),
            "sim:cached-array",
            "sim:nvme,serialised=all",
            pytest.param("sim:nvme,servers=8,bandwidth=none", marks=pytest.mark.long),
        ],
    ),
)
def test_a_full_device_is_no_cap(target: str, tmp_path: Path) -> None:
    run = planted.measured(target, planted.ladder(3), tmp_path)
    assert not [each for each in examine(run).findings if each.code == throttle.CODE and each.severity == "warn"]


@pytest.mark.long
def test_a_full_bandwidth_is_the_devices_own_or_a_cap(tmp_path: Path) -> None:
    """400 MB/s with 8k and with 1M: what the device can carry, or a limit; both are said, as a note."""
    run = planted.measured("sim:nvme,throughput=400MB/s", planted.ladder(3), tmp_path)
    found = planted.told(run, throttle.CODE)
    assert {each.severity for each in found} == {"note"}
    bound = examine(run).bounds["randread 8k 64x1"]
    assert bound.by == "device_or_limit"
    assert bound.says.startswith("Bound by the device's full bandwidth or a rate limit in front of it (suspected, 30%)")


def test_slices_of_the_kernels_throttle() -> None:
    times = card_runs.histogram((60 * US, 9000), (99 * MS, 300))
    (found,) = throttle.detect(Facts(card_runs.run(card_runs.reads(times=times))))
    assert found.state == "suggested"
    assert "slices of 100 ms" in found.says
    other = card_runs.histogram((60 * US, 9000), (60 * MS, 300))
    assert list(throttle.detect(Facts(card_runs.run(card_runs.reads(times=other))))) == []


@pytest.mark.parametrize(("limit", "told"), [(4200.0, True), (9000.0, False)])
def test_a_limit_of_our_cgroup_that_was_reached_is_counted(limit: float, told: bool) -> None:
    record = card_runs.reads(times=card_runs.histogram((240 * US, 40_000)))  # 4,167 a second
    sample = Sample(card_runs.START_UNIX_NS, metrics.LIMITS, "vda", "read_ios_per_s", limit)
    limited = replace(record, samples=(*record.samples, sample))
    found = list(throttle.detect(Facts(card_runs.run(limited))))
    assert [each.state for each in found] == (["counted"] if told else [])


def test_a_queue_above_the_device() -> None:
    def row(device_ns: float, users: int = 8) -> PhaseRecord:
        record = card_runs.reads(times=card_runs.histogram((8 * MS, 20_000)), users=users)
        did = record.measurement
        seen = card_runs.diskstats(
            did.elapsed_ns, reads=20_000, read_bytes=did.bytes, read_ns=device_ns * 20_000, queue_ns=device_ns * 20_000
        )
        return replace(record, samples=seen)

    (found,) = serialised.detect(Facts(card_runs.run(row(1 * MS))))
    assert found.severity == "severe"
    assert (
        "I/Os wait above the device: 8 outstanding, 1 of them at vda1; 8 ms each, 1 ms of it at the device"
        in found.says
    )
    assert [each.severity for each in serialised.detect(Facts(card_runs.run(row(4.8 * MS))))] == []
    assert list(serialised.detect(Facts(card_runs.run(row(7.5 * MS))))) == []
    assert list(serialised.detect(Facts(card_runs.run(row(0.5 * MS, users=2))))) == []


def test_what_waits_for_our_groups_limit_is_not_serialised() -> None:
    record = card_runs.reads(times=card_runs.histogram((8 * MS, 20_000)), users=8)  # 1,000 a second
    seen = card_runs.diskstats(record.measurement.elapsed_ns, reads=20_000, read_ns=MS * 20_000, queue_ns=MS * 20_000)
    limit = Sample(card_runs.START_UNIX_NS, metrics.LIMITS, "vda", "read_ios_per_s", 1000.0)
    assert len(list(serialised.detect(Facts(card_runs.run(replace(record, samples=seen)))))) == 1
    assert list(serialised.detect(Facts(card_runs.run(replace(record, samples=(*seen, limit)))))) == []


@pytest.mark.parametrize(("commits", "told"), [({}, 1), ({"sync": "dsync"}, 0), ({"fsync_every": 1}, 0)])
def test_commits_that_wait_for_one_flush_together_are_not_serialised(commits: dict[str, Any], told: int) -> None:
    load = Workload(mix=(MixItem("write", 8192),), users=8, **commits)
    did = card_runs.measurement([card_runs.part("write", 8192, card_runs.histogram((8 * MS, 20_000)))], users=8)
    seen = card_runs.diskstats(
        did.elapsed_ns, writes=20_000, written_bytes=did.bytes, write_ns=MS * 20_000, queue_ns=MS * 20_000
    )
    assert len(list(serialised.detect(Facts(card_runs.run(card_runs.record("row", load, did, seen)))))) == told


def test_where_one_alone_is_best_one_is_kept_in_flight() -> None:
    """The law of this curve has its peak at 0.45."""
    took = {users: MS * (1 + 5 * users * (users - 1)) for users in (1, 2, 4, 8, 16)}
    rows = [
        card_runs.reads(f"r {users}x1", users=users, times=card_runs.histogram((each, 1000)))
        for users, each in took.items()
    ]
    (found,) = retrograde.detect(Facts(card_runs.run(*rows)))
    assert found.evidence["fitted_peak"] == pytest.approx(0.45, abs=0.01)
    assert found.remedy.startswith("Keep at most about 1 outstanding I/O;")


@pytest.mark.parametrize(
    ("rates", "found"),
    [
        ((12_100.0, 68_800.0, 60_500.0, 35_600.0), True),
        ((12_100.0, 68_800.0, 60_500.0, 60_000.0), False),  # one fall may be another's I/O
        ((12_100.0, 68_800.0, 40_500.0, 60_000.0), False),
    ],
)
def test_a_card_of_four_loads_shows_a_curve_that_falls_twice(rates: tuple[float, ...], found: bool) -> None:
    rows = [
        card_runs.reads(f"r {n}x1", users=n, times=card_runs.histogram((n * 1e9 / rate, round(rate))))
        for n, rate in zip((1, 8, 32, 64), rates, strict=True)
    ]
    says = [each.says for each in retrograde.detect(Facts(card_runs.run(*rows)))]
    assert says == (
        ["IOPS fell beyond the peak: 35,600 IOPS with 64 outstanding I/Os, 48% fewer than with 8."] if found else []
    )
