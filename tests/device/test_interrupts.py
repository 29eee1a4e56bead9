"""Ctrl-C, SIGTERM, SIGHUP, SIGQUIT, kill -9 at any moment: a quick end, what was measured kept, nothing half made."""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
import re
import signal
import subprocess
import termios
import time
from pathlib import Path

import pytest
from makers.command_line import IOCAST, environment, iocast, run_folder, start

from iocast import archive
from iocast.load.marks import read_mark

pytestmark = pytest.mark.device

JOB = """\
name = "long"

[files]
size = "{size}"

[defaults]
time = "300s"
size = "8k"
pattern = "random"
direct = {direct}

[[phase]]
test = "first"
time = "200ms"

[[phase]]
test = "second"
{more}
"""
PATIENCE_S = 30.0  # far less than a phase or a pause to think takes


def begin(place: Path, more: str = "", size: str = "4MiB", direct: bool = True) -> subprocess.Popen[str]:
    job = place / "long.toml"
    job.write_text(JOB.format(more=more, size=size, direct=str(direct).lower()))
    return start("run", job, place, "--full", "--out", place / "runs", cwd=place, start_new_session=True)


def wait_for(run: subprocess.Popen[str], words: str) -> None:
    assert run.stderr is not None
    for line in run.stderr:
        if words in line:
            return
    raise AssertionError(f"never said: {words}")


def end(run: subprocess.Popen[str], number: int) -> tuple[str, str]:
    run.send_signal(number)
    try:
        out, errors = run.communicate(timeout=PATIENCE_S)
    finally:
        run.kill()  # nothing, where it has ended
    with pytest.raises(ProcessLookupError):
        os.killpg(run.pid, 0)  # it was the leader of a group of its own: nobody is left in it
    return out, errors


@pytest.mark.parametrize(
    ("more", "number"),
    [
        pytest.param("", signal.SIGINT, id="closed"),
        pytest.param("", signal.SIGTERM, id="closed, SIGTERM"),
        pytest.param("", signal.SIGHUP, id="closed, SIGHUP"),
        pytest.param("", signal.SIGQUIT, id="closed, SIGQUIT"),
        pytest.param("users = 32", signal.SIGINT, id="32 users"),
        pytest.param('rate = "1/s"\narrival = "poisson"', signal.SIGTERM, id="slow open loop"),
        pytest.param('write = 100\nsync = "sync"', signal.SIGINT, id="synchronous writes"),
        pytest.param('think = "100s"', signal.SIGTERM, id="thinking"),
    ],
)
def test_during_a_phase(tmp_path: Path, more: str, number: int) -> None:
    run = begin(tmp_path, more)
    wait_for(run, "first")
    time.sleep(0.4)
    out, errors = end(run, number)
    assert run.returncode == 128 + number
    assert "Traceback" not in errors
    # A row that was cut short before its first I/O ended is not kept.
    assert re.search(r"stopped: ([12] of 2 rows kept, 1 of them cut short|1 of 2 rows finished and kept)", errors)
    assert "first" in out
    folder = run_folder(tmp_path / "runs")
    assert iocast("report", folder.relative_to(tmp_path), cwd=tmp_path).stdout == out
    kept = archive.load(str(folder))
    assert kept.status == "interrupted"
    assert {record.measurement.stopped for record in kept.measured} <= {"finished", "interrupted"}
    mark = read_mark(str(tmp_path / "iocast-work.0.dat"))
    assert mark is not None
    assert mark.whole


@pytest.mark.parametrize("direct", [True, False])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_while_laying_out(tmp_path: Path, number: int, direct: bool) -> None:
    # Long enough to be met in the middle, even where this process is kept waiting.
    run = begin(tmp_path, size="8GiB", direct=direct)
    work = tmp_path / "iocast-work.0.dat"
    while not work.exists() or not work.stat().st_blocks:
        time.sleep(0.01)
    time.sleep(0.2)
    out, errors = end(run, number)
    assert (run.returncode, out) == (128 + number, ""), errors
    assert "stopped: no row was finished; nothing was kept" in errors
    assert os.listdir(tmp_path) == ["long.toml"]


def test_before_anything_came_back(tmp_path: Path) -> None:
    run = begin(tmp_path)
    wait_for(run, "long on")
    out, _ = end(run, signal.SIGINT)
    assert run.returncode == 130
    assert (out == "") == (not (tmp_path / "runs").exists())


@pytest.mark.parametrize("tenth", range(2, 11))
def test_a_burst_leaves_no_dead_run(tmp_path: Path, tenth: int) -> None:
    """A nervous finger, or a shell that tells the whole group: the saving at the end is completed."""
    job = tmp_path / "long.toml"
    job.write_text(JOB.format(more='time = "100ms"', size="4MiB", direct="false").replace('"200ms"', '"100ms"'))
    words = ("run", job, tmp_path, "--no-page")
    began = time.monotonic()
    assert iocast(*words, "--out", "whole", cwd=tmp_path).returncode == 0
    seconds = time.monotonic() - began
    for part in range(3):
        run = start(*words, "--out", "runs", cwd=tmp_path)
        with contextlib.suppress(subprocess.TimeoutExpired):
            run.wait(seconds * (tenth + part / 3) / 10)
        for _ in range(4):
            run.send_signal(signal.SIGINT)
            time.sleep(0.013)
        _, errors = run.communicate(timeout=PATIENCE_S)
        if "measures" in errors:  # else Python was starting: iocast could not take signals yet
            assert run.returncode in (0, 130), errors
            assert "Traceback" not in errors
    for folder in (tmp_path / "runs").glob("[0-9]*"):
        assert archive.read_summary(str(folder)).status in ("done", "interrupted")


def test_a_signal_that_comes_again_and_again_ends_it(tmp_path: Path) -> None:
    run = begin(tmp_path, "users = 32")
    wait_for(run, "first")
    time.sleep(0.3)
    run.send_signal(signal.SIGTERM)
    deadline = time.monotonic() + PATIENCE_S
    while run.poll() is None and time.monotonic() < deadline:
        run.send_signal(signal.SIGTERM)
        time.sleep(0.02)
    assert run.wait() in (-signal.SIGTERM, 128 + signal.SIGTERM)
    archive.load(str(run_folder(tmp_path / "runs")))


def test_a_whole_group_is_told(tmp_path: Path) -> None:
    run = begin(tmp_path)
    wait_for(run, "first")
    os.killpg(run.pid, signal.SIGTERM)
    out, _ = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 143
    assert "first" in out


def test_a_terminal_that_is_closed_ends_the_run_as_sighup_does(tmp_path: Path) -> None:
    def take_terminal() -> None:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    job = tmp_path / "long.toml"
    job.write_text(JOB.format(more="", size="4MiB", direct="false"))
    ours, theirs = os.openpty()
    command = [*IOCAST, "run", str(job), str(tmp_path), "--out", str(tmp_path / "runs"), "--no-page"]
    run = subprocess.Popen(
        command, cwd=tmp_path, env=environment(), stdin=theirs, stdout=theirs, stderr=theirs, preexec_fn=take_terminal
    )
    os.close(theirs)
    seen = b""
    while b"second" not in seen:
        seen += os.read(ours, 4096)
    os.close(ours)
    assert run.wait(PATIENCE_S) == 129
    kept = archive.load(str(run_folder(tmp_path / "runs")))
    assert (kept.status, kept.measured[0].measurement.stopped) == ("interrupted", "finished")


def test_an_ignored_signal_stays_ignored(tmp_path: Path) -> None:
    job = tmp_path / "long.toml"
    job.write_text(JOB.format(more='time = "300ms"', size="4MiB", direct="false"))
    run = start("run", job, tmp_path, cwd=tmp_path, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    wait_for(run, "first")
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 0


def test_kill_at_any_moment(tmp_path: Path) -> None:
    moments = random.Random(7)
    job = tmp_path / "long.toml"
    job.write_text(JOB.format(more='time = "200ms"', size="32MiB", direct="true"))
    for _ in range(12):
        run = start("run", job, tmp_path, "--out", tmp_path / "runs", cwd=tmp_path)
        time.sleep(moments.uniform(0.15, 1.6))
        run.kill()
        run.communicate()
        for folder in (tmp_path / "runs").glob("[0-9]*"):
            archive.load(str(folder))
        if moments.random() < 0.5:
            cleaned = iocast("clean", tmp_path, cwd=tmp_path)
            assert cleaned.returncode == 0, cleaned.stderr
            assert not list(tmp_path.glob("iocast-work*"))
    done = iocast("run", job, tmp_path, "--out", tmp_path / "runs", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_kill_while_laying_out_leaves_what_clean_finds(tmp_path: Path) -> None:
    run = begin(tmp_path, size="8GiB")
    work = tmp_path / "iocast-work.0.dat"
    while not work.exists() or work.stat().st_blocks < 2048:
        time.sleep(0.005)
    run.kill()
    run.communicate()
    assert work.exists()
    done = iocast("clean", ".", cwd=tmp_path)
    assert done.stdout.startswith("removed iocast-work.0.dat (")
    assert not list(tmp_path.glob("iocast-work*"))
