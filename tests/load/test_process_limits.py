"""Limits of the process are raised where they may be, and refused before the first row where they may not."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from makers.command_line import iocast, small_job
from makers.left_out import long_after

HOPELESS = {
    "files": ("--nofile=40:40", "error: small needs 68 open files; the limit of this process is 40\n"),
    "address space": ("--as=400000000", "error: small needs 1026 MiB of address space; the limit of this process is"),
    "hardly any": ("--as=150000000", "error: small needs 1026 MiB of address space; the limit of this process is"),
}


@pytest.mark.parametrize("limit", long_after(1, HOPELESS))
def test_too_low_a_limit_is_refused_before_anything_is_done(tmp_path: Path, limit: str) -> None:
    option, words = HOPELESS[limit]
    done = iocast("run", small_job(tmp_path), tmp_path, cwd=tmp_path, before=("prlimit", option))
    assert done.returncode == 2
    assert words in done.stderr
    assert "hint: raise the limit (ulimit -" in done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["small.toml"], "something was left behind"


@pytest.mark.long
def test_the_soft_limit_of_open_files_is_raised(tmp_path: Path) -> None:
    done = iocast("run", small_job(tmp_path), tmp_path, "--json", cwd=tmp_path, before=("prlimit", "--nofile=16:1024"))
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["rows"]) == 2


@pytest.mark.long
def test_a_simulated_device_needs_no_open_files_of_its_users(tmp_path: Path) -> None:
    job = tmp_path / "many.toml"
    job.write_text('name = "many"\n[[phase]]\ntest = "a"\nsize = "8k"\npattern = "random"\nusers = 500\ntime = "1ms"\n')
    done = iocast("run", job, "sim:nvme", cwd=tmp_path, before=("prlimit", "--nofile=128:128"))
    assert done.returncode == 0, done.stderr


@pytest.fixture
def group() -> Iterator[tuple[str, ...]]:
    """What starts a command in a control group of 1.5 GB of memory."""
    for top, limit in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
        folder = Path(top, f"iocast-test-{os.getpid()}")
        try:
            folder.mkdir()
        except OSError:
            continue
        try:
            (folder / limit).write_text(str(1_500_000_000))
        except OSError:
            folder.rmdir()
            continue
        yield ("sh", "-c", f'echo $$ > "{folder}/cgroup.procs" && exec "$@"', "sh")
        folder.rmdir()
        return
    pytest.skip("no control group of memory can be made here")


GREEDY = """\
name = "greedy"
[files]
size = "16MiB"
[[phase]]
test = "four"
time = "10s"
size = "1MiB"
users = 64
depth = 64
"""


def test_more_memory_than_the_control_group_allows_is_refused_in_words(tmp_path: Path, group: tuple[str, ...]) -> None:
    """It was killed by the kernel in the middle of the run."""
    (tmp_path / "greedy.toml").write_text(GREEDY)
    done = iocast("run", "greedy.toml", tmp_path, cwd=tmp_path, before=group)
    assert done.returncode == 2, done.stderr
    said = " ".join(done.stderr.split())
    assert re.search(
        r"error: four 1M 64x64 needs 4,\d{3} MiB of memory; its control group .* has 1,\d{3} MiB left", said
    ), said
    assert "hint: use fewer users, a smaller queue depth or a smaller I/O size" in done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["greedy.toml"], "something was left behind"


@pytest.mark.long
def test_what_fits_in_the_control_group_runs(tmp_path: Path, group: tuple[str, ...]) -> None:
    done = iocast("run", small_job(tmp_path), tmp_path, cwd=tmp_path, before=group)
    assert done.returncode == 0, done.stderr


def test_more_memory_than_the_machine_has_is_refused(tmp_path: Path) -> None:
    depth = 2 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // (64 << 20) // 8
    text = GREEDY.replace('size = "1MiB"', 'size = "64MiB"').replace("users = 64", "users = 8")
    (tmp_path / "greedy.toml").write_text(text.replace("depth = 64", f"depth = {depth}").replace("16MiB", "128MiB"))
    done = iocast("run", "greedy.toml", tmp_path, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "MiB of memory; this machine has" in " ".join(done.stderr.split())
    assert [file.name for file in tmp_path.iterdir()] == ["greedy.toml"]
