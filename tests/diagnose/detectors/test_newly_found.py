"""What 0.1 missed: short stalls by a clock, ramps, read-ahead by bytes, gathered writes, a link at two loads, steps."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from makers import card_runs, planted
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.interference import request_shape, stalls
from iocast.diagnose.detectors.limits import link_limit
from iocast.diagnose.detectors.measurement import coarse_clock
from iocast.diagnose.detectors.shortcuts import read_ahead, tiers
from iocast.model.measurement import SlowIo
from iocast.model.run import PhaseRecord, Series
from iocast.model.workload import MixItem, Sequential, Workload

MS = 1_000_000
SECOND_NS = card_runs.SECOND_NS


def _short_stalls(starts_s: list[float], took_ms: float = 60.0) -> list[str]:
    slow = tuple(
        SlowIo(round(at * SECOND_NS), "read", 0, 0, 8192, round(took_ms * MS), round(took_ms * MS)) for at in starts_s
    )
    times = card_runs.histogram((0.24 * MS, 40_000), (took_ms * MS, len(slow)))
    return [each.says for each in stalls.detect(Facts(card_runs.run(card_runs.reads(times=times, slow=slow))))]


def test_stalls_of_60_ms_in_each_second_are_stalls() -> None:
    (says,) = _short_stalls([at + 0.94 for at in (0, 1, 2, 3, 5, 6, 8)])  # the list of the slowest holds some only
    assert says.startswith("I/O stalled: 7 stalls of 60 ms, at t=940 ms, ")
    assert says.endswith(" They recur every 1 s.")


@pytest.mark.parametrize(
    ("starts_s", "took_ms"),
    [([0.3, 1.9, 2.2, 4.9, 5.6, 9.1], 60.0), ([1.0, 2.0, 3.0, 4.0], 60.0), ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4.0)],
)
def test_slow_ios_by_no_clock_few_of_them_or_short_ones_are_no_stalls(starts_s: list[float], took_ms: float) -> None:
    assert _short_stalls(starts_s, took_ms) == []


@pytest.mark.parametrize("target", ["sim:sata-ssd,stall=60ms/1s", "sim:nvme,stall=25ms/700ms"])
def test_short_stalls_of_a_device_are_found(target: str, tmp_path: Path) -> None:
    found = planted.suspected(planted.measured(target, planted.long(20, users=4), tmp_path))
    assert "stalls" in found
    assert "They recur every" in found["stalls"].says
    assert "cache_in_the_storage" not in found


def _course(times_ms: list[float]) -> PhaseRecord:
    record = card_runs.reads(times=card_runs.histogram((sum(times_ms) / len(times_ms) * MS, 5_000)))
    series = Series(
        interval_ns=SECOND_NS,
        ios=(100,) * len(times_ms),
        bytes=(819_200,) * len(times_ms),
        response_ns=tuple(round(100 * each * MS) for each in times_ms),
    )
    return replace(record, series=series)


@pytest.mark.parametrize(
    ("times_ms", "said"),
    [
        ([20 - 14 * at / 39 for at in range(40)], 1),
        ([20 - 4 * at / 39 for at in range(40)], 0),  # less than a tier makes of it
        ([20.0] * 10 + [30.0, 28.0] * 5 + [12.0, 6.0] * 10, 0),  # up and down
        ([20 - 14 * at / 9 for at in range(10)], 0),  # too short
    ],
)
def test_a_ramp_inside_a_row_suggests_a_tier(times_ms: list[float], said: int) -> None:
    run = card_runs.run(_course(times_ms))
    found = list(tiers.detect(Facts(run)))
    assert len(found) == said
    if said:
        assert "19 ms on average in its first fifth, 7.2 ms in its last" in found[0].says
        assert tiers.confirm(run, found[0]) is not None


@pytest.mark.parametrize(
    ("share", "direct", "said"), [(1.5, False, 1), (1.05, False, 0), (0.4, False, 0), (1.5, True, 0)]
)
def test_random_buffered_reads_of_which_the_device_delivers_more(share: float, direct: bool, said: int) -> None:
    record = card_runs.reads(direct=direct)
    did = record.measurement
    seen = card_runs.diskstats(did.elapsed_ns, reads=did.ios, read_bytes=round(share * did.bytes), writes=0)
    found = list(read_ahead.detect(Facts(card_runs.run(replace(record, samples=seen)))))
    assert len(found) == said
    if said:
        assert found[0].state == "counted"
        assert "vda1 delivered 1.5 times the bytes of these random buffered reads" in found[0].says


@pytest.mark.parametrize(
    ("request_bytes", "moved", "said"), [(512 << 10, 0.7, 1), (1 << 10, 0.7, 0), (512 << 10, 0.01, 0)]
)
def test_small_buffered_writes_in_sequence_are_gathered(request_bytes: int, moved: float, said: int) -> None:
    load = Workload(mix=(MixItem("write", 1024),), locality=Sequential(), direct=False)
    did = card_runs.measurement([card_runs.part("write", 1024, card_runs.histogram((2_000, 400_000)))])
    written = round(moved * did.bytes)
    seen = card_runs.diskstats(
        did.elapsed_ns,
        reads=0,
        read_bytes=0,
        writes=max(1, written // request_bytes),
        writes_merged=0,
        written_bytes=written,
    )
    run = card_runs.run(card_runs.record("write 1k 1x1", load, did, seen))
    found = list(request_shape.detect(Facts(run)))
    assert [each.code for each in found] == ["consolidation"] * said
    if said:
        assert "requests of 512.8 KiB (gathered in the page cache)" in found[0].says


def _scan(bytes_per_s: float, users: int) -> PhaseRecord:
    each_ns = users * (1 << 20) * 1e9 / bytes_per_s
    times = card_runs.histogram((each_ns, 2_000))
    return card_runs.reads(f"read 1M {users}x1", size_bytes=1 << 20, sequential=True, users=users, times=times)


def test_one_kind_of_io_fills_a_link_at_two_loads() -> None:
    """Cached reads of 117,042 kB/s: 99.5 % of gigabit Ethernet, in the virtualisation study."""
    target = replace(card_runs.TARGET, layers=())
    run = card_runs.run(_scan(117.042e6, 4), _scan(116.721e6, 8), target=target)
    (found,) = link_limit.detect(Facts(run))
    assert "2 rows of 1 kind of I/O level off at the same 117 MB/s" in found.says
    assert "gigabit Ethernet" in found.says
    assert list(link_limit.detect(Facts(card_runs.run(_scan(117.042e6, 4), target=target)))) == []
    assert list(link_limit.detect(Facts(card_runs.run(_scan(117.042e6, 4), _scan(140e6, 8), target=target)))) == []


def _ticked(jitter_ns: float, top_ns: float, *, loose: float = 0.01, tick: bool = True) -> PhaseRecord:
    """Reads that complete at the next of a timer's ticks of 700 µs, and take a little on top."""
    draw = random.Random(7)
    values = []
    for _ in range(20_000):
        took = draw.expovariate(1 / 600_000)
        end = (took // 700_000 + 1) * 700_000 + top_ns + draw.gauss(0, jitter_ns) if tick else took + top_ns
        values.append((draw.uniform(300_000, 9_000_000) if draw.random() < loose else max(1.0, end), 1))
    return card_runs.reads(times=card_runs.histogram(*values))


@pytest.mark.parametrize(("jitter_ns", "top_ns"), [(1_000, 0), (15_000, 40_000), (30_000, 90_000)])
def test_times_in_steps_are_a_clock_and_no_several_peaks(jitter_ns: float, top_ns: float) -> None:
    (found,) = coarse_clock.detect(Facts(card_runs.run(_ticked(jitter_ns, top_ns))))
    assert found.evidence["step_ns"] == pytest.approx(700_000, rel=0.02)


def test_times_without_steps_have_no_clock() -> None:
    assert list(coarse_clock.detect(Facts(card_runs.run(_ticked(0, 200_000, tick=False))))) == []
    three = card_runs.histogram(
        *((at * MS * (1 + 0.002 * off), 20) for at in (0.2, 2.0, 9.0) for off in range(-20, 21))
    )
    assert list(coarse_clock.detect(Facts(card_runs.run(card_runs.reads(times=three))))) == []


def test_a_clock_of_a_disk_is_found_though_no_read_ends_at_its_first_tick(tmp_path: Path) -> None:
    found = planted.suspected(planted.measured("sim:hdd,tick=700us", planted.long(20), tmp_path))
    assert found["coarse_clock"].evidence["step_ns"] == pytest.approx(700_000, rel=0.01)
