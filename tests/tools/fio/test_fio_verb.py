"""The verb `iocast spec`, and `iocast run` on a fio job file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from makers.command_line import iocast

from iocast import archive
from iocast.jobs import load_job
from iocast.model.plan import Striped

JOB = "[global]\nsize=1g\nruntime=1\ntime_based\nexitall\n[a]\nrw=randread\nnorandommap\nbs=8k\n"


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a.fio"
    path.write_text(JOB, encoding="utf-8")
    return path


def test_fio_to_toml(job: Path) -> None:
    done = iocast("spec", "a.fio", "--to", "toml", cwd=job.parent)
    assert done.returncode == 0
    assert done.stderr == ("note: line 5: exitall has no effect: each phase has its own length\n")
    (job.parent / "a.toml").write_text(done.stdout, encoding="utf-8")
    back = load_job("a.toml")
    assert back.phases == load_job("a.fio").phases
    assert (back.name, back.engine) == ("a", "sync")


def test_a_preset_to_fio(job: Path) -> None:
    done = iocast("spec", "hailey", "--to", "fio", "--size", "1GiB", "--time", "2s", cwd=job.parent)
    assert done.returncode == 0
    text = done.stdout
    assert text.startswith("; hailey: sections run one after the other\n[global]\ndescription=")
    assert "\nioengine=psync\n" in text
    assert "\nruntime=2s\n" in text
    (job.parent / "hailey.fio").write_text(text, encoding="utf-8")
    assert len(load_job("hailey.fio").phases) == 22


def test_what_fio_cannot_say_is_an_error(job: Path) -> None:
    (job.parent / "b.toml").write_text(
        'name = "b"\n[[phase]]\nwrite = 50\nfsync = 50\nsize = "8k"\ntime = "1s"\n', encoding="utf-8"
    )
    done = iocast("spec", "b.toml", "--to", "fio", cwd=job.parent)
    assert done.returncode == 2
    assert done.stdout == ""
    assert 'phase "randwrite 8k 1x1": fio cannot mix fsync with other I/Os (fsync_every is nearest)' in done.stderr


def test_a_fio_job_file_runs(job: Path) -> None:
    done = iocast("run", "a.fio", "sim:nvme", "--out", "runs", cwd=job.parent)
    assert done.returncode == 0
    assert "a 8k 1x1: " in done.stderr
    (folder,) = (job.parent / "runs").iterdir()
    kept = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    assert (kept["job"]["file"], [phase["name"] for phase in kept["plan"]["phases"]]) == (JOB, ["a 8k 1x1"])


def test_two_files_of_one_job_are_read_in_turn(job: Path) -> None:
    (job.parent / "config_file").write_text("filesize=1m\nfilename=a:b\nruntime=9\nrw=read\nbs=0008k\nnumjobs=1\n")
    done = iocast("run", "config_file", ".", "--out", "runs", "--no-page", cwd=job.parent)
    assert done.returncode == 0, done.stderr
    (folder,) = (job.parent / "runs").iterdir()
    (record,) = archive.load(str(folder)).measured
    assert [file.size_bytes for file in record.plan.files] == [1 << 20, 1 << 20]
    assert record.plan.layout == Striped(8192)
    assert record.measurement.ios == 2 * 128, "both files, once"
