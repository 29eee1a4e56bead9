"""250 kills at random moments: every row that had ended is kept, nothing of others is touched, the next start works.

IOCAST_FUZZ=20 (`make safety`) makes the 250, `make test` 12.
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

pytestmark = pytest.mark.device
KILLS = 25 * TIMES // 2
PARTS = 5 if TIMES >= 5 else 1
ROWS = "".join(f'[[phase]]\ntest = "{name}"\n{more}' for name, more in (
    ("a", ""), ("b", "write = 100\n"), ("c", "write = 50\nusers = 2\n"), ("d", "write = 100\nfsync = 4\n"), ("e", ""),
))  # fmt: skip
JOB = f'name = "killed"\n[files]\nsize = "4MiB"\n[defaults]\ntime = "150ms"\nsize = "8k"\ndirect = false\n{ROWS}'
WAYS = {
    "run": ("run", "job.toml", "place", "--out", "runs", "--no-page"),
    "run, simulated": ("run", "job.toml", "sim:nvme", "--out", "runs", "--no-page"),
    "run, direct": ("run", "direct.toml", "place", "--out", "runs"),
    "card": ("card", "place", "--size", "16MiB", "--time", "20ms", "--out", "runs"),
    "card, simulated": ("card", "sim:hdd", "--size", "64MiB", "--time", "200ms", "--out", "runs"),
    "clean": ("clean", "place"),
}
FILES = {"job.toml": JOB, "direct.toml": JOB.replace("direct = false\n", "")}


def test_there_are_as_many_as_promised() -> None:
    assert TIMES != 20 or KILLS == 250
    assert sum(len(range(part, KILLS, PARTS)) for part in range(PARTS)) == KILLS


@pytest.mark.parametrize("part", range(PARTS))
def test_each_is_followed_by_a_start_that_works(tmp_path: Path, say: Callable[[str], None], part: int) -> None:
    bench, moments = Bench(tmp_path, WAYS, FILES), random.Random(11 if TIMES == 1 else None)
    ends: Counter[str] = Counter()
    rows = 0
    for kill in range(part, KILLS, PARTS):
        way, number = kill_at(kill, WAYS)
        ended, kept = bench.kill(way, number, moments.uniform(0.05, bench.seconds[way]))
        ends[how_it_ended(ended)] += 1
        rows += kept
        bench.check()
        if moments.random() < 0.2:
            bench.cleaned()
    mended = mend_runs(str(bench.runs))
    assert mended.left == ()
    assert {archive.load(folder).status for folder in bench.folders()} <= {"done", "interrupted", "failed"}
    assert ends.total() == len(range(part, KILLS, PARTS))
    say(f"{ends.total()} kills: {dict(ends)}, {rows} ended rows kept, {len(mended.closed)} dead runs closed")
    for way in ("run", "clean"):
        bench.whole(way)
    bench.cleaned()
