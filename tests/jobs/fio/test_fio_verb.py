"""The verb `iocast spec`, and `iocast run` on a fio job file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from iocast.commands import run_command_line
from iocast.jobs import load_job

JOB = "[global]\nsize=1g\nruntime=1\ntime_based\nexitall\n[a]\nrw=randread\nnorandommap\nbs=8k\n"


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a.fio"
    path.write_text(JOB, encoding="utf-8")
    return path


def test_fio_to_toml(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["spec", "a.fio", "--to", "toml"]) == 0
    said = capsys.readouterr()
    assert said.err == ("note: line 5: exitall does nothing here: each phase ends by its own length\n")
    (job.parent / "a.toml").write_text(said.out, encoding="utf-8")
    back = load_job("a.toml")
    assert back.phases == load_job("a.fio").phases
    assert (back.name, back.engine) == ("a", "sync")


def test_a_preset_to_fio(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["spec", "hailey", "--to", "fio", "--size", "1GiB", "--time", "2s"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("; hailey: one section after the other\n[global]\ndescription=")
    assert "\nioengine=psync\n" in text
    assert "\nruntime=2s\n" in text
    (job.parent / "hailey.fio").write_text(text, encoding="utf-8")
    assert len(load_job("hailey.fio").phases) == 22


def test_what_fio_cannot_say_is_an_error(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (job.parent / "b.toml").write_text(
        'name = "b"\n[[phase]]\nwrite = 50\nfsync = 50\nsize = "8k"\ntime = "1s"\n', encoding="utf-8"
    )
    assert run_command_line(["spec", "b.toml", "--to", "fio"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert 'phase "randwrite 8k x1": fio does not mix fsync with other I/Os (fsync_every is nearest)' in said.err


def test_a_fio_job_file_runs(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["run", "a.fio", "sim:nvme", "--out", "runs"]) == 0
    assert "a 8k x1: " in capsys.readouterr().err
    (folder,) = (job.parent / "runs").iterdir()
    run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    assert (run["job"]["file"], [phase["name"] for phase in run["plan"]["phases"]]) == (JOB, ["a 8k x1"])
