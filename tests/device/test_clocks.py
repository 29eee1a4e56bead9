"""Clocks that jump: the wall clock is set during a run, and a time namespace moves the clocks of some processes."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest
from makers.command_line import run_folder, start
from makers.rootly import command, need
from makers.saved_runs import empty_run
from makers.set_clock import SetClock

from iocast import archive
from iocast.model.live.moment import moments_of
from iocast.sessions.clean_up import mend_runs

pytestmark = pytest.mark.device
HOUR_S = 3600
MOST_NS = 600 * 10**9  # the longest that any of these takes, and far below an hour
ELSEWHEN = ("unshare", "--time", "--monotonic", "1000000", "--boottime", "2000000", "--fork")
JOB = """\
name = "clocks"
[files]
size = "4MiB"
[defaults]
time = "1500ms"
size = "8k"
direct = false
[[phase]]
test = "first"
[[phase]]
test = "second"
[[phase]]
test = "third"
"""


def _begin(place: Path, **popen: object) -> subprocess.Popen[str]:
    (place / "job.toml").write_text(JOB)
    words = ("run", "job.toml", place, "--out", "runs", "--no-page", "--full")
    return start(*words, cwd=place, **popen)


def _said(started: subprocess.Popen[str], words: str) -> None:
    """Waits for a line on stderr that has these words."""
    assert started.stderr is not None
    for line in started.stderr:
        if words in line:
            return
    raise AssertionError(f"it ended without saying {words!r}")


def test_a_clock_that_is_set_moves_no_time_of_a_run(tmp_path: Path) -> None:
    clock = SetClock(tmp_path)
    started = _begin(tmp_path, env=clock.environment)
    for row, ahead_s in (("first", HOUR_S), ("second", -HOUR_S)):
        _said(started, row)  # it has ended: the clock is set within the next one
        time.sleep(0.3)
        clock.put(ahead_s)
    out, errors = started.communicate(timeout=60)
    assert started.returncode == 0, errors
    run = archive.load(str(run_folder(tmp_path / "runs")))
    times = [sample.time_ns for record in run.phases for sample in record.samples]
    times += [record.measurement.started_unix_ns for record in run.phases]
    assert len(times) > 20
    assert all(run.started_unix_ns <= each < run.started_unix_ns + MOST_NS for each in times)
    for record in run.phases:
        assert [each.time_ns for each in record.samples] == sorted(each.time_ns for each in record.samples)
    assert "The clock of this machine was set back by 1 h during the run" in " ".join(out.split())


def test_a_clock_that_is_set_moves_no_line_of_a_watch_and_no_moment_of_a_tape(tmp_path: Path) -> None:
    clock = SetClock(tmp_path)
    words = ("watch", "iostat", "--json", "--interval", "200ms", "--count", "6", "--record", "tape")
    started = start(*words, cwd=tmp_path, env=clock.environment)
    assert started.stdout is not None
    lines = []
    for line in started.stdout:
        lines.append(json.loads(line))
        clock.put(HOUR_S if len(lines) < 3 else -HOUR_S)
    _, errors = started.communicate(timeout=60)
    assert started.returncode == 0, errors
    assert len({line["time_ns"] for line in lines}) == 6
    moments = list(moments_of(archive.reel_samples(run_folder(tmp_path / "tape"))))
    assert len(moments) == 7
    for times in ([line["time_ns"] for line in lines], [moment.time_ns for moment in moments]):
        assert all(0 <= after - before < MOST_NS for before, after in pairwise(times))
    assert any("was set back" in each for each in archive.load(str(run_folder(tmp_path / "tape"))).warnings)


ALIVE = "import sys\nfrom iocast import archive\nprint(archive.owner_alive(sys.argv[1]))"
BEGINS = (
    "import sys; sys.path.insert(0, sys.argv[2])\nfrom makers.saved_runs import empty_run\n"
    "from iocast.archive import RunFolder\nprint(RunFolder.create(sys.argv[1], empty_run()).path, flush=True)\n"
    "sys.stdin.read()"
)


def test_a_run_in_a_time_namespace_is_alive_for_those_outside(tmp_path: Path) -> None:
    need("unshare")
    words = [*ELSEWHEN, sys.executable, "-c", BEGINS, str(tmp_path), str(Path(__file__).parents[1])]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as elsewhen:
        assert elsewhen.stdin is not None
        assert elsewhen.stdout is not None
        folder = elsewhen.stdout.readline().strip()
        assert archive.owner_alive(folder) is True
        assert mend_runs(str(tmp_path)).closed == ()
        elsewhen.stdin.close()
    assert archive.owner_alive(folder) is False
    assert len(mend_runs(str(tmp_path)).closed) == 1


def test_a_run_is_alive_for_those_in_a_time_namespace(tmp_path: Path) -> None:
    need("unshare")
    folder = archive.RunFolder.create(str(tmp_path), empty_run()).path
    assert command(*ELSEWHEN, sys.executable, "-c", ALIVE, folder) == "True"


READS = 2_000_000  # more than are taken all of the time: only windows are; by one process, which lives to be named
COUNTED = f"""
import json, subprocess, sys
from iocast._core import CoreError, LayerWatch
try:
    watch = LayerWatch(json.dumps({{"calls": True, "budget_per_s": 40_000.0}}))
except CoreError as error:
    sys.exit(print(error.args[0]))
subprocess.run(["dd", "if=" + sys.argv[1], "of=/dev/null", "bs=1", "count={READS}", "status=none"], check=True)
calls = json.loads(watch.snapshot())["calls"]
print(sum(each["counts"]["count"] for each in calls if (each["command"], each["call"]) == ("dd", "read")))
"""


def test_layers_are_counted_in_a_time_namespace_as_outside(tmp_path: Path) -> None:
    """The kernel stamps its records with a clock that no namespace moves: none counted but the first window."""
    need("unshare")
    file = tmp_path / "read"
    file.write_bytes(bytes(READS))
    words = [*ELSEWHEN, sys.executable, "-c", COUNTED, file]
    said = subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()
    if not said.isdigit():
        pytest.skip(said)
    assert 0.1 < int(said) / READS < 10
