"""Several threads may be the first to read a run: `iocast serve` is asked for several pages at the same time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from makers import card_runs

from iocast.archive import RunFolder

READ = """
import sys, threading
from iocast import archive
sys.setswitchinterval(1e-6)
folder, failed = sys.argv[1], []
start = threading.Barrier(8)
def read():
    start.wait()
    try:
        archive.read_summary(folder), archive.load_notes(folder), archive.load(folder)
    except BaseException as error:
        failed.append(error)
threads = [threading.Thread(target=read) for _ in range(8)]
[each.start() for each in threads]
[each.join() for each in threads]
sys.exit(str(failed) if failed else 0)
"""


@pytest.mark.long
def test_a_run_is_read_by_many_threads_from_the_start(tmp_path: Path) -> None:
    folder = RunFolder.create(str(tmp_path), card_runs.quick_card()).path
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", READ, str(folder)], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
