"""Several phases at once on real storage: each has its own errors and arrivals; all share when the process was away."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest
from makers.command_line import iocast, run_folder, start
from makers.lab import lab

from iocast import archive

pytestmark = [pytest.mark.device, pytest.mark.alone]
MIB = 1 << 20
AWAY_S = 1.0

JOB = """name = "at once"
[defaults]
size = "4k"
{common}
[[phase]]
test = "lower"
together = "both"
{lower}
[[phase]]
test = "upper"
together = "both"
{upper}
"""


def write_job(place: Path, **parts: str) -> Path:
    path = place / "job.toml"
    path.write_text(JOB.format(**{"lower": "", "upper": "", **parts}))
    return path


def test_errors_belong_to_the_phase_that_met_them(tmp_path: Path) -> None:
    halves = {name: f'region = {{start = "{at}MiB", size = "32MiB"}}' for name, at in (("lower", 0), ("upper", 32))}
    path = write_job(tmp_path, common="repeats = false\nios = 8192", **halves)
    with lab(tmp_path / "device", "errors=40MiB..41MiB", exact=False):
        done = iocast("run", path, "device", "--out", "runs", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lower, upper = (record.measurement for record in archive.load(str(run_folder(tmp_path / "runs"))).measured)
    assert (lower.ios, lower.error_count) == (8192, 0)
    (error,) = upper.errors
    assert (upper.ios, error.name, error.count) == (8192 - 256, "EIO", 256)
    assert all(40 * MIB <= place.offset_bytes < 41 * MIB for place in error.first)


def test_all_know_when_the_process_was_stopped(tmp_path: Path) -> None:
    rates = {"lower": 'rate = "1000/s"\narrival = "constant"', "upper": 'engine = "sync"'}
    path = write_job(tmp_path, common='time = "4s"', **rates)
    with lab(tmp_path / "device", "read_latency=500us", exact=False):
        started = start("run", path, "device", "--out", "runs", cwd=tmp_path, start_new_session=True)
        try:
            folder = tmp_path / "runs"
            for _ in range(1000):
                if folder.exists() and list(folder.iterdir()):
                    break
                time.sleep(0.01)
            time.sleep(1.5)
            started.send_signal(signal.SIGSTOP)
            time.sleep(AWAY_S)
        finally:
            started.send_signal(signal.SIGCONT)
        _, errors = started.communicate(timeout=60)
    assert started.returncode == 0, errors
    records = archive.load(str(run_folder(folder))).measured
    for record in records:  # beside it each has what its own threads waited for a processor
        assert max(away.duration_ns for away in record.measurement.generator.absences) >= 0.8 * AWAY_S * 1e9
    paced, closed = (record.measurement for record in records)
    due = paced.ios + paced.unsent_arrivals
    assert abs(due - 4000) <= 1
    assert closed.unsent_arrivals == 0
