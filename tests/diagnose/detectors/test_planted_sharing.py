"""Others on the drives, full links, coarse clocks, peaks and maintenance: planted, confirmed, not seen elsewhere."""

from __future__ import annotations

import random
from pathlib import Path
from statistics import fmean, stdev

import pytest
from makers import card_runs, planted
from makers.left_out import long_after, long_but
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.interference import request_shape, shared_drives, under_maintenance
from iocast.diagnose.detectors.limits import link_limit, shallow
from iocast.diagnose.detectors.measurement import bimodal, coarse_clock, generator_bound
from iocast.diagnose.examination import examine
from iocast.diagnose.trust import isolation, representative
from iocast.jobs import parse_target
from iocast.model.finding import Span
from iocast.model.measurement import Generator, UserResult
from iocast.model.run import PhaseRecord, Sample
from iocast.model.workload import Closed, MixItem, Op, Workload

pytestmark = pytest.mark.slow

US, MS = 1_000, 1_000_000
KIB, MIB = 1 << 10, 1 << 20
BURSTS = ("hdd,noise=60/s:10s/60s", "hdd,noise=60/s:1s/10s", "sata-ssd,noise=90000/s:3s/20s")
MAINTENANCE = ("hdd,slow=60s..130s:3", "sata-ssd,slow=60s..130s:3")
SHORT_BURSTS = ("sim:hdd,noise=60/s:1s/4s", "sim:sata-ssd,noise=60000/s:1s/4s")


@pytest.mark.long
@pytest.mark.parametrize("target", long_but(BURSTS, BURSTS[0]))
def test_bursts_of_others_are_confirmed(target: str, tmp_path: Path) -> None:
    run = planted.measured(f"sim:{target}", planted.long(120), tmp_path)
    found, _ = planted.inquired(run, tmp_path)
    assert found[shared_drives.CODE].state == "confirmed", found[shared_drives.CODE].learned


def test_it_is_told_when_others_were_there(tmp_path: Path) -> None:
    run = planted.measured("sim:hdd,noise=60/s:10s/60s", planted.long(120), tmp_path)
    spans = planted.suspected(run)[shared_drives.CODE].spans
    assert [(each.end_ns - each.start_ns) / 1e9 for each in spans] == pytest.approx([10, 10], abs=1)
    assert (spans[1].start_ns - spans[0].start_ns) / 1e9 == pytest.approx(60, abs=1)


@pytest.mark.long
@pytest.mark.parametrize("target", long_but(SHORT_BURSTS, SHORT_BURSTS[0]))
def test_bursts_are_seen_although_they_make_the_times_scatter(target: str, tmp_path: Path) -> None:
    run = planted.measured(target, planted.SUSTAINED, tmp_path)
    found, _ = planted.inquired(run, tmp_path)
    assert found[shared_drives.CODE].state == "confirmed", found[shared_drives.CODE].learned


@pytest.mark.parametrize("target", ["sim:hdd", "sim:sata-ssd", "sim:cached-array", "sim:nvme,stall=1s/5s"])
def test_nobody_else_is_suspected_where_nobody_is(target: str, tmp_path: Path) -> None:
    run = planted.measured(target, planted.long(60), tmp_path)
    assert shared_drives.CODE not in planted.suspected(run)
    assert under_maintenance.CODE not in planted.suspected(run)


@pytest.mark.long
def test_others_that_were_away_are_not_rejected(tmp_path: Path) -> None:
    run = planted.measured("sim:hdd,noise=60/s:10s/60s", planted.long(120), tmp_path)
    quiet = replace(run, plan=replace(run.plan, target=parse_target("sim:hdd")))
    found, _ = planted.inquired(quiet, tmp_path)
    assert found[shared_drives.CODE].state == "suggested"
    assert "says nothing of other hours" in found[shared_drives.CODE].learned


def test_a_slow_time_with_an_end_is_maintenance_perhaps(tmp_path: Path) -> None:
    run = planted.measured("sim:hdd,slow=100s..200s:3", planted.long(300), tmp_path)
    found = planted.suspected(run)
    assert found[under_maintenance.CODE].state == "suggested"
    assert found[under_maintenance.CODE].evidence["from_ns"] == pytest.approx(100e9, rel=0.05)
    (span,) = found[under_maintenance.CODE].spans
    assert (span.start_ns, span.end_ns) == (pytest.approx(100e9, rel=0.05), pytest.approx(200e9, rel=0.05))
    assert shared_drives.CODE not in found


@pytest.mark.long
@pytest.mark.parametrize("target", long_but(MAINTENANCE, MAINTENANCE[0]))
def test_maintenance_that_comes_again_is_confirmed(target: str, tmp_path: Path) -> None:
    run = planted.measured(f"sim:{target}", planted.long(200), tmp_path)
    found, _ = planted.inquired(run, tmp_path)
    assert found[under_maintenance.CODE].state == "confirmed", found[under_maintenance.CODE].learned


@pytest.mark.long
def test_the_clock_of_a_simulated_device_begins_with_the_first_row(tmp_path: Path) -> None:
    twice = planted.long(30) + planted.long(240).partition("[[phase]]")[1] + planted.long(240).partition("[[phase]]")[2]
    run = planted.measured("sim:hdd,slow=100s..180s:3", twice, tmp_path)
    found, _ = planted.inquired(run, tmp_path)
    assert found[under_maintenance.CODE].evidence["from_ns"] == pytest.approx(70e9, rel=0.05)
    assert found[under_maintenance.CODE].state == "confirmed", found[under_maintenance.CODE].learned


@pytest.mark.long
def test_maintenance_that_is_over_is_not_rejected(tmp_path: Path) -> None:
    run = planted.measured("sim:hdd,slow=60s..130s:3", planted.long(200), tmp_path)
    over = replace(run, plan=replace(run.plan, target=parse_target("sim:hdd")))
    found, _ = planted.inquired(over, tmp_path)
    assert found[under_maintenance.CODE].state == "suggested"
    assert "The rate is steady now, which says nothing of what ran then" in found[under_maintenance.CODE].learned


@pytest.mark.parametrize(("subject", "severity"), [("vda", "warn"), ("md7", "note")])
def test_a_task_that_was_seen_is_counted(subject: str, severity: str) -> None:
    record = card_runs.reads()
    sample = Sample(card_runs.START_UNIX_NS + 5, under_maintenance.OBSERVER, subject, "md_resync", 1.0)
    idle = replace(sample, value=0.0)
    later = replace(sample, time_ns=sample.time_ns + 10**15)  # right after the load
    run = card_runs.run(replace(record, samples=(*record.samples, sample, later)))
    assert [(each.severity, each.state) for each in under_maintenance.detect(Facts(run))] == [(severity, "counted")]
    assert [each.spans for each in under_maintenance.detect(Facts(run))] == [(Span(5, record.measurement.elapsed_ns),)]
    assert list(under_maintenance.detect(Facts(card_runs.run(replace(record, samples=(*record.samples, idle)))))) == []


@pytest.mark.parametrize(
    "target", long_after(1, ["sim:nfs-filer", "sim:nvme,link=117.7MB/s:200us", "sim:nvme,link=850MB/s:50us"])
)
def test_a_full_link_is_confirmed(target: str, tmp_path: Path) -> None:
    run = planted.measured(target, planted.ladder(1), tmp_path)
    found, _ = planted.inquired(run, tmp_path)
    assert found[link_limit.CODE].state == "confirmed", found[link_limit.CODE].learned


@pytest.mark.parametrize("limit", long_after(1, ["bandwidth=117.7MB/s", "throughput=117MB/s", "bandwidth=850MB/s"]))
def test_a_device_that_is_as_fast_as_a_link_is_no_link(limit: str, tmp_path: Path) -> None:
    run = planted.measured(f"sim:nvme,{limit}", planted.ladder(1), tmp_path)
    assert link_limit.CODE not in planted.confirmed(run, tmp_path)


def _on_the_link(name: str, share: float, *ops: Op) -> PhaseRecord:
    """A row that moves so much of what the link carries, all its operations together."""
    ios = round(10 * share * (card_runs.VDA.link_bytes_per_s or 0) / MIB / len(ops))
    parts = [card_runs.part(op, MIB, card_runs.histogram((MS, ios))) for op in ops]
    load = Workload(mix=tuple(MixItem(op, MIB) for op in ops))
    return card_runs.record(name, load, card_runs.measurement(parts, elapsed_ns=10 * card_runs.SECOND_NS))


READS, WRITES = _on_the_link("reads", 0.95, "read"), _on_the_link("writes", 0.96, "write")


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ((READS, WRITES), ["writes", "reads"]),
        ((READS,), ["reads"]),  # of a link that is known one row is enough
        ((_on_the_link("mixed", 0.95, "read", "write"),), []),  # of two kinds, but one row
        ((READS, WRITES, _on_the_link("trims", 5.0, "trim")), ["writes", "reads"]),  # takes none of it
        ((READS, WRITES, _on_the_link("more reads", 1.2, "read")), []),
    ],
)
def test_a_plateau_of_a_link_is_of_rows_that_go_one_way(rows: tuple[PhaseRecord, ...], told: list[str]) -> None:
    assert [each.phase for each in link_limit.detect(Facts(card_runs.run(*rows)))] == told


@pytest.mark.long
def test_ticks_are_counted_and_saturation_is_none(tmp_path: Path) -> None:
    found = planted.suspected(planted.measured("sim:nvme,tick=1ms", planted.ladder(1), tmp_path))
    assert found[coarse_clock.CODE].evidence["step_ns"] == pytest.approx(1e6, rel=0.01)
    for target in ("sim:nvme", "sim:sata-ssd", "sim:hdd", "sim:nvme,link=117MB/s:200us"):
        assert coarse_clock.CODE not in planted.suspected(planted.measured(target, planted.ladder(1), tmp_path))


ROWS = """
name = "rows"
[files]
size = "4GiB"
[[phase]]
test = "randread"
size = "8k"
pattern = "random"
users = [1, 2, 4]
time = "{seconds}s"
direct = true
"""


@pytest.mark.parametrize(("seconds", "rows"), [(60, ["1x1", "2x1"]), (25, ["2x1", "4x1"])])
def test_maintenance_over_the_border_of_two_rows_is_seen_in_both(seconds: int, rows: list[str], tmp_path: Path) -> None:
    """Half as fast for the end of one row and the start of the next: 50 s, and 32 s."""
    slow = {60: "40s..90s", 25: "33s..65s"}[seconds]
    run = planted.measured(f"sim:hdd,slow={slow}:2", ROWS.format(seconds=seconds), tmp_path)
    found = list(under_maintenance.detect(Facts(run)))
    assert [each.phase for each in found] == [f"randread 8k {load}" for load in rows]
    first, last = found
    assert (len({each.says for each in found}), first.says.startswith("The rate was ")) == (1, True)
    assert f"of {first.phase} until t=" in first.says
    assert last.spans[0].start_ns == 0
    assert {each.brief for name, each in examine(run).excluded.items() if name.endswith(tuple(rows))} == {"maintenance"}


@pytest.mark.parametrize("target", ["sim:hdd,slow=20s..70s:3", "sim:sata-ssd,slow=20s..55s:1.5"])
def test_maintenance_of_less_than_a_minute_in_one_row(target: str, tmp_path: Path) -> None:
    found = planted.suspected(planted.measured(target, planted.long(90), tmp_path))
    assert found[under_maintenance.CODE].evidence["from_ns"] == pytest.approx(20e9, rel=0.1)


@pytest.mark.long
def test_a_slow_time_that_ended_two_rows_later_spent_no_credits(tmp_path: Path) -> None:
    """ "IOPS fell from 12,135 to 4,126 and stayed there: credits were spent", and the next loads did far more."""
    run = planted.measured("sim:nvme,slow=20s..70s:3", ROWS.format(seconds=30), tmp_path)
    found = planted.suspected(run)
    assert under_maintenance.CODE in found
    assert "burst_credits" not in found


@pytest.mark.long
def test_loads_that_go_on_above_a_baseline_show_that_it_is_none(tmp_path: Path) -> None:
    """One user fell from 10,000 to 5,700 IOPS, and eight did 41,000 right after: "credits were spent", severe."""
    rows = ROWS.format(seconds=40).replace("[1, 2, 4]", "[1, 8]")
    assert "burst_credits" not in planted.suspected(
        planted.measured("sim:sata-ssd,slow=20s..70s:2", rows, tmp_path / "a")
    )
    spent = planted.suspected(planted.measured("sim:sata-ssd,iops=9000/s,credits=1000/s:150k", rows, tmp_path / "b"))
    assert "burst_credits" in spent


def test_a_fall_that_nothing_takes_back_is_no_maintenance(tmp_path: Path) -> None:
    for device in ("sim:hdd,slow=40s..900s:2", "sim:hdd", "sim:nvme,iops=3000/s,credits=600/s:80k"):
        run = planted.measured(device, ROWS.format(seconds=60), tmp_path / device[4:7])
        assert list(under_maintenance.detect(Facts(run))) == []


STREAMS = """
name = "streams"
[files]
size = "4GiB"
[[phase]]
test = "commit"
write = 100
size = "8k"
pattern = "sequential"
sync = "dsync"
users = [2, 4]
time = "60s"
direct = true
"""


def test_streams_that_meet_on_a_stripe_are_no_other_io(tmp_path: Path) -> None:
    """Two appenders drift over the members: their rate goes up and down where nobody else is."""
    for seed in (1, 4):
        run = planted.measured("sim:hdd,size=4TiB,stripe=4:256KiB,zones=1.8", STREAMS, tmp_path / str(seed), seed)
        assert shared_drives.CODE not in planted.suspected(run)


PACED = """
[[phase]]
test = "open"
size = "8k"
pattern = "random"
rate = "1500/s"
[[phase]]
test = "thinking"
size = "8k"
pattern = "random"
think = "1700us"
"""


@pytest.mark.long
@pytest.mark.parametrize("tick", long_but(("1ms", "300us"), "300us"))
def test_a_step_shows_where_completions_submit(tick: str, tmp_path: Path) -> None:
    """What is due by a clock of its own begins between two marks: its times are any, and say nothing against a step."""
    job = planted.ladder(1) + PACED
    run = planted.measured(f"sim:nvme,tick={tick}", job, tmp_path)
    found = planted.suspected(run)[coarse_clock.CODE]
    assert found.evidence["step_ns"] == pytest.approx({"1ms": 1e6, "300us": 3e5}[tick], rel=0.002)
    assert found.says.startswith(
        "A timer decides when an I/O completes: the times of all closed-loop rows without pauses lie "
    )
    assert coarse_clock.CODE not in planted.suspected(planted.measured("sim:nvme", job, tmp_path / "fine"))


TICKS = card_runs.histogram((MS, 500), (2 * MS, 300), (3 * MS, 200))


@pytest.mark.parametrize(
    ("last", "told"),
    [
        ((1.5 * MS, 100), [""]),  # too few to say anything
        ((21 * MS, 1000), [f"r{at}" for at in range(10)]),  # as good as any clock for what takes so long
    ],
)
def test_coarse_rows_are_named_where_others_are_not(last: tuple[float, int], told: list[str]) -> None:
    rows = [card_runs.reads(f"r{at}", times=TICKS) for at in range(10)]
    run = card_runs.run(*rows, card_runs.reads("last", times=card_runs.histogram(last)))
    assert [each.phase for each in coarse_clock.detect(Facts(run))] == told


def test_a_constant_time_for_each_kib_is_no_tick() -> None:
    """A disk that streams: 8k, 32k and 128k stand at 55, 219 and 874 us, which are multiples of the first."""
    rows = [
        card_runs.reads(f"read {kib}k", times=card_runs.histogram((kib * 6828, 1000)), size_bytes=kib * KIB)
        for kib in (8, 32, 128)
    ]
    assert not list(coarse_clock.detect(Facts(card_runs.run(*rows))))
    again = card_runs.reads("read 8k, later", times=card_runs.histogram((2 * 8 * 6828, 1000)), size_bytes=8 * KIB)
    assert [each.code for each in coarse_clock.detect(Facts(card_runs.run(*rows, again)))] == [coarse_clock.CODE]


def test_peaks_are_told_with_their_shares(tmp_path: Path) -> None:
    run = planted.measured("sim:nvme,service=bimodal:90%:400us:6ms", planted.long(10), tmp_path)
    (found,) = bimodal.detect(Facts(run))
    says = found.says
    assert bimodal.CODE not in planted.suspected(run), "one explanation: a cache answers the quick ones"
    assert says == "The times are bimodal: 90% around 398 µs and 10% around 6 ms."
    assert list(bimodal.detect(Facts(planted.measured("sim:sata-ssd", planted.long(10), tmp_path)))) == []


@pytest.mark.parametrize("options", ["", ",noise=10/s", ",cache=1GiB:200us", ",read_ahead=1MiB:100us"])
def test_trust_knows_nothing_of_the_options(options: str) -> None:
    record = card_runs.reads()
    run = card_runs.run(record, target=parse_target(f"sim:hdd{options}"))
    assert isolation.isolation(Facts(run).row(record)).grade == "A"
    assert representative.representative(Facts(run).row(record)).grade == "B"


def _device(record: PhaseRecord, **deltas: float) -> PhaseRecord:
    did = record.measurement
    return replace(record, samples=card_runs.diskstats(did.elapsed_ns, **{"reads_merged": 0, **deltas}))


@pytest.mark.parametrize(
    ("size", "requests", "name", "why"),
    [
        (MIB, 8000, request_shape.SPLIT, "no queue limit explains it"),
        (MIB, 1000, None, ""),
        (64 * KIB, 8000, None, ""),
        (4 * KIB, 100, request_shape.MERGED, "I/Os of 4.0 KiB reached vda1 as requests of 40.0 KiB"),
        (4 * KIB, 950, None, ""),
    ],
)
def test_requests_of_another_size(size: int, requests: int, name: str | None, why: str) -> None:
    record = card_runs.reads(size_bytes=size, times=card_runs.histogram((MS, 1000)), sequential=True)
    found = list(request_shape.detect(Facts(card_runs.run(_device(record, reads=requests, read_bytes=1000 * size)))))
    assert [each.code for each in found] == ([name] if name else [])
    assert all(why in each.says for each in found)


def test_the_limit_that_splits_is_named() -> None:
    record = card_runs.reads(size_bytes=MIB, times=card_runs.histogram((MS, 1000)), sequential=True)
    layers = tuple(replace(layer, max_io_bytes=128 * KIB) for layer in card_runs.TARGET.layers)
    target = replace(card_runs.TARGET, layers=layers)
    (found,) = request_shape.detect(
        Facts(card_runs.run(_device(record, reads=8000, read_bytes=1000 * MIB), target=target))
    )
    assert "became 8 requests of 128.0 KiB at vda1: max_sectors_kb of vda1 is 128" in found.says


def test_bytes_of_others_or_of_a_cache_are_another_finding() -> None:
    record = card_runs.reads(size_bytes=MIB, times=card_runs.histogram((MS, 1000)), sequential=True)
    for moved in (500, 2000):
        seen = _device(record, reads=8000, read_bytes=moved * MIB)
        assert list(request_shape.detect(Facts(card_runs.run(seen)))) == []


def test_users_that_ended_early_are_named() -> None:
    record = card_runs.reads(users=4)
    did = record.measurement
    early = tuple(UserResult(1, did.elapsed_ns // part) for part in (4, 2, 1, 1))
    short = replace(record, measurement=replace(did, users=early, depth_mean=2.6))
    (found,) = shallow.detect(Facts(card_runs.run(short)))
    assert found.severity == "warn"
    assert "2.6 of 4 I/Os were outstanding on average, 65%: the first user ended after" in found.says
    assert list(shallow.detect(Facts(card_runs.run(record)))) == []
    assert record.phase.workload.arrival == Closed()


@pytest.mark.parametrize(
    ("queued_share", "why"),
    [
        (0.55, "the test's thread waited for a CPU 55% of the time"),
        (0.0, "the next I/O was submitted 50 µs after each"),
    ],
)
def test_a_load_that_was_not_reached_names_what_was_late(queued_share: float, why: str) -> None:
    record = card_runs.reads(depth=32, times=card_runs.histogram((250_000, 106_000)))
    did = replace(record.measurement, elapsed_ns=10**9, issuing_ns=10**9, depth_mean=26.7)
    made = Generator(threads=1, queued_ns=round(queued_share * 10**9))
    (found,) = shallow.detect(Facts(card_runs.run(replace(record, measurement=replace(did, generator=made)))))
    assert f"26.7 of 32 I/Os were outstanding on average, 83%: {why}" in found.says


def test_a_generator_without_a_processor_is_told_whatever_it_did_with_the_rest() -> None:
    record = card_runs.reads()
    did = record.measurement
    starved = Generator(threads=1, system_ns=round(0.1 * did.elapsed_ns), queued_ns=round(0.85 * did.elapsed_ns))
    (found,) = generator_bound.detect(
        Facts(card_runs.run(replace(record, measurement=replace(did, generator=starved))))
    )
    assert "waited for a CPU 85% of the time" in found.says


@pytest.mark.parametrize(
    ("threads", "cpus", "waited", "remedy"),
    [
        (1, 2, True, "Stop other work on this machine; until then its figures are a lower limit."),
        (8, 2, True, "Stop other work on this machine, or use no more users than its 2 CPUs; until then its"),
        (1, 2, False, "Use more users: this machine has 2 CPUs; until then its figures are a lower limit."),
        (8, 2, False, "Use a machine with more CPUs; until then its figures are a lower limit."),
    ],
)
def test_the_way_out_of_a_busy_generator_is_one_that_is_open(
    threads: int, cpus: int, waited: bool, remedy: str
) -> None:
    record = card_runs.reads(users=threads)
    spent = threads * record.measurement.elapsed_ns
    made = Generator(threads=threads, **({"queued_ns": spent} if waited else {"user_ns": spent}))
    of = replace(record, measurement=replace(record.measurement, generator=made))
    run = card_runs.run(of, host=replace(card_runs.HOST, cpus=cpus))
    (found,) = generator_bound.detect(Facts(run))
    assert found.remedy.startswith(remedy)


def test_a_busy_generator_is_told() -> None:
    record = card_runs.reads()
    did = record.measurement
    busy = Generator(threads=1, user_ns=round(0.95 * did.elapsed_ns))
    (found,) = generator_bound.detect(Facts(card_runs.run(replace(record, measurement=replace(did, generator=busy)))))
    assert found.severity == "severe"
    assert "lower limit" in found.says
    assert list(generator_bound.detect(Facts(card_runs.run(record)))) == []


@pytest.mark.parametrize("seed", [1, 3])
def test_bursts_that_slow_all_of_their_interval_do_not_hide_in_their_own_scatter(seed: int, tmp_path: Path) -> None:
    """A disk in which 20 I/Os of 80 ms end in an interval: the bursts made its times scatter as much as its rate."""
    run = planted.measured("sim:hdd,noise=67/s:1s/4s", planted.SUSTAINED, tmp_path, seed)
    assert shared_drives.CODE in planted.suspected(run)


def test_one_level_has_no_quick_half() -> None:
    """However few I/Os an interval has, no row of one level varies by three such scatters."""
    draw = random.Random(7)
    for _ in range(200):
        rates = [draw.gauss(80, draw.choice((4, 8, 16))) for _ in range(60)]
        most = shared_drives.over_scatter(rates) * shared_drives.scatter_of_the_quick(rates)
        assert most > stdev(rates) / fmean(rates)
