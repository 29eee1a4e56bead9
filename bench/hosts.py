"""How far apart many hosts begin a row, and what a row costs beside its own time: ranks on this machine, by fork.

    .venv/bin/python bench/hosts.py DIRECTORY [RANKS ...]

More ranks than processors show what waiting and telling cost at worst: each rank is a process that wants to run.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from iocast import archive

ROWS = 20
ROW_S = 0.5
JOB = """name = "skew"
[files]
size = "64MiB"
[defaults]
read = 100
size = "8k"
rate = "20/s"
time = "{time}s"
"""
ROW = '[[phase]]\ntest = "row{number}"\n'


def main(directory: str, counts: list[int]) -> None:
    """A line for each number of ranks."""
    print("ranks  apart p50  p99      between rows  all of it")
    for count in counts:
        with tempfile.TemporaryDirectory(dir=directory) as room:
            line(Path(room), count)


def line(room: Path, count: int) -> None:
    """Runs the job on so many ranks, and says how it went."""
    (room / "job.toml").write_text(JOB.format(time=ROW_S) + "".join(ROW.format(number=n) for n in range(ROWS)))
    for number in range(count):
        (room / f"h{number}").mkdir()
    nodes = ",".join(f"h{number}:{room / f'h{number}'}" for number in range(count))
    words = [sys.executable, "-m", "iocast", "run", "job.toml", "--hosts", nodes, "--no-page", "--quiet"]
    began_s = time.monotonic()
    done = subprocess.run(
        words, cwd=room, env=os.environ | {"HYDRA_LAUNCHER": "fork"}, capture_output=True, text=True, check=False
    )
    took_s = time.monotonic() - began_s
    if done.returncode:
        print(f"{count:5}  {done.stderr.strip()}")
        return
    (folder,) = (room / "iocast-runs").iterdir()
    run = archive.load(str(folder))
    apart_ms = sorted(max(part.rows[row].started_ns for part in run.hosts) / 1e6 for row in range(ROWS))
    starts_s = [record.measurement.started_unix_ns / 1e9 for record in run.phases]
    lasted_s = [record.measurement.elapsed_ns / 1e9 for record in run.phases]
    between_s = [after - before - row for before, after, row in zip(starts_s, starts_s[1:], lasted_s, strict=False)]
    p99 = apart_ms[-1]
    print(
        f"{count:5}  {statistics.median(apart_ms):6.2f} ms  {p99:6.2f} ms"
        f"  {statistics.median(between_s) * 1e3:8.0f} ms  {took_s:6.1f} s"
    )


if __name__ == "__main__":
    main(sys.argv[1], [int(each) for each in sys.argv[2:]] or [2, 4, 8, 16, 32, 64])
