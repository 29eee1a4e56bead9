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
from iocast.diagnose.examination import examine
from iocast.diagnose.experiments.next_step import refined
from iocast.diagnose.relations import worth_saying
from iocast.model.codes import FindingCode
from iocast.model.experiment import Outcome
from iocast.model.finding import Finding
from iocast.model.measurement import SlowIo
from iocast.model.run import PhaseRecord, Series, Source
from iocast.model.target import Target
from iocast.model.workload import MixItem, Sequential, Workload
from iocast.tools import importers

MS = 1_000_000
# 117,042 kB/s of cached reads by four asynchronous I/Os, as fio tells it.
V11 = """\
cached: (g=0): rw=read, bs=(R) 1024KiB-1024KiB, (W) 1024KiB-1024KiB, (T) 1024KiB-1024KiB, ioengine=libaio, iodepth=4
fio-3.7
Starting 1 process

cached: (groupid=0, jobs=1): err= 0: pid=4711: Tue Aug 18 10:39:23 2020
   read: IOPS=111, BW=112MiB/s (117MB/s)(1117MiB/10007msec)
    lat (usec): min=8120, max=91833, avg=35832.10, stdev=901.00
     issued rwt: total=1117,0,0, short=0,0,0, dropped=0,0,0
     latency   : target=0, window=0, percentile=100.00%, depth=4
"""
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
        ([20.0, 19.5] * 10 + [7.0, 7.1] * 10, 0),  # one step: something ended
        ([20.0, 19.5] * 10 + [12.0] + [7.0, 7.1] * 9, 0),  # within an interval
        ([20.0, 19.5] * 4 + [7.0, 7.1] * 16, 0),  # early in the row
    ],
)
def test_a_ramp_inside_a_row_suggests_a_tier(times_ms: list[float], said: int) -> None:
    run = card_runs.run(_course(times_ms))
    found = list(tiers.detect(Facts(run)))
    assert len(found) == said
    if said:
        assert "19 ms on average in its first fifth, 7.2 ms in its last" in found[0].says
        assert tiers.confirm(run, found[0]) is not None


def test_a_slow_time_that_ends_within_a_row_is_no_tier(tmp_path: Path) -> None:
    """Twice as slow until t=30 s of a minute: its fifths fall from one to the next, but in one step."""
    found = planted.suspected(planted.measured("sim:hdd,slow=0s..30s:2", planted.long(60, users=2), tmp_path))
    assert tiers.CODE not in found


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


@pytest.mark.parametrize(
    ("others_bytes", "requests", "said"), [(8192, 1.47, 0), (8192, 4.0, 1), (0, 1.47, 1), (300, 1.47, 1)]
)
def test_small_requests_of_others_are_not_pieces_of_large_ones(others_bytes: int, requests: float, said: int) -> None:
    """1M reads, and as many bytes more at the device as 8k of others would be for each request beyond one an I/O."""
    record = card_runs.reads("read 1M", size_bytes=1 << 20, sequential=True, times=card_runs.histogram((2e6, 4_000)))
    did = record.measurement
    more = round((requests - 1) * did.ios) if requests < 2 else round(0.47 * did.ios)
    moved = did.bytes + others_bytes * more
    seen = card_runs.diskstats(did.elapsed_ns, reads=round(requests * did.ios), read_bytes=moved, writes=0)
    found = list(request_shape.detect(Facts(card_runs.run(replace(record, samples=seen)))))
    assert [each.code for each in found] == ["splitting"] * said


def _scan(bytes_per_s: float, users: int) -> PhaseRecord:
    each_ns = users * (1 << 20) * 1e9 / bytes_per_s
    times = card_runs.histogram((each_ns, 2_000))
    return card_runs.reads(f"read 1M {users}x1", size_bytes=1 << 20, sequential=True, users=users, times=times)


def test_one_kind_of_io_fills_a_link_at_two_loads() -> None:
    """Cached reads of 117,042 kB/s: 99.5 % of gigabit Ethernet, in the virtualisation study."""
    target = replace(card_runs.TARGET, layers=())
    run = card_runs.run(_scan(117.042e6, 4), _scan(116.721e6, 8), target=target)
    found, other = link_limit.detect(Facts(run))
    assert "2 rows of 1 kind of I/O level off at the same 117 MB/s" in found.says
    assert [found.phase, other.phase] == ["read 1M 8x1", "read 1M 4x1"], "every row that it holds for"
    assert found.says == other.says
    assert "gigabit Ethernet" in found.says
    assert list(link_limit.detect(Facts(card_runs.run(_scan(117.042e6, 4), _scan(140e6, 8), target=target)))) == []


def test_a_suspected_link_is_not_reported_as_one_before_it_is_confirmed() -> None:
    target = replace(card_runs.TARGET, layers=())
    found, _ = link_limit.detect(Facts(card_runs.run(_scan(117.042e6, 4), _scan(116.721e6, 8), target=target)))
    assert found.remedy == "Check the speed of the link: if it is full, report these rows as link-bound, and add paths."
    confirmed = refined(found, Outcome(verdict="confirmed", says="The same throughput."))
    assert confirmed.remedy == "Report these rows as link-bound; add paths or use a faster link."
    assert refined(found, Outcome(verdict="rejected", says="More.")).remedy == found.remedy
    (alone,) = _links((117.042e6, 4), target=replace(target, filesystem="nfs4"))
    assert "report the row as link-bound" in alone.remedy


def _links(*scans: tuple[float, int], target: Target, imported: bool = False) -> list[Finding]:
    source = Source(tool="fio") if imported else None
    run = card_runs.run(*(_scan(rate, users) for rate, users in scans), target=target, source=source)
    return list(link_limit.detect(Facts(run)))


@pytest.mark.parametrize("imported", [False, True])
@pytest.mark.parametrize(
    ("bytes_per_s", "link"),
    [
        (117.042e6, "gigabit Ethernet"),  # the virtualisation study, if its kB are of 1,000 bytes
        (119.851e6, "gigabit Ethernet"),  # if they are of 1,024
        (116.580e6, "gigabit Ethernet"),  # its slowest guest
        (1.2e9, "10-gigabit Ethernet"),
        (112e6, ""),
        (130e6, ""),
        (550e6, ""),
    ],
)
def test_one_row_fills_a_link_where_no_device_is_known(bytes_per_s: float, link: str, imported: bool) -> None:
    nowhere = replace(card_runs.TARGET, layers=(), filesystem=None if imported else "nfs4")
    found = _links((bytes_per_s, 4), target=nowhere, imported=imported)
    assert [each.hypothesis for each in found] == ([f"{link} is full"] if link else [])
    for each in found:
        assert (each.state, each.severity, each.evidence["rows"]) == ("suggested", "note", 1)
    assert _links((bytes_per_s, 4), (2e9, 8), target=nowhere, imported=imported) == []  # another row moves more


def test_one_row_fills_a_link_that_is_known_and_no_other_link_is_guessed_above_a_device() -> None:
    known = card_runs.TARGET
    speed = next(each.link_bytes_per_s for each in known.layers if each.link_bytes_per_s)
    (found,) = _links((0.95 * speed, 4), target=known)
    assert found.says.endswith("95% of what its link carries.")
    assert found.evidence["guessed"] == 0
    assert _links((0.5 * speed, 4), target=known) == []
    unknown = replace(known, layers=tuple(replace(each, link_bytes_per_s=None) for each in known.layers))
    assert _links((117.042e6, 4), target=unknown) == []


def test_no_link_is_guessed_from_one_row_of_what_is_on_this_machine() -> None:
    """A device over FUSE has no layers, and no network: one of seventeen rates is that of some kind of link."""
    for filesystem in ("fuse", "fuse.lab", "ext4"):
        target = replace(card_runs.TARGET, layers=(), filesystem=filesystem)
        assert _links((848e6, 4), target=target) == []
    assert _links((848e6, 4), target=replace(card_runs.TARGET, layers=(), filesystem="cifs"))


def test_a_short_import_of_the_virtualisation_study_names_the_link(tmp_path: Path) -> None:
    (tmp_path / "cached.txt").write_text(V11)
    (run,) = importers.read((str(tmp_path / "cached.txt"),))
    (found,) = link_limit.detect(Facts(run))
    assert found.says.startswith("117 MB/s is as much as gigabit Ethernet carries")


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


def test_waits_behind_others_at_one_server_are_no_clock() -> None:
    """A neighbour that grew on a real device: each I/O took one, two or three times what one takes, give or take a
    fourteenth, and a timer was said to decide when it ends."""
    draw = random.Random(11)
    values = []
    for _ in range(20_000):
        before = draw.choices((0, 1, 2), (75, 21, 4))[0]
        values.append((sum(draw.uniform(1.6e6, 2.0e6) for _ in range(1 + before)), 1))
    run = card_runs.run(card_runs.reads(times=card_runs.histogram(*values)))
    assert list(coarse_clock.detect(Facts(run))) == []


def test_a_clock_of_a_disk_is_found_though_no_read_ends_at_its_first_tick(tmp_path: Path) -> None:
    found = planted.suspected(planted.measured("sim:hdd,tick=700us", planted.long(20), tmp_path))
    assert found["coarse_clock"].evidence["step_ns"] == pytest.approx(700_000, rel=0.01)


@pytest.mark.parametrize("tick", ["2.2ms", "3251us"])
def test_the_ticks_of_a_clock_are_no_peaks_as_well(tick: str, tmp_path: Path) -> None:
    found = {
        each.code for each in examine(planted.measured(f"sim:hdd,tick={tick}", planted.long(20), tmp_path)).findings
    }
    assert "coarse_clock" in found
    assert "several_peaks" not in found


@pytest.mark.parametrize(
    ("gap_ns", "phase", "said"),
    [(2.2 * MS, "", False), (12.0 * MS, "", True), (2.2 * MS, "randread 8k", False), (2.2 * MS, "another", True)],
)
def test_peaks_many_ticks_apart_have_another_cause_too(gap_ns: float, phase: str, said: bool) -> None:
    clock = Finding(code="coarse_clock", severity="severe", phase=phase, says="", evidence={"step_ns": 2.2 * MS})
    evidence = {"peaks": 2, "widest_gap_ns": gap_ns}
    peaks = Finding(code="several_peaks", severity="note", phase="randread 8k", says="", evidence=evidence)
    told = worth_saying(Facts(card_runs.run(card_runs.reads())), [clock, peaks])
    assert told == ([clock, peaks] if said else [clock])


@pytest.mark.parametrize(
    ("code", "phase", "said"), [("write_cliff", "commit 4k", False), ("shared_drives", "randread 8k", True)]
)
def test_first_writes_explain_a_write_rate_that_fell_and_no_read(code: FindingCode, phase: str, said: bool) -> None:
    cause = Finding(code="first_write_penalty", severity="warn", phase="overwrite", says="", state="suggested")
    seen = Finding(code=code, severity="warn", phase=phase, says="", state="suggested")
    facts = Facts(card_runs.run(card_runs.reads(), card_runs.commits()))
    assert (seen in worth_saying(facts, [cause, seen])) == said
    assert seen in worth_saying(facts, [replace(cause, state="rejected"), seen])
