"""What set the pace: devices whose answer is known, and a file that is all in memory."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest
from makers import card_runs
from makers.golden import Golden

from iocast import load, runner
from iocast.analyse.facts import Facts
from iocast.diagnose.limits import by_load
from iocast.jobs import parse_job, parse_target
from iocast.jobs import plan as make_plan
from iocast.model.finding import Bound
from iocast.model.measurement import Generator
from iocast.model.run import Run
from iocast.model.workload import MixItem, Op, Poisson, Workload
from iocast.sessions.target_finding import find_target

replace = msgspec.structs.replace
MIB = 1 << 20


class _Quiet:
    def begin(self, *_: object) -> None: ...
    def tick(self, *_: object) -> None: ...
    def end(self, *_: object) -> None: ...
    def close(self) -> None: ...


def measured(target: str, fields: str, tmp_path: Path) -> Run:
    job = parse_job(f'name = "j"\n[[phase]]\nsize = "4k"\ntime = "1s"\n{fields}\n', "j.toml")
    made, _ = make_plan(job, parse_target(target), seed=1, memory_bytes=1 << 30)
    return runner.run(runner.Work(made, load.lay_out(made), str(tmp_path / "runs")), _Quiet(), lambda: False).run


def by_depth(run: Run) -> dict[int, Bound]:
    found = by_load.bounds(Facts(run))
    return {record.measurement.asked_depth: found[record.phase.name] for record in run.measured}


def test_one_server_is_the_limit_from_one_user_on(golden: Golden, tmp_path: Path) -> None:
    found = by_depth(measured("sim:nvme,servers=1", "users = [1, 2, 8]", tmp_path))
    assert [each.by for each in found.values()] == ["device"] * 3
    golden(found[8].says)


def test_many_servers_wait_for_more_users(golden: Golden, tmp_path: Path) -> None:
    found = by_depth(measured("sim:nvme,servers=8,service=constant:1ms", "depth = [1, 4, 8, 16, 32]", tmp_path))
    assert {depth: each.by for depth, each in found.items()} == {
        1: "queue",
        4: "queue",
        8: "device",
        16: "device",
        32: "device",
    }
    golden(found[1].says)
    assert found[32].says.startswith("Device-bound from 1x8: raising the load to 1x16")


def test_the_deepest_row_that_still_gained_is_not_at_the_limit(golden: Golden, tmp_path: Path) -> None:
    found = by_depth(measured("sim:nvme,servers=64,service=constant:1ms", "depth = [1, 4]", tmp_path))
    golden(found[4].says)


def ladder(*steps: tuple[int, float]) -> Run:
    """Rows of the same reads: users, and what one I/O took in ns; each lasts ten seconds."""
    return card_runs.run(
        *(
            card_runs.reads(f"r {n}x1", users=n, times=card_runs.histogram((took, round(n * 1e10 / took))))
            for n, took in steps
        )
    )


def test_the_gain_per_doubling_decides_and_is_said(golden: Golden) -> None:
    """27% over three doublings is less than 16% over one."""
    wide, narrow = ladder((1, 1e6), (8, 8e6 / 1.27)), ladder((1, 1e6), (2, 2e6 / 1.16))
    found = by_load.bounds(Facts(wide))["r 1x1"]
    assert found.by == "device"
    golden(found.says)
    assert "8.3% per doubling (below 10%), and cost" in found.says
    found = by_load.bounds(Facts(narrow))["r 1x1"]
    assert (found.by, found.says) == (
        "queue",
        "Queue-bound at 1x1: 2x1 gave 1.16x the IOPS, 16% per doubling, at 1.72x the response time.",
    )


def test_a_ladder_that_still_gains_says_at_what_cost_and_not_that_the_device_could_do_more(golden: Golden) -> None:
    found = by_load.bounds(Facts(ladder((1, 1e6), (2, 1.1e6), (4, 1.9e6))))["r 4x1"]
    assert found.by == "not_shown"
    golden(found.says)


def test_one_depth_alone_cannot_tell(tmp_path: Path) -> None:
    (found,) = by_depth(measured("sim:nvme", "users = 4", tmp_path)).values()
    assert (found.by, found.says) == (
        "unknown",
        "Bottleneck unknown: only measured at 4x1; measure with more users as well.",
    )


@pytest.mark.parametrize(("rate", "by"), [("200/s", "rate"), ("5k/s", "device")])
def test_an_open_loop(rate: str, by: str, tmp_path: Path) -> None:
    run = measured("sim:nvme,servers=1,service=constant:1ms", f'rate = "{rate}"', tmp_path)
    assert [each.by for each in by_depth(run).values()] == [by]


def test_a_file_that_is_all_in_memory_is_bound_by_this_machine(tmp_path: Path) -> None:
    """One thread that reads pages from memory never waits: its own time, or the kernel's, is all there is."""
    file = tmp_path / "data"
    file.write_bytes(os.urandom(1 << 20))
    job = parse_job(
        'name = "j"\n[defaults]\nengine = "sync"\n[[phase]]\nsize = "4k"\ntime = "1s"\ndirect = false\n', "j"
    )
    made, _ = make_plan(job, find_target(str(file)), seed=1, memory_bytes=1 << 30)
    run = runner.run(runner.Work(made, load.lay_out(made), str(tmp_path / "runs")), _Quiet(), lambda: False).run
    (found,) = by_depth(run).values()
    assert found.by in ("kernel", "generator"), found
    assert found.evidence["cpu_ns_per_io"] > 0


def test_the_link(tmp_path: Path) -> None:
    times = card_runs.histogram((1_000_000, 37_000))
    record = card_runs.reads(size_bytes=1 << 20, times=times, elapsed_ns=10 * card_runs.SECOND_NS)
    assert by_load.bounds(Facts(card_runs.run(record)))[record.phase.name].by == "link"


@pytest.mark.parametrize(
    ("ops", "by"),
    [
        ({"trim": 37_000}, "unknown"),  # it moves nothing
        ({"read": 17_500, "write": 17_500}, "unknown"),  # 47% each way, and a link carries both at once
        ({"read": 37_000, "write": 9_000}, "link"),
        ({"read": 45_000}, "unknown"),  # what is more than it carries has not come by it
    ],
)
def test_the_link_is_full_of_what_goes_one_way(ops: dict[Op, int], by: str) -> None:
    parts = [card_runs.part(op, MIB, card_runs.histogram((1e6, ios))) for op, ios in ops.items()]
    did = card_runs.measurement(parts, elapsed_ns=10 * card_runs.SECOND_NS)
    record = card_runs.record("row", Workload(mix=tuple(MixItem(op, MIB) for op in ops)), did)
    assert by_load.bounds(Facts(card_runs.run(record)))["row"].by == by


@pytest.mark.parametrize(("at_once", "by"), [(1, "kernel"), (2, "unknown")])
def test_kernel_threads_that_do_the_io_of_one_phase(at_once: int, by: str) -> None:
    """The time that the kernel used for phases that ran at once may be that of another."""
    record = card_runs.reads()
    did = record.measurement
    used = replace(did, cpu_system_ns=int(0.7 * did.elapsed_ns), cpu_phases=at_once)
    record = replace(record, measurement=replace(used, generator=Generator(threads=1, user_ns=1)))
    found = by_load.bounds(Facts(card_runs.run(record)))[record.phase.name]
    assert (found.by, "kernel threads did the I/O" in found.says) == (by, by == "kernel")


def test_a_row_beside_others_is_in_no_load_curve(golden: Golden) -> None:
    ladder = ((1, 1e6, 1000), (4, 1e6, 4000), (8, 4e6, 2000))  # the eight did half, as others were there
    one, four, eight = (
        card_runs.reads(f"r {users}x1", users=users, times=card_runs.histogram((took, ios)))
        for users, took, ios in ladder
    )
    beside = replace(eight, phase=replace(eight.phase, together="both"))
    found = by_load.bounds(Facts(card_runs.run(one, four, beside)))
    golden(found["r 4x1"].says)
    assert found["r 8x1"].says == "Bottleneck unknown: the row ran beside others."


def test_syncs_that_follow_their_writes_do_not_make_the_rate() -> None:
    load = Workload(mix=(MixItem("write", 8192),), arrival=Poisson(1000.0), users=2, fsync_every=1)
    times = card_runs.histogram((500_000, 5000))
    did = card_runs.measurement(
        [card_runs.part("write", 8192, times), card_runs.part("fsync", 0, times)],
        users=2,
        elapsed_ns=10 * card_runs.SECOND_NS,
        asked_rate_per_s=1000.0,
    )
    found = by_load.bounds(Facts(card_runs.run(card_runs.record("log", load, did))))["log"]
    assert (found.by, found.evidence["share"]) == ("unknown", 0.5)


def test_of_two_rows_of_one_load_the_one_with_more_ios_is_the_base(golden: Golden, tmp_path: Path) -> None:
    run = measured("sim:nvme,servers=64,service=constant:1ms", "depth = [1, 4]", tmp_path)
    one, four = run.measured
    few = replace(one, phase=replace(one.phase, name="few"), measurement=replace(one.measurement, ios=30))
    found = by_load.bounds(Facts(replace(run, phases=(one, few, four))))
    golden(found[four.phase.name].says)
    golden(found["few"].says)


def test_four_cannot_bring_more_than_four_times_of_one(tmp_path: Path) -> None:
    """What a starved row lacked is no limit of its queue."""
    run = measured("sim:nvme,servers=64,service=constant:1ms", "depth = [1, 4]", tmp_path)
    one, four = run.measured
    starved = replace(one, measurement=replace(one.measurement, elapsed_ns=10 * one.measurement.elapsed_ns))
    found = by_load.bounds(Facts(replace(run, phases=(starved, four))))
    assert {each.by for each in found.values()} == {"unknown"}
    assert "1x4 gave 40x the IOPS of 1x1" in found[four.phase.name].says


def test_a_rate_is_reported_as_it_was_asked_for() -> None:
    record = card_runs.paced()
    did = record.measurement
    asked = replace(record, measurement=replace(did, asked_rate_per_s=did.rate_per_s / 0.97))
    found = by_load.bounds(Facts(card_runs.run(asked)))[record.phase.name]
    wanted, came = (by_load.number(each) for each in (did.rate_per_s / 0.97, did.rate_per_s))
    assert found.says == f"Rate-limited: the job asks for {wanted} IOPS ({came} achieved)."


def test_a_few_are_not_none(tmp_path: Path) -> None:
    """Two scans on one arm: 99.6% fewer would be rounded to all."""
    job = 'name = "j"\n[[phase]]\nsize = "8k"\npattern = "sequential"\nusers = [1, 2]\ntime = "2s"\n'
    made, _ = make_plan(parse_job(job, "j.toml"), parse_target("sim:hdd"), seed=1, memory_bytes=1 << 30)
    run = runner.run(runner.Work(made, load.lay_out(made), str(tmp_path / "runs")), _Quiet(), lambda: False).run
    assert "raising the load to 2x1 lost all but " in by_depth(run)[2].says
    assert "% of the IOPS and cost " in by_depth(run)[2].says


@pytest.mark.parametrize(("threads", "busy"), [(1, "the test's thread was busy"), (2, "the test's threads were busy")])
@pytest.mark.parametrize("waited", [False, True])
def test_one_thread_is_not_threads(threads: int, busy: str, waited: bool) -> None:
    record = card_runs.reads(users=threads)
    spent = threads * record.measurement.elapsed_ns
    made = Generator(threads=threads, **({"queued_ns": spent} if waited else {"user_ns": spent}))
    of = replace(record, measurement=replace(record.measurement, generator=made))
    found = by_load.bounds(Facts(card_runs.run(of)))[record.phase.name]
    whose = busy.rpartition(" w")[0]
    assert found.says.startswith(f"CPU-bound: {whose} waited for a CPU" if waited else f"CPU-bound: {busy} 100%")


@pytest.mark.parametrize(
    ("users", "words"), [(1, "limit of 1 outstanding I/O was"), (2, "limit of 2 outstanding I/Os was")]
)
def test_the_limit_is_counted_as_one_says_it(users: int, words: str, tmp_path: Path) -> None:
    run = measured("sim:nvme,servers=1,service=constant:1ms", f'rate = "5k/s"\nusers = {users}', tmp_path)
    (found,) = by_depth(run).values()
    assert words in found.says


def test_more_than_the_added_load_explains_is_no_limit_of_the_queue(golden: Golden) -> None:
    """Eight times the load gave ten times the IOPS: what held the single reads back was not their number."""
    found = by_depth(ladder((1, 10e6), (8, 8e6)))
    assert {each.by for each in found.values()} == {"unknown"}
    golden(found[1].says)


def test_a_thread_that_waited_was_not_busy_all_the_time(golden: Golden) -> None:
    """ "Busy 100% of the time" was said of a thread that worked for 63% of it and waited for a CPU for the rest."""
    record = card_runs.reads()
    took = record.measurement.elapsed_ns
    made = Generator(threads=1, system_ns=round(0.63 * took), queued_ns=round(0.37 * took))
    of = replace(record, measurement=replace(record.measurement, generator=made))
    found = by_load.bounds(Facts(card_runs.run(of)))[record.phase.name]
    golden(found.says)
