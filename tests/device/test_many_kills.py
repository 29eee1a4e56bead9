"""250 kills at random moments: every row that had ended is kept, nothing of others is touched, the next start works.

IOCAST_FUZZ=20 (`make safety`) makes the 250, `make test` 12.
"""

from __future__ import annotations

import random
import re
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from makers.command_line import start
from makers.mutations import TIMES

from iocast import archive
from iocast.sessions.clean_up import clean_up, mend_runs

pytestmark = pytest.mark.device
KILLS = 25 * TIMES // 2
PARTS = 5 if TIMES >= 5 else 1
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGKILL, signal.SIGHUP, signal.SIGQUIT)
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
ENDED = re.compile(r"^\[ *\d+/\d+\] (?!lay out|.*interrupted)", re.MULTILINE)  # said once a row is saved
LEFTOVERS = re.compile(r"iocast-work\.\w+\.dat(\.iocast)?(\.[0-9a-f]{16})?")


class Bench:
    """A directory with files of others, the runs, and how long each way takes when nobody kills it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.place, self.runs = folder, folder / "place", folder / "runs"
        self.place.mkdir()
        (folder / "job.toml").write_text(JOB)
        (folder / "direct.toml").write_text(JOB.replace("direct = false\n", ""))
        for name in ("data", "iocast-work.9.dat", "iocast-work.0.dat.old", "notes.iocast"):
            (self.place / name).write_text(f"precious {name}")
        (self.place / "link").symlink_to(self.place / "data")
        self.foreign = self._foreign()
        self.seconds = {way: self._whole(way) for way in WAYS}

    def _foreign(self) -> dict[str, tuple[int, bytes]]:
        names = ("data", "iocast-work.9.dat", "iocast-work.0.dat.old", "notes.iocast", "link")
        return {name: ((self.place / name).lstat().st_ino, (self.place / name).read_bytes()) for name in names}

    def _whole(self, way: str) -> float:
        began = time.monotonic()
        run = start(*WAYS[way], cwd=self.folder)
        _, errors = run.communicate(timeout=60)
        assert run.returncode == 0, (way, errors)
        return time.monotonic() - began

    def folders(self) -> set[str]:
        return {str(each) for each in self.runs.glob("[0-9]*")}

    def kill(self, way: str, number: int, at_s: float) -> tuple[int, int]:
        """Starts it and kills it then; returns how it ended, and the rows that had ended."""
        before = self.folders()
        run = start(*WAYS[way], cwd=self.folder)
        try:
            run.wait(at_s)
        except subprocess.TimeoutExpired:
            run.send_signal(number)
        _, errors = run.communicate(timeout=60)
        if "Traceback" in errors and "run_command_line" not in errors:
            return run.returncode, 0  # Python was starting: iocast could not take signals yet
        assert "Traceback" not in errors, errors
        assert run.returncode in (0, -number, 128 + number), (way, number, errors)
        rows = len(ENDED.findall(errors))
        made = self.folders() - before
        assert len(made) <= 1
        kept = sum(len(archive.load(folder).measured) for folder in made)
        assert kept >= rows, (way, number, errors)
        return run.returncode, rows

    def check(self) -> None:
        """Nothing of others has changed, and what is there besides is ours."""
        assert self._foreign() == self.foreign
        ours = {each.name for each in self.place.iterdir()} - set(self.foreign)
        assert all(LEFTOVERS.fullmatch(name) for name in ours), ours

    def cleaned(self) -> None:
        """What kills left in the directory is removed, all of it."""
        assert clean_up(str(self.place)).left == ()
        assert {each.name for each in self.place.iterdir()} == set(self.foreign)


def test_there_are_as_many_as_promised() -> None:
    assert TIMES != 20 or KILLS == 250
    assert sum(len(range(part, KILLS, PARTS)) for part in range(PARTS)) == KILLS


@pytest.mark.parametrize("part", range(PARTS))
def test_each_is_followed_by_a_start_that_works(tmp_path: Path, say: Callable[[str], None], part: int) -> None:
    bench, moments = Bench(tmp_path), random.Random(11 if TIMES == 1 else None)
    ends: Counter[str] = Counter()
    rows = 0
    for kill in range(part, KILLS, PARTS):
        way, number = list(WAYS)[kill % len(WAYS)], SIGNALS[(kill + kill // len(WAYS)) % len(SIGNALS)]
        ended, kept = bench.kill(way, number, moments.uniform(0.05, bench.seconds[way]))
        ends["not met" if ended == 0 else "killed" if ended == -signal.SIGKILL else "asked to stop"] += 1
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
        run = start(*WAYS[way], cwd=tmp_path)
        _, errors = run.communicate(timeout=60)
        assert run.returncode == 0, errors
    bench.cleaned()
