"""Reads of what was just written are told from reads of older data, and from a slow place."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers.card_runs import commits, fill, histogram, reads, run
from msgspec.structs import replace

from iocast import load, runner
from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.limits import fresh_writes, slow_region
from iocast.diagnose.experiments.design import judge, plan_of
from iocast.jobs import parse_target
from iocast.model.experiment import Experiment
from iocast.model.measurement import SlowIo
from iocast.model.plan import WorkFiles
from iocast.model.run import PhaseRecord, Run
from iocast.sessions.listener import QuietProgress

MIB = 1 << 20


def _ending(record: PhaseRecord, places: list[int]) -> PhaseRecord:
    """With the slowest reads at these places."""
    slow = tuple(
        SlowIo(time_ns=at, op="read", file=0, offset_bytes=at, size_bytes=8192, response_ns=10**8, service_ns=10**8)
        for at in places
    )
    return replace(record, measurement=replace(record.measurement, slow=slow))


def _slow_end(*, laid_out: bool, wrote: bool = False) -> Run:
    """Random reads whose slow ones lie at the end of the file."""
    whole = run(reads(times=histogram((300_000, 1900), (100_000_000, 100))))
    (record,) = whole.phases
    start, size = slow_region.region(record)
    places = [start + size - 8192 * (at + 1) for at in range(64)]
    before = ([fill()] if laid_out else []) + ([commits()] if wrote else [])
    return replace(whole, phases=(*before, _ending(record, places)))


def test_slow_reads_at_the_end_of_a_new_layout_may_be_of_what_was_written_last() -> None:
    (finding,) = fresh_writes.detect(Facts(_slow_end(laid_out=True)))
    assert "what was written last" in finding.says
    assert finding.state == "suggested"


@pytest.mark.parametrize("run_", [_slow_end(laid_out=False), _slow_end(laid_out=True, wrote=True)])
def test_of_files_that_were_there_or_written_since_nothing_is_said(run_: Run) -> None:
    assert list(fresh_writes.detect(Facts(run_))) == []


def test_older_data_is_read_before_what_was_just_written() -> None:
    measured = _slow_end(laid_out=True)
    (finding,) = fresh_writes.detect(Facts(measured))
    ours = replace(measured, plan=replace(measured.plan, target=replace(measured.plan.target, kind="directory")))
    experiment = fresh_writes.confirm(ours, finding)
    assert experiment is not None
    writing, older, written = experiment.arms
    assert experiment.keep_order
    assert (writing.measured, older.workload) == (False, written.workload)
    assert (writing.region_start_bytes, writing.region_size_bytes) == (
        written.region_start_bytes,
        written.region_size_bytes,
    )
    size = older.region_size_bytes
    assert size is not None
    rounds = experiment.rounds - 1
    assert written.region_start_bytes + size + rounds * written.step_bytes <= older.region_start_bytes
    assert older.region_start_bytes >= slow_region.region(measured.phases[-1])[1] // 2 - MIB, (
        "where the slow reads were"
    )


def test_what_was_never_written_passes_for_no_older_data(tmp_path: Path) -> None:
    """Holes are answered sooner than what was just written: beside them every device seemed to read that slowly."""
    target = parse_target("sim:nvme,holes=10us")
    measured = _slow_end(laid_out=True)
    (finding,) = fresh_writes.detect(Facts(measured))
    elsewhere = replace(measured, plan=replace(measured.plan, target=target))
    experiment = fresh_writes.confirm(elsewhere, finding)
    assert experiment is not None

    def verdict(arms: Experiment) -> str:
        plan = plan_of("fresh", arms, target, WorkFiles(1, 4 << 30))
        done = runner.run(runner.Work(plan, load.lay_out(plan), str(tmp_path)), QuietProgress(), lambda: False)
        return judge(arms, done.run).verdict

    assert verdict(experiment) == "rejected"
    assert verdict(replace(experiment, arms=experiment.arms[1:])) == "confirmed", "beside holes"


def test_the_place_is_tested_with_the_other_one_written_last() -> None:
    measured = _slow_end(laid_out=True)
    (finding,) = slow_region.detect(Facts(measured))
    wide = replace(finding, evidence={"start_bytes": 0, "end_bytes": 2.0 * MIB})
    experiment = slow_region.confirm(measured, wide)
    assert experiment is not None
    (writing,), (elsewhere, _) = experiment.prepare, experiment.arms
    assert (writing.region_start_bytes, writing.bytes) == (elsewhere.region_start_bytes, elsewhere.region_size_bytes)
    read_only = slow_region.confirm(_slow_end(laid_out=False), wide)
    assert read_only is not None
    assert read_only.prepare == ()
