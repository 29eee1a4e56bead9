"""Limits of the process are raised where they may be, and refused before the first row where they may not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from makers.command_line import iocast, small_job

HOPELESS = {
    "files": ("--nofile=40:40", "error: small needs 68 open files; the limit of this process is 40\n"),
    "address space": ("--as=400000000", "error: small needs 1026 MiB of address space; the limit of this process is"),
    "hardly any": ("--as=150000000", "error: small needs 1026 MiB of address space; the limit of this process is"),
}


@pytest.mark.parametrize("limit", HOPELESS)
def test_too_low_a_limit_is_refused_before_anything_is_done(tmp_path: Path, limit: str) -> None:
    option, words = HOPELESS[limit]
    done = iocast("run", small_job(tmp_path), tmp_path, cwd=tmp_path, before=("prlimit", option))
    assert done.returncode == 2
    assert words in done.stderr
    assert "hint: raise the limit (ulimit -" in done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["small.toml"], "something was left behind"


def test_the_soft_limit_of_open_files_is_raised(tmp_path: Path) -> None:
    done = iocast("run", small_job(tmp_path), tmp_path, "--json", cwd=tmp_path, before=("prlimit", "--nofile=16:1024"))
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["rows"]) == 2


def test_a_simulated_device_needs_no_open_files_of_its_users(tmp_path: Path) -> None:
    job = tmp_path / "many.toml"
    job.write_text('name = "many"\n[[phase]]\ntest = "a"\nsize = "8k"\npattern = "random"\nusers = 500\ntime = "1ms"\n')
    done = iocast("run", job, "sim:nvme", cwd=tmp_path, before=("prlimit", "--nofile=128:128"))
    assert done.returncode == 0, done.stderr
