"""Sentences about planted devices that a storage engineer found false, or missed, when he read ten cards."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers import planted

from iocast import jobs, load, runner
from iocast.analyse.facts import Facts
from iocast.diagnose.examination import examine
from iocast.diagnose.grades import grade
from iocast.jobs import load_job, parse_target
from iocast.model.experiment import Diagnosis
from iocast.model.finding import Finding
from iocast.model.run import Run
from iocast.report.card.verdict import verdict
from iocast.report.tested_section import conclusion
from iocast.sessions.listener import QuietProgress

ROWS = """\
name = "rows"
[defaults]
time = "{seconds}s"
size = "8k"
pattern = "random"
direct = true
[[phase]]
test = "randread"
users = [1, 8, 32]
[[phase]]
test = "commit"
write = 100
pattern = "sequential"
sync = "dsync"
users = [1, 4]
[[phase]]
test = "randwrite"
write = 100
users = 8
[[phase]]
test = "write"
write = 100
size = "1M"
pattern = "sequential"
"""


WRITTEN_AND_NOT = """\
name = "written and not"
[files]
size = "1GiB"
[defaults]
time = "3s"
size = "8k"
pattern = "random"
direct = true
[[phase]]
test = "ground"
role = "warm"
write = 100
size = "1M"
pattern = "sequential"
region = {start = 0, size = "64MiB"}
bytes = "64MiB"
[[phase]]
test = "written"
time = "2s"
region = {start = 0, size = "64MiB"}
[[phase]]
test = "written"
time = "2s"
region = {start = 0, size = "64MiB"}
[[phase]]
test = "written"
time = "2s"
region = {start = "128MiB", size = "64MiB"}
"""


def card(target: str, out: Path, seconds: int = 3) -> Run:
    return planted.measured(target, ROWS.format(seconds=seconds), out)


def survey(target: str, out: Path, preset: str = "survey", seed: int = 1) -> Run:
    made, _ = jobs.plan(load_job(preset), parse_target(target), seed=seed, memory_bytes=8 << 30)
    return runner.run(runner.Work(made, load.lay_out(made), str(out)), QuietProgress(), lambda: False).run


@pytest.fixture(scope="module")
def beside_others(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A disk that serves 60 IOPS of somebody else, all the time."""
    return survey("sim:hdd,noise=60/s", tmp_path_factory.mktemp("noise"))


@pytest.fixture(scope="module")
def fresh_flash(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Flash on which the first write of each 64 KiB takes 2 ms more."""
    return card("sim:nvme,first_write=2ms", tmp_path_factory.mktemp("first"))


def test_first_writes_of_every_other_io_are_no_stalls(fresh_flash: Run) -> None:
    """It said "13 stalls of 32 ms … They recur every 32 ms" of writes of 1 MiB, each sixteen units."""
    assert "stalls" not in planted.suspected(fresh_flash)


def test_one_in_eight_writes_in_order_is_slow_where_units_are_allocated(fresh_flash: Run, tmp_path: Path) -> None:
    found = planted.suspected(fresh_flash)["first_write_penalty"]
    assert found.says == (
        "One in 8 of the writes in order took about 2 ms, the others 41 µs, and random writes took as long each: as"
        " where each 64.0 KiB is allocated at its first write."
    )
    assert "first_write_penalty" in planted.confirmed(fresh_flash, tmp_path)


def test_peaks_of_a_stripe_are_no_first_writes(tmp_path: Path) -> None:
    """One write in eight goes to another disk: the same shape, and random writes take as long as it."""
    assert "first_write_penalty" not in planted.suspected(card("sim:hdd,stripe=8:64KiB", tmp_path, seconds=1))


def test_one_read_that_waits_behind_a_neighbour_is_no_stall(beside_others: Run) -> None:
    """It said "I/O stalled" of single reads, each of which is all that is outstanding."""
    assert "stalls" not in planted.suspected(beside_others)


@pytest.mark.xfail(strict=True, reason="nobody says that there are neighbours: causes have to compete")
def test_waits_behind_a_neighbour_are_no_first_writes_and_no_fall(tmp_path: Path) -> None:
    """It said "First writes were at least 1.56 times as slow" of 31 and 21 ms in a queue of others' I/O, and "IOPS fell
    from 46.7 to 31 … and stayed there" of a hundred reads."""
    run = survey("sim:hdd,stripe=4:64KiB,noise=200/s", tmp_path, seed=2)
    found = examine(run)
    assert {each.code for each in found.findings} == {"shared_drives"}
    assert not [each for each in found.left_out.values() if each.fell]


QUICK = """\
name = "quick"
[defaults]
time = "3s"
size = "8k"
pattern = "random"
[[phase]]
test = "randread"
users = [1, 8, 32]
[[phase]]
test = "randread"
users = 4
depth = 16
[[phase]]
test = "mixed"
read = 70
write = 30
users = 8
"""


def test_a_disk_is_no_rate_limit_because_its_single_reads_met_others(tmp_path: Path) -> None:
    """It said "64 outstanding I/Os reached 80.1 IOPS … as behind a rate limit" of an arm that does 80: the reads at 1x1
    scattered in a neighbour's burst, and those of a queue less."""
    run = planted.measured("sim:hdd,noise=40/s:3s/13s", QUICK, tmp_path, 21)
    assert "throttle" not in {each.code for each in examine(run).findings}


def test_no_level_is_left_by_a_cliff_beside_neighbours(beside_others: Run) -> None:
    """Writes at 33 and then 14 MB/s, 4 of them in an interval: the neighbour's share, not a full cache."""
    assert "write_cliff" not in planted.suspected(beside_others)


def test_reads_that_become_faster_under_more_load_moved_to_a_tier(tmp_path: Path) -> None:
    """10 ms at 1x1 and 1 ms at 32x1 were "Queue-bound … 2.15x per doubling", a B, and no finding."""
    target = "sim:sata-ssd,size=512MiB,service=lognormal:10ms:0.2,tier=100GiB:1ms:3,servers=4"
    run = card(target, tmp_path)
    facts, found = Facts(run), examine(run)
    tier = next(each for each in found.findings if each.code == "tier_migration")
    assert tier.says == (
        "Random reads became faster while the load rose: 10 ms on average at 1x1, 1 ms at 32x1; more load makes no"
        " storage faster."
    )
    assert "; 32x1 reaches 31.2k IOPS, each in 1 ms: the storage had become faster by then." in verdict(facts, found)
    reads = next(each for each in grade(facts, found).parts if each.code == "random_read")
    assert reads.letter is None
    assert "more load cannot make storage faster" in reads.says
    assert found.bounds["randread 8k 1x1"].by == "unknown"
    assert "tier_migration" in planted.confirmed(run, tmp_path)


def test_maintenance_that_ends_is_no_tier(tmp_path: Path) -> None:
    assert "tier_migration" not in planted.suspected(card("sim:sata-ssd,slow=0s..3s:4", tmp_path))


def test_a_lock_over_all_io_is_suspected(tmp_path: Path) -> None:
    """Device-bound on every row, and "none found", although 64 servers are behind the lock."""
    found = examine(card("sim:nvme,serialised=all", tmp_path, seconds=1))
    locked = [each for each in found.findings if each.code == "serialised_direct_io"]
    assert {each.phase for each in locked} == {"randread 8k 32x1", "commit 8k 4x1"}
    assert "one lock over all I/O, or a device that serves one at a time" in locked[0].says
    assert found.bounds["randread 8k 8x1"].says.startswith("Bound by the device or a lock above it (suspected, 50%)")


@pytest.mark.parametrize("target", ["sim:nvme", "sim:hdd", "sim:nvme,iops=5000/s", "sim:sata-ssd,servers=2"])
def test_no_lock_is_suspected_of_others(target: str, tmp_path: Path) -> None:
    assert "serialised_direct_io" not in planted.suspected(card(target, tmp_path, seconds=1))


def test_a_second_pass_that_came_further_is_not_all_second_writes(tmp_path: Path) -> None:
    """Of 252 writes of the quicker row 145 were repeats; and writes to blocks that were never written are no sign of
    compression."""
    found = planted.suspected(survey("sim:hdd,first_write=15ms", tmp_path))
    assert found["first_write_penalty"].says == (
        "First writes were at least 2.43 times as slow: p50 21 ms, against 8.6 ms in a second row over the same blocks,"
        " of which 58% were written again, others first."
    )
    assert "compression_or_deduplication" not in found


def test_peaks_of_two_times_are_no_hits_and_misses(tmp_path: Path) -> None:
    job = planted.long(6, users=8)
    found = planted.suspected(planted.measured("sim:sata-ssd,slow=3s..9s:3", job, tmp_path))["several_peaks"]
    assert ", one after the other: the storage changed within the row." in found.says
    assert "cache" not in found.remedy


def test_peaks_of_a_cache_lie_side_by_side(tmp_path: Path) -> None:
    job = planted.long(4, users=8)
    found = planted.suspected(planted.measured("sim:sata-ssd,hit=50%:10us,service=constant:1ms", job, tmp_path))
    assert "one after the other" not in found["several_peaks"].says


def test_a_cap_is_seen_between_stalls(tmp_path: Path) -> None:
    """The rows that stalled went at 5,200 IOPS, and these were said to be at a cap; or none was seen."""
    found = planted.suspected(survey("sim:nvme,iops=6000/s,stall=400ms/5s", tmp_path))
    assert "throttle" in found
    assert found["throttle"].evidence["rate_per_s"] == pytest.approx(6000, rel=0.003)


def test_the_cap_of_a_ladder_is_that_of_its_rows_without_stalls(tmp_path: Path) -> None:
    found = planted.suspected(card("sim:nvme,iops=6000/s,stall=400ms/5s", tmp_path))
    assert found["throttle"].evidence["rate_per_s"] == pytest.approx(6000, rel=0.003)


def test_a_stall_in_one_of_two_rows_is_no_hole(tmp_path: Path) -> None:
    """It said that reads of blocks never written took 95 µs, of written ones 151 µs: there one stalled."""
    found = planted.suspected(planted.measured("sim:sata-ssd,stall=1s/5s", WRITTEN_AND_NOT, tmp_path))
    assert "stalls" in found
    assert "elided_reads" not in found


@pytest.mark.xfail(strict=True, reason="nobody says that it ages: a slow drift over a ladder looks like its loads")
def test_a_device_that_ages_does_not_fall_by_load(tmp_path: Path) -> None:
    """Half as slow again after 30 s: "IOPS fell beyond the peak", "keep at most 8 outstanding I/Os"."""
    assert "retrograde_scaling" not in planted.suspected(survey("sim:hdd,drift=1.5:30s", tmp_path, "card-quick"))


def test_credits_that_run_out_in_a_short_row_ran_out_there(tmp_path: Path) -> None:
    """The rates of its intervals before the fall are alike, not sorted."""
    found = planted.suspected(survey("sim:nvme,serialised=writes,credits=2000/s:60000,iops=10000/s", tmp_path))
    assert found["burst_credits"].says.startswith("At t=1.")


def test_a_few_ios_make_no_ladder(tmp_path: Path) -> None:
    job = planted.long(3, users=1).replace("users = 1", "users = [1, 4]").replace("8k", "256M")
    run = planted.measured("sim:hdd,size=64GiB", job, tmp_path)
    assert min(record.measurement.ios for record in run.measured) < 10
    assert all(each.by == "unknown" for each in examine(run).bounds.values())


def test_what_is_open_of_a_confirmed_kind_is_said_of_its_other_rows() -> None:
    """It said "Confirmed: storage cache. Open: storage cache."."""
    one, *others = (
        Finding(code="cache_in_the_storage", severity="warn", phase=f"r{at}", says="", state="suggested")
        for at in range(3)
    )
    confirmed = Finding(code=one.code, severity="warn", phase="r", says="", state="confirmed")
    said = conclusion((confirmed, *others), Diagnosis())
    assert said == "Confirmed: storage cache. Open: storage cache on 2 more rows."


def test_a_level_is_told_of_its_own_rows(tmp_path: Path) -> None:
    """It said "8 outstanding I/Os reached 525 IOPS, 1 reached 503" on a list of rows that began with 66,000 IOPS."""
    run = survey("sim:sata-ssd", tmp_path, "card-quick")
    found = planted.suspected(run)["throttle"]
    assert found.says.startswith("8 outstanding I/Os reached 525 IOPS on read 1M 8x1, 1 reached 50")


def test_reads_below_the_baseline_that_became_slower_too_have_spent_no_credits(tmp_path: Path) -> None:
    """Service times four times as long from 20 s on were "credits for about 571,013 I/Os … were spent by then", severe,
    and reads at an eighth of what was left were as much slower, which nobody paces."""
    run = survey("sim:nvme,slow=20s..70s:4", tmp_path)
    found = planted.suspected(run)
    assert "burst_credits" not in found
    assert "cache_in_the_storage" not in found, "a small region as quick as the whole before the fall"
    told = conclusion(examine(run).findings, Diagnosis())
    assert told == "Only noted: several latency peaks; no suspicion to test.", "no anomaly, above two levels of a row"


def test_bursts_that_last_are_seen_where_the_quick_intervals_scatter(tmp_path: Path) -> None:
    """20 I/Os in an interval scatter by 11%, and bursts of a second take a third: just not three times as much. The
    burst at the end of the writes was a fall for good, and a full write cache."""
    found = planted.suspected(survey("sim:hdd,noise=58.55/s:1s/4s", tmp_path, seed=9003))
    assert ("shared_drives" in found, "write_cliff" in found) == (True, False)
