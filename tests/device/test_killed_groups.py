"""150 kills of `study`, of `repeat` and of `ab` each: whole runs are kept and not made again, the next start goes on.

IOCAST_FUZZ=20 (`make safety`) makes the 150, `make test` 6.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from makers.killing import Bench, how_it_ended, kill_at
from makers.mutations import TIMES

from iocast import archive
from iocast.sessions.clean_up import mend_runs
from iocast.sessions.study_runs import open_study

pytestmark = [pytest.mark.device, pytest.mark.slow]
KILLS = 150 * TIMES // 20 if TIMES > 1 else 6
FILES = {
    "study.toml": """\
name = "killed"
repeats = 2
[files]
size = "4MiB"
[defaults]
direct = false
time = "60ms"
size = "8k"
[axis.data.whole]
[axis.data.warmed]
warm = 1
[axis.operation.read]
[axis.operation.write]
write = 100
""",
    "job.toml": """\
name = "killed"
[files]
size = "4MiB"
[defaults]
direct = false
time = "60ms"
size = "8k"
[[phase]]
test = "read"
[[phase]]
test = "write"
write = 100
""",
}
STUDIES = {
    "study": ("study", "study.toml", "place", "--out", "runs/real"),
    "study, simulated": ("study", "study.toml", "sim:nvme", "--out", "runs/simulated"),
}
GROUPS = {
    "repeat": ("repeat", "3", "job.toml", "place", "--out", "runs"),
    "ab": ("ab", "job.toml", "place", "sim:nvme", "--rounds", "2", "--out", "runs"),
}


def _complete(bench: Bench) -> set[str]:
    """The runs of both studies that are never made again, with the time of their last change."""
    studies = [open_study(str(folder.parent)) for folder in bench.runs.glob("*/study.toml")]
    repeats = [each for study in studies for side in study.sides for cell in side.results for each in cell.repeats]
    return {f"{each.folder} {(Path(each.folder) / 'run.json').stat().st_mtime_ns}" for each in repeats}


def test_a_killed_study_goes_on_where_it_was(tmp_path: Path, say: Callable[[str], None]) -> None:
    bench, moments = Bench(tmp_path, STUDIES, FILES, most_runs=8), random.Random(12 if TIMES == 1 else None)
    ends: Counter[str] = Counter()
    rows = 0
    for kill in range(KILLS):
        way, number = kill_at(kill, STUDIES)
        out = STUDIES[way][-1]
        if (tmp_path / out).exists() and moments.random() < 0.6:
            bench.forget(out)
        before = _complete(bench)
        ended, kept = bench.kill(way, number, moments.uniform(0.05, bench.seconds[way]))
        assert before <= _complete(bench), (way, number)
        ends[how_it_ended(ended)] += 1
        rows += kept
        bench.check()
    assert mend_runs(str(bench.runs)).left == ()
    for way in STUDIES:
        bench.whole(way)
    assert {archive.load(folder).status for folder in bench.folders()} <= {"done", "interrupted", "failed"}
    assert len(_complete(bench)) == 16
    bench.cleaned()
    say(f"study: {ends.total()} kills: {dict(ends)}, {rows} ended rows kept")


def test_a_killed_group_leaves_whole_runs_and_no_empty_folder(tmp_path: Path, say: Callable[[str], None]) -> None:
    bench, moments = Bench(tmp_path, GROUPS, FILES, most_runs=4), random.Random(13 if TIMES == 1 else None)
    ends: Counter[str] = Counter()
    rows = 0
    for kill in range(KILLS):
        way, number = kill_at(kill, GROUPS)
        ended, kept = bench.kill(way, number, moments.uniform(0.05, bench.seconds[way]))
        ends[how_it_ended(ended)] += 1
        rows += kept
        bench.check()
    mended = mend_runs(str(bench.runs))
    assert mended.left == ()
    for way in GROUPS:
        bench.whole(way)
    assert {archive.load(folder).status for folder in bench.folders()} <= {"done", "interrupted", "failed"}
    hidden = list(bench.runs.rglob(".*"))
    empty = [path for path in bench.runs.glob("*") if path.is_dir() and not any(path.iterdir())]
    assert (hidden, empty) == ([], [])
    bench.cleaned()
    say(
        f"repeat, ab: {ends.total()} kills: {dict(ends)}, {rows} ended rows kept, {len(mended.closed)} dead runs closed"
    )
