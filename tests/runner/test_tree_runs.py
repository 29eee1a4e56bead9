"""Runs in a tree of files: each row begins as it says, and the next run finds what this one left."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from makers.trial_runs import Silent

from iocast import load, runner
from iocast.errors import TargetError
from iocast.jobs import parse_target
from iocast.jobs import plan as make_plan
from iocast.jobs.toml.job_reading import parse_job
from iocast.model.job import Job
from iocast.model.run import PhaseRecord, Run
from iocast.observe.target.device_stack import describe
from iocast.tools.vdbench.vdbench_reading import parse_vdbench_job

JOB = """\
name = "t"
[tree]
depth = 1
width = 2
files = 20
size = "1k"
"""


def _run(text: str, place: Path, *, stop_at: str = "", target: str = "") -> Run:
    return _run_job(parse_job(JOB + text, "t.toml"), place, stop_at, target)


def _run_job(job: Job, place: Path, stop_at: str = "", target: str = "") -> Run:
    plan, _ = make_plan(job, parse_target(target) if target else describe(str(place)), seed=1, memory_bytes=1 << 34)
    begun: list[str] = []

    class Progress(Silent):
        def begin(self, phase: object, number: int, total: int, seconds_left: float | None) -> None:
            begun.append(phase.name)  # type: ignore[attr-defined]

    def stopped() -> bool:
        return bool(stop_at) and stop_at in begun

    done = runner.run(runner.Work(plan, load.lay_out(plan), str(place / "runs")), Progress(), stopped)
    if done.error is not None:
        raise done.error
    return done.run


def _rows(run: Run) -> list[tuple[str, int, int]]:
    return [(each.phase.name, each.measurement.ios, each.measurement.error_count) for each in run.phases]


def _present(record: PhaseRecord) -> str:
    assert record.plan.tree is not None
    return record.plan.tree.present


@pytest.mark.long
def test_each_row_begins_as_it_says(tmp_path: Path) -> None:
    run = _run('[[phase]]\noperations = ["stat", "create", "unlink", "statx"]\npasses = 1\n', tmp_path)
    assert _rows(run) == [
        ("lay out iocast-tree", 40, 0),
        ("stat 1x1", 40, 0),
        ("create 1x1", 40, 0),
        ("unlink 1x1", 40, 0),
        ("lay out iocast-tree", 40, 0),
        ("statx 1x1", 40, 0),
    ]
    assert [_present(each) for each in run.phases] == ["look", "all", "none", "all", "look", "all"]
    assert run.status == "done"
    # The next run finds it whole.
    assert _rows(_run('[[phase]]\noperations = "stat"\npasses = 1\n', tmp_path)) == [("stat 1x1", 40, 0)]


def test_what_was_left_can_be_gone_on_with(tmp_path: Path) -> None:
    text = (
        '[[phase]]\noperations = "unlink"\nios = 10\n[[phase]]\noperations = "unlink"\npasses = 1\nbegins = "as_left"\n'
    )
    assert [ios for _, ios, _ in _rows(_run(text, tmp_path))] == [40, 10, 30]


def test_a_make_that_is_stopped_is_gone_on_with(tmp_path: Path) -> None:
    text = '[[phase]]\noperations = "stat"\npasses = 1\n'
    stopped = _run(text, tmp_path, stop_at="lay out iocast-tree")
    assert stopped.status == "interrupted"
    assert not stopped.measured
    assert _rows(_run(text, tmp_path))[-1] == ("stat 1x1", 40, 0)


SEVERAL = """\
fsd=fsd1,anchor=/a,depth=1,width=2,files=3
fsd=fsd2,anchor=/b,depth=1,width=1,files=5
fwd=both,fsd=fsd*,operation=create
fwd=own,fsd=fsd1,operation=delete
rd=made,fwd=both,fwdrate=max,elapsed=9
rd=loop,fwd=own,fwdrate=max,elapsed=9,forfiles=(3,4)
rd=last,fwd=own,fwdrate=max,elapsed=9
"""


@pytest.mark.parametrize("target", ["", "sim:nvme,servers=1,service=constant:1ms,bandwidth=none"])
def test_trees_stand_beside_each_other_and_another_shape_takes_the_place_of_its_own(
    tmp_path: Path, target: str
) -> None:
    run = _run_job(parse_vdbench_job(SEVERAL, "t.vdb"), tmp_path, target=target)
    rows = [(name, ios) for name, ios, errors in _rows(run) if not errors and not name.startswith("lay out")]
    assert rows == [
        ("made max fsd1", 6),
        ("made max fsd2", 5),
        ("loop files=3 max", 6),
        ("loop files=4 max", 8),
        ("last max", 6),
    ]
    assert run.status == "done"
    if not target:
        left = {name: len(list((tmp_path / name).rglob("f*"))) for name in ("iocast-tree", "iocast-tree.2")}
        assert left == {"iocast-tree": 0, "iocast-tree.2": 5}


def test_a_simulated_tree_takes_virtual_time(tmp_path: Path) -> None:
    text = '[[phase]]\noperations = ["create", "stat", "unlink"]\npasses = 1\n'
    run = _run(text, tmp_path, target="sim:nvme,servers=1,service=constant:1ms,bandwidth=none")
    assert [(name, ios) for name, ios, _ in _rows(run)] == [("create 1x1", 40), ("stat 1x1", 40), ("unlink 1x1", 40)]
    assert [each.measurement.elapsed_ns for each in run.phases] == [40_000_000] * 3


def test_files_that_are_in_a_backup_too_are_not_written_to(tmp_path: Path) -> None:
    """`cp -al` and rsync's --link-dest give files second names: the backup was rewritten with the tree."""
    writes = '[[phase]]\noperations = ["write"]\nsize = "512"\npasses = 1\n'
    _run(writes, tmp_path)
    (tree,) = (each for each in tmp_path.iterdir() if each.is_dir() and each.name.startswith("iocast-tree"))
    subprocess.run(["cp", "-al", tree, tmp_path / "backup"], check=True)
    before = {file: file.read_bytes() for file in (tmp_path / "backup").rglob("*") if file.is_file()}
    with pytest.raises(TargetError, match="hard links: a backup"):
        _run(writes, tmp_path)
    assert {file: file.read_bytes() for file in before} == before
