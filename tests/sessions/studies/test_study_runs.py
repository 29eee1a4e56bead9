"""A study is run, goes on after kill -9, marks what is incomplete and tells both ways; nothing complete runs again."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from makers.command_line import in_this_process, iocast, start

from iocast.archive.catalogue import run_folders
from iocast.errors import LoadError
from iocast.sessions import study_runs
from iocast.sessions.job_run import Ran
from iocast.sessions.requests.run_options import RunOptions
from iocast.sessions.study_runs import open_study

STUDY = """
name = "two by two"
repeats = 2
labels = ["bare", "virtual"]
[defaults]
direct = true
time = "100ms"
[axis.data.cached]
region = { start = 0, size = "64MiB" }
warm = 1
[axis.data.disk]
[axis.operation.read]
size = "8k"
pattern = "random"
[axis.operation.scan]
size = "1M"
pattern = "sequential"
report = "throughput"
[view.cached]
data = "cached"
"""
BARE, VIRTUAL = "sim:nvme,service=constant:100us,servers=1", "sim:nvme,service=constant:200us,servers=1"


def _study(tmp_path: Path) -> Path:
    file = tmp_path / "study.toml"
    file.write_text(STUDY)
    return file


def _runs(folder: Path) -> dict[str, int]:
    """Every run folder with the moment of its last change."""
    return {each: Path(each, "run.json").stat().st_mtime_ns for each in run_folders(str(folder))}


@pytest.mark.long
def test_two_configurations_are_set_beside_each_other(tmp_path: Path) -> None:
    study, out = _study(tmp_path), tmp_path / "out"
    for label, target in (("bare", BARE), ("virtual", VIRTUAL)):
        done = iocast("study", study, target, "--label", label, "--out", out, "--json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    cached, whole = found["views"]
    assert (cached["name"], cached["first"], cached["others"]) == ("cached", "bare", ["virtual"])
    read = next(row for row in cached["rows"] if row["values"]["operation"] == "read")
    assert read["kept"] == pytest.approx([0.5], abs=0.02)
    assert read["worse_share"] == pytest.approx([1.0], abs=0.06)
    assert (len(whole["rows"]), any(row["incomplete"] for row in whole["rows"])) == (4, False)
    assert len(_runs(out)) == 16
    assert "study two by two, virtual: 4 cells, 8 runs" in done.stderr
    shown = iocast("report", out, cwd=tmp_path).stdout
    assert "virtual is within 10% of bare, or better, in 0 of 4 cells" in shown
    assert "keeps least in" in shown


@pytest.mark.long
def test_it_goes_on_after_a_kill_and_runs_nothing_again(tmp_path: Path) -> None:
    study, out = _study(tmp_path), tmp_path / "out"
    words = ("study", study, BARE, "--label", "bare", "--out", out)
    process = start(*words, cwd=tmp_path)
    deadline = time.monotonic() + 50
    while len(_runs(out) if out.exists() else {}) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()
    process.communicate()
    side = open_study(str(out)).sides[0]
    complete = {each.folder for result in side.results for each in result.repeats}
    assert 1 <= len(complete) < 8
    before = _runs(out)
    told = iocast("report", out, cwd=tmp_path).stdout
    assert "Incomplete: bare." in told
    assert "incomplete: 0 of 2" in told
    done = iocast(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"goes on: {len(complete)} runs are complete" in done.stderr
    (side,) = open_study(str(out)).sides
    assert [len(result.repeats) for result in side.results] == [2, 2, 2, 2]
    assert complete < {each.folder for result in side.results for each in result.repeats}
    assert {each: moment for each, moment in _runs(out).items() if each in complete} == {
        each: before[each] for each in complete
    }
    again = iocast(*words, cwd=tmp_path)
    assert "8 runs are complete (4 cells), 0 are left" in again.stderr
    assert "bare is complete: 4 cells, 2 repeats." in again.stdout


@pytest.mark.long
def test_a_folder_belongs_to_one_study(tmp_path: Path) -> None:
    study, out = _study(tmp_path), tmp_path / "out"
    assert in_this_process("study", str(study), BARE, "--out", str(out), "--time", "10ms") == 0
    other = iocast("study", study, BARE, "--out", out, cwd=tmp_path)
    assert (other.returncode, "belongs to another study" in other.stderr) == (2, True)


def test_a_study_that_cannot_run_makes_no_folder(tmp_path: Path) -> None:
    study, out = _study(tmp_path), tmp_path / "out"
    refused = iocast("study", study, tmp_path / "missing", "--out", out, cwd=tmp_path)
    assert refused.returncode == 2
    assert not out.exists()


def test_a_label_that_is_no_name_is_refused(tmp_path: Path) -> None:
    """Nothing was taken for the first configuration of the study."""
    for label in ("", "a/b"):
        done = iocast("study", "vmware", "sim:hdd", "--label", label, "--out", "o", cwd=tmp_path)
        assert (done.returncode, "cannot be a folder" in done.stderr) == (2, True), done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_plan_lists_all_cells(tmp_path: Path) -> None:
    shown = iocast("study", "vmware", "--plan", cwd=tmp_path).stdout
    assert "96 cells, 3 repeats each: 288 runs" in shown
    assert len([line for line in shown.splitlines() if line.startswith(("cached", "disk"))]) == 96
    assert "vmware" in iocast("study", cwd=tmp_path).stdout


def _link(place: Path, to: Path) -> None:
    """A neighbour puts a link to a directory of others in the place of a folder."""
    if place.exists():
        place.rename(place.with_name("aside"))
    to.mkdir(exist_ok=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(to)


def test_a_directory_of_somebody_that_has_the_name_of_a_label_stays_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its lock and all its runs were written there."""
    study, out = _study(tmp_path), tmp_path / "out"
    (out / "bare" / "cached-read").mkdir(parents=True)
    (out / "bare" / "data").write_text("mine")
    assert in_this_process("study", str(study), BARE, "--out", str(out)) == 2
    assert "bare was not made by a study: move it away" in capsys.readouterr().err
    assert sorted(os.listdir(out / "bare")) == ["cached-read", "data"]
    assert os.listdir(out / "bare" / "cached-read") == []


def test_an_empty_directory_of_somebody_in_the_place_of_a_cell_is_not_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any) -> Ran:
        raise LoadError("no", "none")

    study, out = _study(tmp_path), tmp_path / "out"
    (out / "bare" / "cached-read").mkdir(parents=True)
    (out / "bare" / ".iocast-study.lock").touch()
    monkeypatch.setattr(study_runs, "run_job", refused)
    assert in_this_process("study", str(study), BARE, "--out", str(out)) == 2
    assert sorted(os.listdir(out / "bare")) == [".iocast-study.lock", "cached-read"]


def test_a_link_in_the_place_of_a_cell_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study, out, foreign = _study(tmp_path), tmp_path / "out", tmp_path / "foreign"
    _link(out / "bare" / "cached-read", foreign)
    (out / "bare" / ".iocast-study.lock").touch()
    assert in_this_process("study", str(study), BARE, "--out", str(out)) == 2
    said = capsys.readouterr().err
    assert f"cannot write to {out}/bare/cached-read: it is a symbolic link, and iocast does not write through" in said
    assert "hint: move it away, or choose another directory with --out DIR" in said
    assert list(foreign.iterdir()) == []


@pytest.mark.parametrize("swapped", ["bare", "bare/cached-read"])
def test_what_takes_the_name_of_a_folder_in_the_midst_gets_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swapped: str
) -> None:
    study, out, foreign = _study(tmp_path), tmp_path / "out", tmp_path / "foreign"
    run_job = study_runs.run_job

    def swap(*given: Any) -> Ran:
        if not foreign.exists():
            _link(out / swapped, foreign)
        return run_job(*given)

    monkeypatch.setattr(study_runs, "run_job", swap)
    in_this_process("study", str(study), BARE, "--out", str(out), "--time", "10ms")
    assert list(foreign.iterdir()) == []
    assert _runs((out / swapped).with_name("aside"))


def test_a_run_that_fails_is_told_by_the_name_of_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    study, out = _study(tmp_path), tmp_path / "out"

    def fail(job: object, target: object, options: RunOptions, listener: object) -> Ran:
        raise LoadError(f"{options.out}/run is full", f"iocast report {os.path.relpath(options.out)}/run lists it")

    monkeypatch.setattr(study_runs, "run_job", fail)
    monkeypatch.chdir(tmp_path)
    assert in_this_process("study", str(study), BARE, "--out", str(out)) == 2
    said = capsys.readouterr().err
    assert f"{out}/bare/cached-read/run is full" in said
    assert "/proc/" not in said
    assert "iocast report out/bare/cached-" in said
    assert [each.name for each in (out / "bare").iterdir()] == [".iocast-study.lock"]
