"""Every kind of place that people point iocast at: what it does there, and what it says."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from makers.command_line import IOCAST, environment, small_job
from makers.command_line import in_own_process as iocast  # who has a device open is the subject
from makers.rootly import Mount, command, need

pytestmark = pytest.mark.device
MIB = 1 << 20
QUICK = ("--size", "16MiB", "--time", "20ms")


def digest(path: str | Path) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def fill_up(place: Path) -> None:
    """Takes all the room that is left, as another writer does."""
    with open(place / "other", "wb", buffering=0) as other, contextlib.suppress(OSError):
        while other.write(bytes(MIB)):
            pass
    assert os.statvfs(place).f_bavail == 0


def phases(stdout: str) -> list[str]:
    return [row["phase"] for row in json.loads(stdout)["rows"] if row["users"] is not None]


def test_a_foreign_file_is_only_read(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.write_bytes(os.urandom(16 * MIB))
    before = digest(data), data.stat().st_mtime_ns
    done = iocast("card", "data", *QUICK, "--json", "--out", "runs", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert all("write" not in name and "commit" not in name and "mixed" not in name for name in phases(done.stdout))
    assert f"note: {data} was not created by iocast: it is only read" in done.stderr
    assert "write rows skipped" in done.stderr
    assert "--size 16MiB is ignored" in done.stderr
    assert (digest(data), data.stat().st_mtime_ns) == before
    assert sorted(os.listdir(tmp_path)) == ["data", "runs"]
    assert iocast("run", small_job(tmp_path), "data", cwd=tmp_path).returncode == 2
    assert digest(data) == before[0]


def test_a_link_to_a_file_is_that_file(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(os.urandom(16 * MIB))
    (tmp_path / "link").symlink_to("data")
    before = digest(tmp_path / "data")
    assert iocast("card", "link", *QUICK, cwd=tmp_path).returncode == 0
    assert digest(tmp_path / "data") == before


def test_a_file_that_is_to_be_made(tmp_path: Path) -> None:
    for size, time_ns in (("16MiB", 0), ("16MiB", 1), ("32MiB", 0)):
        before = (tmp_path / "new.dat").stat().st_ino if time_ns else None
        done = iocast("card", "new.dat", "--size", size, "--time", "5ms", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert ("lays out" in done.stderr) == (not time_ns)
        assert (tmp_path / "new.dat").stat().st_size == int(size[:2]) * MIB
        assert before in (None, (tmp_path / "new.dat").stat().st_ino)
    done = iocast("clean", "new.dat", cwd=tmp_path)
    assert done.stdout == "removed new.dat (32.0 MiB)\n"
    assert os.listdir(tmp_path) == ["iocast-runs"]


def test_a_device_is_only_read(tmp_path: Path, loop_device: Callable[[int], str]) -> None:
    device = loop_device(32 * MIB)
    before = digest(tmp_path / "image0")
    done = iocast("card", device, "--time", "20ms", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "randread 8k 1x1" in phases(done.stdout)
    assert "commit 8k 1x1" not in phases(done.stdout)
    refused = iocast("run", small_job(tmp_path), device, cwd=tmp_path)
    assert refused.returncode == 2
    assert f'{device} is a block device: phase "randwrite 8k 1x1" would overwrite it' in refused.stderr
    command("blockdev", "--flushbufs", device)
    assert digest(tmp_path / "image0") == before


def test_a_read_only_mount(tmp_path: Path, mounted: Mount) -> None:
    place = mounted("ro", "-t", "tmpfs", "-o", "ro", "none")
    done = iocast("card", place, *QUICK, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-3:] == [
        f"error: cannot lay out work files in {place}: Read-only file system",
        "",
        "hint: choose a path on a file system that is mounted read-write",
    ]
    assert os.listdir(tmp_path) == ["ro"]


def test_too_small_a_file_system_names_a_size_that_works(tmp_path: Path, mounted: Mount) -> None:
    need("mkfs.ext4")
    image = tmp_path / "image"
    image.write_bytes(b"")
    os.truncate(image, 64 * MIB)
    command("mkfs.ext4", "-q", image)
    place = mounted("small", "-o", "loop", image)
    done = iocast("card", place, "--time", "5ms", cwd=tmp_path)
    assert done.returncode == 2
    assert "a work file of 2,048 MiB does not fit" in done.stderr
    size = done.stderr.partition("--size ")[2].partition(")")[0]
    assert size.endswith("MiB")
    done = iocast("card", place, "--time", "5ms", "--size", size, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    # Another writer takes all that is left; the file is there, so nothing more is needed.
    fill_up(place)
    done = iocast("card", place, "--time", "5ms", "--size", size, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert iocast("clean", place, cwd=tmp_path).returncode == 0


def test_a_file_system_that_fills_up_under_the_run_folder(tmp_path: Path, mounted: Mount) -> None:
    full = mounted("full", "-t", "tmpfs", "-o", "size=1m", "none")
    job = tmp_path / "long.toml"
    # Far more rows than will be reached: this process may be kept waiting.
    rows = "".join(f'[[phase]]\ntest = "r{n}"\nsize = "8k"\npattern = "random"\n' for n in range(30))
    job.write_text(f'name = "long"\n[files]\nsize = "4MiB"\n[defaults]\ntime = "300ms"\ndirect = false\n{rows}')
    run = subprocess.Popen(
        [*IOCAST, "run", str(job), ".", "--full", "--out", str(full / "runs")],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert run.stderr is not None
    while "r1" not in run.stderr.readline():
        pass
    fill_up(full)
    out, errors = run.communicate(timeout=30)
    assert run.returncode == 2
    assert "r1" in out  # what was measured is shown
    assert "error: cannot write" in errors
    (folder,) = (full / "runs").iterdir()
    os.unlink(full / "other")
    assert iocast("report", folder, cwd=tmp_path).returncode == 0


def test_memory_is_called_memory(tmp_path: Path, mounted: Mount) -> None:
    place = mounted("memory", "-t", "tmpfs", "none")
    done = iocast("card", place, *QUICK, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "tmpfs keeps its files in memory" in done.stdout


@pytest.mark.parametrize("stacked", [False, True])
def test_without_direct_io(tmp_path: Path, mounted: Mount, stacked: bool) -> None:
    place = mounted("ram", "-t", "ramfs", "none")
    if stacked:
        for name in ("lower", "upper", "work"):
            (place / name).mkdir()
        layers = f"lowerdir={place}/lower,upperdir={place}/upper,workdir={place}/work"
        place = mounted("stack", "-t", "overlay", "-o", layers, "none")
    before = sorted(os.listdir(place))
    refused = iocast("run", small_job(tmp_path), place, cwd=tmp_path)
    assert refused.returncode == 2
    assert f"{place} does not support direct I/O" in refused.stderr
    assert 'phase "randread 8k 2x1" requires it' in refused.stderr
    assert "direct = false" in refused.stderr
    assert sorted(os.listdir(place)) == before
    assert iocast("run", small_job(tmp_path, direct=False), place, cwd=tmp_path).returncode == 0
    done = iocast("card", place, *QUICK, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "All rows used buffered I/O" in done.stderr
    document = json.loads(done.stdout)
    # Writes that wait for the device are no worse for going through the page cache.
    letters = {row["trust"] for row in document["rows"] if row["users"] is not None and row["test"] != "commit"}
    assert letters <= {"C", "D", "F"}
    assert any("All rows used buffered I/O" in line for line in document["text"]["remarks"])


# Runs iocast as user 65534, who could not even start this Python if it lies in somebody's home.
AS_NOBODY = """\
import encodings.ascii, os, sys
import iocast.commands.cmd_card, iocast.commands.cmd_clean, iocast.runner, iocast._core, iocast.jobs.toml.job_schema
import duckdb, iocast.report.card.card_report, iocast.diagnose, iocast.report.renderers.classic, msgspec.json, ctypes
import iocast.commands.shell.terminal_listener, iocast.commands.shell.progress, iocast.commands.shell.mistakes
import iocast.commands.shell.plan_lines, iocast.load.filling, difflib
import rich.console, rich.panel, rich.table, rich_click.rich_help_rendering, secrets, shutil
import iocast.observe.target.device_stack
import iocast.sessions.measure, iocast.sessions.fitted_plan, iocast.sessions.clean_up
from iocast.jobs import load_job, presets
load_job("card-quick"); presets()
os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
from iocast.commands import run_command_line
sys.exit(run_command_line(sys.argv[1:]))
"""


def as_nobody(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    need()
    return subprocess.run(
        [sys.executable, "-c", AS_NOBODY, *map(str, arguments)],
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def public(mounted: Mount) -> Path:
    """A directory that everyone may read, on a file system of its own under a path that everyone may pass."""
    need()
    place = Path(f"/var/tmp/iocast-test-{os.getpid()}-{time.monotonic_ns()}")
    place.mkdir()
    place.chmod(0o755)
    return place


def test_no_permission(public: Path) -> None:
    try:
        done = as_nobody("card", public, *QUICK, "--out", public / "runs", cwd=public)
        assert done.returncode == 2
        assert f"error: cannot lay out work files in {public}: Permission denied" in done.stderr
        assert "hint: choose a directory with write permission, or run as its owner" in done.stderr
        (public / "secret").write_bytes(os.urandom(MIB))
        (public / "secret").chmod(0o600)
        done = as_nobody("card", public / "secret", *QUICK, cwd=public)
        assert done.returncode == 2
        assert f"no permission to read {public}/secret" in done.stderr
        assert os.listdir(public) == ["secret"]
    finally:
        subprocess.run(["rm", "-rf", str(public)], check=True)


def test_a_run_folder_that_may_not_be_made(public: Path) -> None:
    try:
        done = as_nobody("card", "sim:nvme", "--time", "1ms", cwd=public)
        assert done.returncode == 2
        assert "cannot create a run folder in iocast-runs: Permission denied" in done.stderr
        assert "hint: choose another directory with --out DIR" in done.stderr
    finally:
        subprocess.run(["rm", "-rf", str(public)], check=True)


def test_a_file_larger_than_may_be_made(tmp_path: Path) -> None:
    limit = ("bash", "-c", 'ulimit -f 1024; exec "$@"', "-")
    done = iocast("card", ".", *QUICK, cwd=tmp_path, before=limit)
    assert done.returncode == 2
    assert f"cannot lay out {tmp_path}/iocast-work.0.dat: File too large" in done.stderr
    assert "reduce --size" in done.stderr
    assert os.listdir(tmp_path) == []
