"""Named experiments on simulated devices, whose answers are known."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers.left_out import long_after
from makers.trial_runs import asked, column, ruling, run_of

import iocast
from iocast.diagnose.experiments.named import (
    TRIALS,
    arm,
    cache,
    cold_warm,
    concurrent_readers,
    dio_matrix,
    holes,
    lost_writes,
    metadata,
    noise,
    overwrite,
    payload,
    probe,
    readahead,
    request_size,
    working_set,
    zones,
)
from iocast.errors import TargetError
from iocast.jobs import parse_target

MS = 1_000_000
GIB = 1 << 30


def test_the_working_set_of_a_disk_follows_its_arm(tmp_path: Path) -> None:
    found = ruling(working_set, "sim:hdd", tmp_path, seconds=20.0)
    assert found.verdict == "confirmed"
    assert "It grows as seeks do" in found.says
    even = [row for row in found.rows if row.where == "even"]
    means = [row.mean_ns for row in even]
    assert means == sorted(means)
    # base: half a turn, the seek over no distance, 8 KiB at 150 MB/s; the whole stroke adds 13.58 ms x 8/15.
    base = 4.1667 + 1.0075 + 8192 / 150e3
    for row in even:
        law = base + 13.58 * 8 / 15 * (row.set_bytes / (1 << 40)) ** 0.5
        assert row.mean_ns / MS == pytest.approx(law, rel=0.04)
        assert row.fitted_ns / MS == pytest.approx(law, rel=0.04)
    (zipf,) = (row for row in found.rows if row.where != "even")
    assert zipf.mean_ns < means[-1]
    assert zipf.where == "zipf 1.1, scattered"
    assert "No cache serves the hot blocks" in found.says


@pytest.mark.long
def test_skewed_reads_are_served_by_a_cache(tmp_path: Path) -> None:
    found = ruling(working_set, "sim:hdd,cache=8GiB:200us", tmp_path, seconds=60.0)
    even, zipf = (row.mean_ns for row in found.rows[-2:])
    assert zipf < 0.7 * even
    assert "a cache serves the hot blocks" in found.says


@pytest.mark.long
def test_flash_has_no_arm(tmp_path: Path) -> None:
    found = ruling(working_set, "sim:nvme", tmp_path, seconds=0.5)
    assert found.verdict == "rejected"
    assert "No seek component" in found.says


def test_a_cache_is_no_arm(tmp_path: Path) -> None:
    found = ruling(working_set, "sim:nvme,cache=64MiB:5us", tmp_path, seconds=0.5, sizes=(32 << 20, 4 * GIB))
    assert found.verdict == "confirmed"


def test_asked_working_sets_must_fit() -> None:
    with pytest.raises(TargetError, match="does not fit"):
        working_set.phases(asked(working_set, parse_target("sim:hdd"), sizes=(2 << 40, GIB)))


@pytest.mark.parametrize(
    ("option", "quick"),
    long_after(
        1,
        [
            ("compress=on", {"zeros", "compressible by half"}),
            ("dedupe=on", {"zeros", "repeated"}),
            ("size=1TiB", set()),
        ],
    ),
)
def test_payloads_that_shrink(option: str, quick: set[str], tmp_path: Path) -> None:
    found = ruling(payload, f"sim:sata-ssd,{option}", tmp_path, seconds=0.2)
    assert found.verdict == ("confirmed" if quick else "rejected")
    faster = {row.test for row in found.rows if row.times > payload.FASTER}
    assert faster == quick
    if option == "compress=on":
        half = next(row for row in found.rows if row.test == "compressible by half")
        assert half.times == pytest.approx(2.0, rel=0.05)


def test_noise_that_empties_a_cache(tmp_path: Path) -> None:
    # The writes go round the cache in a second, the reads come back to a place every three.
    device = "sim:hdd,size=8GiB,bandwidth=2GB/s,cache=1088MiB:200us,write_back=on"
    found = ruling(noise, device, tmp_path, seconds=10.0, size_bytes=2 << 30, rounds=2, depth=1)
    assert found.verdict == "confirmed"
    assert "sequential writes evict cached data" in found.says
    quick = {row.test: row.quick_share for row in found.rows}
    assert quick["before"] > 0.95
    assert quick["after"] < 0.9 * quick["before"]
    damage = {row.test: row.damage_share for row in found.rows}
    assert damage["during"] > 0.5
    assert damage["after"] > 0.5
    assert damage["before"] is None
    assert "Damage to the IOPS of the reads: " in found.says


@pytest.mark.long
def test_noise_that_a_scan_resistant_cache_keeps_out(tmp_path: Path) -> None:
    device = "sim:hdd,size=8GiB,bandwidth=2GB/s,cache=1088MiB:200us,write_back=on,scan_resistant=on"
    found = ruling(noise, device, tmp_path, seconds=10.0, size_bytes=2 << 30, rounds=2, depth=1)
    quick = {row.test: row.quick_share for row in found.rows}
    assert quick["after"] == pytest.approx(quick["before"], abs=0.02)
    damage = {row.test: row.damage_share for row in found.rows}
    assert damage["after"] == pytest.approx(0, abs=0.02)
    assert "too fond" not in found.says


def test_noise_may_be_durable_as_a_log_writers(tmp_path: Path) -> None:
    phases = noise.phases(asked(noise, parse_target("sim:nvme"), sync="dsync"))
    assert {phase.workload.sync for phase in phases if phase.test == "noise"} == {"dsync"}
    assert {phase.workload.sync for phase in phases if phase.test != "noise"} == {"none"}
    rates = {}
    for sync in ("none", "dsync"):
        run = iocast.experiment("noise", "sim:nvme,fsync=5ms", time="100ms", rounds=1, sync=sync, out=str(tmp_path)).run
        (record,) = (each for each in run.measured if each.phase.test == "noise")
        rates[sync] = record.measurement.rate_per_s
    assert rates["dsync"] < 400 < rates["none"]  # two writers, each of whose writes waits 5 ms


def test_noise_on_flash_does_no_harm(tmp_path: Path) -> None:
    found = ruling(noise, "sim:nvme", tmp_path, seconds=0.2, size_bytes=64 << 20)
    assert found.verdict == "rejected"
    assert "do not slow down reads" in found.says


def test_one_arm_is_shared_and_two_are_not(tmp_path: Path) -> None:
    one = ruling(arm, "sim:hdd", tmp_path, seconds=5.0)
    assert one.verdict == "confirmed"
    assert "share one arm" in one.says
    two = ruling(arm, "sim:hdd,stripe=2:512GiB", tmp_path, seconds=5.0)
    assert two.verdict == "rejected"


def test_the_zones_of_the_published_disk_end_to_end(tmp_path: Path) -> None:
    """Vector V23: two processes, 5.75 ms a read in the first 2 GB, 8.75 ms in the last: 52.2% slower."""
    device = "sim:hdd,service=constant:5.75ms,bandwidth=100GB/s,zones=1.5217"
    found = iocast.experiment("zones", device, time="20s", out=str(tmp_path))
    report = found.report()
    assert found.answer == "confirmed"
    assert report.verdict.startswith("Yes. ")
    assert "52% longer: the inner zone of a disk" in report.verdict
    first, last = report.result.experiment[:2]
    assert (first.each_ns / MS, last.each_ns / MS) == (pytest.approx(5.75, rel=0.005), pytest.approx(8.75, rel=0.005))
    assert (first.waited_ns / MS, last.waited_ns / MS) == (pytest.approx(11.5, rel=0.01), pytest.approx(17.5, rel=0.01))


@pytest.mark.long
def test_scans_of_a_disk_with_zones_are_slower_at_its_end(tmp_path: Path) -> None:
    found = ruling(zones, "sim:hdd,zones=2", tmp_path, seconds=20.0)
    assert found.verdict == "confirmed"
    moved = {row.test: row.moved_bytes_per_s for row in found.rows}
    assert moved[zones.SCANS[0]] / moved[zones.SCANS[1]] == pytest.approx(2, rel=0.01)
    flash = ruling(zones, "sim:nvme", tmp_path, seconds=0.2)
    assert flash.verdict == "rejected"
    assert "No zone effect (below 10%)" in flash.says


def test_a_simulated_disk_has_no_zones(tmp_path: Path) -> None:
    found = ruling(zones, "sim:hdd", tmp_path, seconds=10.0)
    assert found.verdict == "rejected"
    assert "No zone effect" in found.says
    assert column(found, "test")[:2] == [zones.FIRST, zones.LAST]


def test_first_writes_that_cost(tmp_path: Path) -> None:
    thin = ruling(overwrite, "sim:nvme,first_write=3ms,unit=8KiB", tmp_path)
    assert thin.verdict == "confirmed"
    first, second = thin.rows
    assert first.mean_ns - second.mean_ns == pytest.approx(3 * MS, rel=0.05)
    wide = ruling(overwrite, "sim:nvme,first_write=3ms,unit=1MiB", tmp_path)
    assert wide.verdict == "confirmed"
    assert ruling(overwrite, "sim:nvme", tmp_path).verdict == "rejected"


def test_first_writes_on_an_array_whose_misses_make_the_p95(tmp_path: Path) -> None:
    """It was "1.25 times; first writes take no longer", beside means of 7.3 and 3.7 ms."""
    thin = ruling(overwrite, "sim:thin-array", tmp_path)
    assert thin.verdict == "confirmed"
    assert "The mean of" in thin.says


def test_holes_that_answer_too_soon(tmp_path: Path) -> None:
    elided = ruling(holes, "sim:hdd,holes=20us", tmp_path)
    assert elided.verdict == "confirmed"
    times = dict(zip(column(elided, "test"), column(elided, "p50_ns"), strict=True))
    assert times["never written"] == pytest.approx(20_000, rel=0.02)
    assert ruling(holes, "sim:hdd", tmp_path).verdict != "confirmed"


def test_read_ahead(tmp_path: Path) -> None:
    ahead = ruling(readahead, "sim:nvme,read_ahead=1MiB:10us", tmp_path, seconds=0.2)
    assert ahead.verdict == "confirmed"
    assert "times as fast" in ahead.says
    assert ruling(readahead, "sim:nvme", tmp_path, seconds=0.2).verdict == "rejected"


def test_more_readers(tmp_path: Path) -> None:
    striped = "sim:hdd,stripe=8:1GiB,size=42GiB"
    more = ruling(concurrent_readers, striped, tmp_path, seconds=1.0)
    assert more.verdict == "confirmed"
    assert column(more, "readers") == [1, 2, 6]
    assert column(more, "efficiency_share")[0] == 1.0
    one = ruling(concurrent_readers, "sim:hdd", tmp_path, seconds=1.0)
    assert one.verdict == "rejected"
    assert "More readers move less in all than one" in one.says


def test_a_lock_for_writes_is_seen_and_one_server_is_not_taken_for_one(tmp_path: Path) -> None:
    locked = ruling(dio_matrix, "sim:nvme,serialised=writes", tmp_path, seconds=0.2)
    assert locked.verdict == "confirmed"
    assert column(locked, "verdict") == ["parallel", "serialised"]
    assert ruling(dio_matrix, "sim:nvme", tmp_path, seconds=0.2).verdict == "rejected"
    disk = ruling(dio_matrix, "sim:hdd", tmp_path)
    assert disk.verdict == "undecided"
    assert set(column(disk, "verdict")) == {"device_too_fast"}


def test_others_on_the_same_drives(tmp_path: Path) -> None:
    shared = ruling(probe, "sim:hdd,noise=60/s:10m/60m", tmp_path, seconds=7200.0)
    assert shared.verdict == "confirmed"
    means = column(shared, "mean_ns")
    assert max(means[0], means[1]) > 1.5 * means[4]
    assert ruling(probe, "sim:hdd", tmp_path, seconds=7200.0).verdict == "rejected"
    short = ruling(probe, "sim:hdd", tmp_path, seconds=20.0)
    assert short.verdict == "undecided"


def test_there_is_no_page_cache_over_a_simulated_device(tmp_path: Path) -> None:
    assert ruling(cache, "sim:nvme", tmp_path, seconds=0.2).verdict == "rejected"


@pytest.mark.parametrize("trial", [request_size, lost_writes])
def test_what_a_simulated_device_cannot_show_is_said(trial: object) -> None:
    with pytest.raises(TargetError) as refused:
        trial.phases(asked(trial, parse_target("sim:hdd")))
    assert "simulated device" in refused.value.message
    assert refused.value.hint


@pytest.mark.long
def test_lookups_scale_where_the_device_has_servers_for_them(tmp_path: Path) -> None:
    # 16 servers of 100 us: 10,000 lookups a second for each user up to 16 users, none more after that.
    found = ruling(
        metadata, "sim:nvme,servers=16,service=constant:100us,bandwidth=none", tmp_path, seconds=0.05, files=200
    )
    assert found.verdict == "confirmed"
    rows = {(row.test, row.users): row for row in found.rows}
    for users in metadata.USERS:
        stat = rows["stat", users]
        assert stat.rate_per_s == pytest.approx(10_000 * min(users, 16), rel=0.02)
        assert stat.scale == pytest.approx(min(users, 16), rel=0.02)
    assert rows["create", 1].took_ns == pytest.approx(200 * 100_000, rel=0.01)
    assert "16 users" in found.says or "32 users" in found.says or "64 users" in found.says


@pytest.mark.long
def test_lookups_that_one_server_answers_do_not_scale(tmp_path: Path) -> None:
    found = ruling(
        metadata, "sim:nvme,servers=1,service=constant:100us,bandwidth=none", tmp_path, seconds=0.05, files=200
    )
    assert found.verdict == "rejected"
    assert found.says.startswith("stat does not scale: the most is 10.0k operations a second")


@pytest.mark.parametrize(
    "trial", [each for each in TRIALS if not each.WRITES and each is not request_size], ids=lambda trial: trial.NAME
)
def test_a_target_that_is_only_read_is_never_written(trial: object) -> None:
    asked_for = asked(trial, parse_target("sim:hdd"), may_write=False)
    assert not any(phase.workload.writes for phase in trial.phases(asked_for))


@pytest.mark.parametrize("trial", TRIALS, ids=lambda trial: trial.NAME)
def test_every_experiment_has_its_manual_page(trial: object) -> None:
    text = trial.__doc__ or ""
    assert text.partition("\n")[0].endswith("?")
    for heading in ("What it is", "Why it matters", "How it shows", "How to confirm", "What to change"):
        assert f"\n{heading}: " in text


def test_a_run_that_was_cut_short_is_judged_by_what_there_is(tmp_path: Path) -> None:
    from msgspec.structs import replace

    run = run_of(payload, "sim:sata-ssd", tmp_path, seconds=0.05)
    for kept in range(1, len(run.phases)):
        assert payload.judge((replace(run, phases=run.phases[:kept]),)).says


@pytest.mark.parametrize(
    "trial", long_after(1, [t for t in TRIALS if t not in (request_size, lost_writes, cold_warm)]), ids=lambda t: t.NAME
)
def test_no_experiment_falls_over_a_run_that_was_stopped(trial: object, tmp_path: Path) -> None:
    from msgspec.structs import replace

    run = run_of(trial, "sim:nvme", tmp_path, seconds=0.02)
    for kept in range(len(run.phases)):
        cut = replace(run, phases=run.phases[:kept])
        if cut.measured:
            assert trial.judge((cut,)).says
