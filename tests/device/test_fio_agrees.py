"""The same job file, run by fio and by iocast in turns on devices with known answers, gives the same figures."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles

import pytest
from makers.command_line import iocast
from makers.lab import lab, near, need_lab, patiently

from iocast import archive

pytestmark = [pytest.mark.device, pytest.mark.alone]
ROUNDS = 9
SPREAD_MOST = 1.1  # the middle half of fio's own rounds: where they lie further apart, the machine was disturbed

JOB = """[global]
filename=device
size=64m
rw=randread
bs=4k
direct=1
norandommap
runtime=1
time_based
lat_percentiles=1
percentile_list=50
[reads]
"""


def by_fio(place: Path) -> tuple[float, float]:
    """I/Os a second and the median in ms."""
    words = ["fio", "--output-format=json", "--output=fio.json", "job.fio"]
    subprocess.run(words, cwd=place, check=True, capture_output=True, timeout=60)
    (job,) = json.loads((place / "fio.json").read_text())["jobs"]
    return job["read"]["iops"], job["read"]["lat_ns"]["percentile"]["50.000000"] / 1e6


def by_iocast(place: Path) -> tuple[float, float]:
    """The same."""
    shutil.rmtree(place / "runs", ignore_errors=True)
    done = iocast("run", "job.fio", "device", "--out", "runs", cwd=place)
    assert done.returncode == 0, done.stderr
    (folder,) = (place / "runs").iterdir()
    (record,) = archive.load(str(folder)).measured
    return record.measurement.rate_per_s, record.measurement.response().quantile_ns(0.5) / 1e6


@pytest.mark.parametrize(
    ("told", "keys", "rate", "p50_ms", "row"),
    [
        (["read_latency=1ms"], "ioengine=psync", 1000, 1.0, "1 ms, `psync`, depth 1"),
        (
            ["read_latency=308us", "tail=2%:20ms"],
            "ioengine=io_uring\niodepth=8",
            8 / 701.84e-6,
            0.308,
            "98 % at 308 us, 2 % at 20 ms, `io_uring`, depth 8",
        ),
        (
            ["read_latency=300us", "servers=4"],
            "ioengine=io_uring\niodepth=8",
            4 / 300e-6,
            0.6,
            "4 servers of 300 us, `io_uring`, depth 8",
        ),
        (
            ["read_latency=1ms"],
            "ioengine=io_uring\niodepth=8\nrate_iops=500",
            500,
            1.0,
            "1 ms, `rate_iops=500`, `io_uring`, depth 8",
        ),
    ],
    ids=["1 ms", "two modes", "4 servers", "at a rate"],
)
def test_fio_and_iocast_agree(
    tmp_path: Path, say: Callable[[str], None], told: list[str], keys: str, rate: float, p50_ms: float, row: str
) -> None:
    """At a rate only where the device keeps up: of a stall fio tells less (docs/guide/lab.md).

    What is said at the end is the row of docs/guide/fio-job-files.md.
    """
    need_lab()
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed")
    (tmp_path / "job.fio").write_text(f"{JOB}{keys}\n")
    figures = ""

    def attempt() -> tuple[bool, str, str]:
        nonlocal figures
        turns = [(by_fio(tmp_path), by_iocast(tmp_path)) for _ in range(ROUNDS)]
        fio, ours = ((median(turn[who][0] for turn in turns), median(turn[who][1] for turn in turns)) for who in (0, 1))
        figures = " | ".join(f"{each[0]:.0f}/s, {each[1]:.3f} ms" for each in ((rate, p50_ms), fio, ours))
        low, _, high = quantiles([turn[0][0] for turn in turns], n=4, method="inclusive")
        noisy = high > SPREAD_MOST * low or not near(fio[0], rate, 0.1)
        return (
            near(ours[0], fio[0], 0.1) and near(ours[1], fio[1], 0.1),
            figures,
            f"the middle half of fio's own rounds goes from {low:.0f} to {high:.0f}/s" if noisy else "",
        )

    try:
        with lab(tmp_path / "device", *told):
            patiently(attempt)
    finally:
        say(f"| {row} | {figures} |")
