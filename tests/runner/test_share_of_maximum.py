"""Shares of a maximum on simulated devices: the rates that a vdbench curve asks for, and where it stops."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers.left_out import long_after
from msgspec.structs import replace

import iocast
from iocast import archive
from iocast.errors import LoadError, SpecError
from iocast.model.plan import groups_of
from iocast.model.run import Run
from iocast.model.workload import Constant, Poisson
from iocast.runner.scripts.share_of_maximum import ShareOfMaximum
from iocast.sessions.plan_job import write_job
from iocast.sessions.requests.plan import SpecRequest
from iocast.tools.vdbench.vdbench_reading import parse_vdbench_job

FOUR_SERVERS = "sim:nvme,service=constant:1ms,servers=4"
SD = "sd=sd1,threads=8,openflags=o_direct\nwd=w,sd=sd1,xfersize=4k,rdpct={read}\n"


def measured(run: str, tmp_path: Path, read: int = 100) -> Run:
    job = parse_vdbench_job(SD.format(read=read) + run, "curve.vdb")
    return iocast.run(job, FOUR_SERVERS, out=str(tmp_path)).run


@pytest.mark.parametrize("read", long_after(1, [100, 70]))
def test_a_curve_asks_for_shares_of_what_the_device_can(read: int, tmp_path: Path) -> None:
    run = measured("rd=r,wd=w,iorate=curve,elapsed=20,interval=1\n", tmp_path, read)
    most, *shares = run.measured
    assert most.measurement.rate_per_s == pytest.approx(4000, rel=0.01)
    for record, percent in zip(shares, (10, 50, 70, 80, 90, 100), strict=True):
        assert record.plan.arrival == Poisson(most.measurement.rate_per_s * percent / 100)
        if percent < 100:
            assert record.measurement.rate_per_s == pytest.approx(40 * percent, rel=0.05)
    means = [record.measurement.response().mean_ns for record in shares]
    assert means == sorted(means)
    assert [phase.workload.arrival for phase in run.plan.phases] == [record.plan.arrival for record in run.phases]
    assert archive.load(str(next(tmp_path.iterdir()))).plan == run.plan


def test_a_curve_stops_where_it_answers_too_late(tmp_path: Path) -> None:
    """90 % of four servers answer in about 2 ms on average, 100 % far later."""
    run = measured("rd=r,wd=w,iorate=curve,curve=(50,95,99,100),stopcurve=2,elapsed=20\n", tmp_path)
    assert [record.phase.name for record in run.measured] == ["r max", "r 50% of max", "r 95% of max"]
    assert run.status == "done"


def test_even_arrivals(tmp_path: Path) -> None:
    run = measured("rd=r,wd=w,iorate=(max,25%),distribution=deterministic,elapsed=5\n", tmp_path)
    most, quarter = run.measured
    assert quarter.plan.arrival == Constant(most.measurement.rate_per_s / 4)


def test_the_script_keeps_no_state_and_shows_what_is_ahead() -> None:
    job = parse_vdbench_job(SD.format(read=100) + "rd=r,wd=w,iorate=curve,elapsed=1\n", "c.vdb")
    script = ShareOfMaximum(groups_of(job.phases), job.shares)
    assert len(script.ahead(())) == 7
    first = script.next(())
    assert first is not None
    assert first == script.next(())
    assert first.phases[0].name == "r max"


def test_only_the_rate_of_what_writes_may_differ_from_the_plan(tmp_path: Path) -> None:
    """A script that asks for other writes than the plan has is refused, whatever their rate."""
    from iocast import load, runner
    from iocast.jobs.planning import plan
    from iocast.model.script import Done, Group, Script
    from iocast.sessions.listener import QuietProgress
    from iocast.sessions.target_finding import find_target

    job = parse_vdbench_job(SD.format(read=0) + "rd=r,wd=w,iorate=max,elapsed=1\n", "c.vdb")
    made, _ = plan(job, find_target("sim:nvme"), seed=1, memory_bytes=1 << 30)
    (phase,) = made.phases

    class Other(Script):
        def next(self, done: Done) -> Group | None:
            load = replace(phase.workload, users=3, arrival=Poisson(10.0))
            return None if done else Group((replace(phase, workload=load),))

    done = runner.run(
        runner.Work(made, load.lay_out(made), str(tmp_path), script=Other()), QuietProgress(), lambda: False
    )
    assert isinstance(done.error, LoadError)
    assert "writes and is missing from the plan" in done.error.message


def test_shares_cannot_be_written_as_a_job_file(tmp_path: Path) -> None:
    path = tmp_path / "c.vdb"
    path.write_text(SD.format(read=100) + "rd=r,wd=w,iorate=curve,elapsed=1\n")
    with pytest.raises(SpecError, match="shares of a maximum"):
        write_job(SpecRequest(job=str(path)))
