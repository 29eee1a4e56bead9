"""What storage does behind a test's back: planted in simulated devices, found by the survey, decided by experiment."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest
from makers import planted
from makers.left_out import long_but
from msgspec.structs import replace

from iocast import load, runner
from iocast.diagnose.detectors.limits import credits, write_cliff
from iocast.diagnose.detectors.shortcuts import (
    elided,
    first_write,
    read_ahead,
    reduction,
    short_stroke,
    storage_cache,
    tiers,
)
from iocast.diagnose.experiments.design import judge, plan_of
from iocast.jobs import parse_target
from iocast.model.finding import Span
from iocast.model.plan import WorkFiles
from iocast.model.run import Run
from iocast.sessions.listener import QuietProgress

pytestmark = pytest.mark.slow

SURVEY = (resources.files("iocast.jobs") / "presets" / "survey.toml").read_text(encoding="utf-8")

PLANTED = {
    "sim:cached-array": storage_cache.CODE,
    "sim:hdd,cache=1GiB:200us": storage_cache.CODE,
    "sim:nvme,service=exponential:2ms,hit=40%:200us": storage_cache.CODE,
    "sim:hdd,read_ahead=1MiB:100us": read_ahead.CODE,
    "sim:nfs-filer": read_ahead.CODE,
    "sim:nvme,service=exponential:5ms,tier=100GiB:300us:3": tiers.CODE,
    "sim:thin-array": tiers.CODE,
    "sim:sata-ssd,tier=100GiB:20us:3": tiers.CODE,  # all of it would have moved by the time other rows have read it
    "sim:nvme,first_write=1ms": first_write.CODE,
    "sim:thin-array,tier=none": first_write.CODE,  # a third more
    "sim:nvme,holes=10us": elided.CODE,
    "sim:nvme,compress=on": reduction.CODE,
    "sim:nvme,dedupe=on": reduction.CODE,
    "sim:nvme,zeros=5us": reduction.CODE,
    "sim:cloud-volume,credits=300/s:20000": credits.CODE,
    "sim:nvme,byte_credits=40MB/s:1GiB": credits.CODE,  # spent before the row that is long enough to see it
    "sim:qlc-ssd,slc=10GiB:160MB/s:50MB/s": write_cliff.CODE,
    "sim:cached-array,dirty=2GiB:200MB/s": write_cliff.CODE,
}
WAITED_FOR = ("sim:hdd,cache=1GiB:200us", "sim:hdd,read_ahead=1MiB:100us", "sim:cloud-volume,credits=300/s:20000")
# What belongs to the device by its description is no false alarm.
DISKS = ("sim:hdd", "sim:hdd,service=disk:15000:0.5ms:5ms", "sim:hdd,stripe=8:1MiB")
CLEAN = ("sim:hdd", "sim:nvme", "sim:sata-ssd", "sim:cloud-volume", "sim:nvme,service=bimodal:60%:300us:5ms")


@pytest.mark.parametrize("target", long_but(PLANTED, *WAITED_FOR))
def test_what_is_planted_is_found_and_confirmed(target: str, tmp_path: Path) -> None:
    name = PLANTED[target]
    run = planted.measured(target, SURVEY, tmp_path)
    assert name in planted.suspected(run)
    found, _ = planted.inquired(run, tmp_path)
    assert found[name].state == "confirmed", found[name].learned


@pytest.mark.parametrize("seed", long_but((1, 2), 1))
@pytest.mark.parametrize("target", long_but(CLEAN, "sim:hdd", "sim:cloud-volume"))
def test_nothing_is_confirmed_on_clean_devices(target: str, seed: int, tmp_path: Path) -> None:
    run = planted.measured(target, SURVEY, tmp_path, seed)
    assert planted.confirmed(run, tmp_path) == set()


def test_a_short_stroke_is_found_where_only_part_of_a_disk_was_read(tmp_path: Path) -> None:
    part = SURVEY.partition("[[phase]]")[0] + (
        '[[phase]]\ntest = "randread"\nregion = {start = 0, size = "50GiB"}\ntime = "5s"\n'
    )
    run = planted.measured("sim:hdd", part, tmp_path)
    found, _ = planted.inquired(run, tmp_path)
    assert found[short_stroke.CODE].state == "confirmed", found[short_stroke.CODE].learned
    assert short_stroke.CODE not in planted.suspected(planted.measured("sim:nvme", part, tmp_path))


@pytest.mark.parametrize("target", long_but(DISKS, "sim:hdd"))
def test_two_readers_in_order_on_a_disk_have_spent_nothing(target: str, tmp_path: Path) -> None:
    assert credits.CODE not in planted.suspected(planted.measured(target, SURVEY, tmp_path))


def test_credits_are_counted_over_all_rows(tmp_path: Path) -> None:
    run = planted.measured("sim:cloud-volume,credits=300/s:20000", SURVEY, tmp_path)
    found = planted.suspected(run)[credits.CODE]
    assert found.evidence["credits"] == pytest.approx(20_000, rel=0.1)
    record = next(each for each in run.measured if each.phase.name == found.phase)
    assert found.spans == (Span(round(found.evidence["at_ns"]), record.measurement.elapsed_ns),)


def test_the_idle_time_before_a_cliff_is_as_long_as_making_room_takes(tmp_path: Path) -> None:
    run = planted.measured("sim:qlc-ssd,slc=10GiB:160MB/s:50MB/s", SURVEY, tmp_path)
    found = planted.suspected(run)[write_cliff.CODE]
    real = replace(run, plan=replace(run.plan, target=replace(run.plan.target, kind="file")))
    experiment = write_cliff.confirm(real, found)
    assert experiment is not None
    written = 0.75 * found.evidence["before_bytes_per_s"]
    assert experiment.prepare[0].seconds * found.evidence["after_bytes_per_s"] == pytest.approx(3 * written)
    slower = replace(found, evidence={**found.evidence, "after_bytes_per_s": 1.0})
    assert (write_cliff.confirm(real, slower) or experiment).prepare[0].seconds == 120


@pytest.mark.long
def test_data_that_shrink_are_written_as_the_rows_were(tmp_path: Path) -> None:
    buffered = SURVEY.replace('size = "128k"', 'size = "128k"\ndirect = false\nsync = "dsync"')
    run = planted.measured("sim:nvme,compress=on", buffered, tmp_path)
    experiment = reduction.confirm(run, planted.suspected(run)[reduction.CODE])
    assert experiment is not None
    loads = [arm.workload for arm in (*experiment.prepare, *experiment.arms)]
    assert {(load.direct, load.sync, load.depth) for load in loads} == {(False, "dsync", 4)}


@pytest.mark.long
def test_the_order_of_arms_makes_no_write_cliff(tmp_path: Path) -> None:
    """What slows down from second to second is slowest where it is measured last, whatever was written before."""
    target = "sim:qlc-ssd,slc=10GiB:160MB/s:50MB/s"
    run = planted.measured(target, SURVEY, tmp_path)
    experiment = write_cliff.confirm(run, planted.suspected(run)[write_cliff.CODE])
    assert experiment is not None

    def outcome(device: str) -> Run:
        plan = plan_of("cliff", experiment, parse_target(device), WorkFiles(1, 4 << 30))
        return runner.run(runner.Work(plan, load.lay_out(plan), str(tmp_path)), QuietProgress(), lambda: False).run

    assert judge(experiment, outcome(target)).verdict == "confirmed"
    assert judge(experiment, outcome("sim:qlc-ssd,slc=none")).verdict == "rejected"
    slower = "sim:nvme,servers=4,bandwidth=none,service=constant:300us,drift=8:20s"
    found = judge(experiment, outcome(slower))
    assert found.verdict == "undecided"
    writes_only = replace(experiment, also=experiment.also[:1])  # though reads had not slowed down
    assert judge(writes_only, outcome(slower)).verdict == "undecided"
    by_order = replace(experiment, also=())
    assert judge(by_order, outcome(slower)).verdict == "confirmed", "what the order alone would have decided"
