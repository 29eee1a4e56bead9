"""A directory with files of others in which iocast is killed: what it said and what is kept are compared."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from makers.command_line import start

from iocast import archive
from iocast.archive.catalogue import run_folders
from iocast.sessions.clean_up import clean_up

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGKILL, signal.SIGHUP, signal.SIGQUIT)
_ENDED = re.compile(r"^\[ *\d+/\d+\] (?!lay out|warm |.*interrupted)", re.MULTILINE)  # said once a row is saved
_LEFTOVERS = re.compile(r"iocast-work\.\w+\.dat(\.iocast)?(\.[0-9a-f]{16})?")
_FOREIGN = ("data", "iocast-work.9.dat", "iocast-work.0.dat.old", "notes.iocast", "link")
_IN_GROUPS = 6  # levels below the folder of runs

Ways = Mapping[str, tuple[str, ...]]


def kill_at(kill: int, ways: Ways) -> tuple[str, signal.Signals]:
    """Which way is killed by which signal: over time each by each."""
    return list(ways)[kill % len(ways)], SIGNALS[(kill % len(ways) + kill // len(ways)) % len(SIGNALS)]


class Bench:
    """Files of others in `place`, runs in `runs`, and how long each way takes when nobody kills it."""

    def __init__(self, folder: Path, ways: Ways, files: Mapping[str, str], most_runs: int = 1) -> None:
        self.folder, self.place, self.runs = folder, folder / "place", folder / "runs"
        self._ways, self._most_runs = ways, most_runs
        self.place.mkdir()
        for name, text in files.items():
            (folder / name).write_text(text)
        for name in _FOREIGN[:-1]:
            (self.place / name).write_text(f"precious {name}")
        (self.place / _FOREIGN[-1]).symlink_to(self.place / "data")
        self._foreign = self._as_it_is()
        self.seconds = {way: self.whole(way) for way in ways}

    def _as_it_is(self) -> dict[str, tuple[int, bytes]]:
        return {name: ((self.place / name).lstat().st_ino, (self.place / name).read_bytes()) for name in _FOREIGN}

    def whole(self, way: str) -> float:
        """Runs it to its end; how long that took."""
        began = time.monotonic()
        run = start(*self._ways[way], cwd=self.folder)
        _, errors = run.communicate(timeout=120)
        assert run.returncode == 0, (way, errors)
        return time.monotonic() - began

    def forget(self, out: str) -> None:
        """Removes what was measured into that folder."""
        shutil.rmtree(self.folder / out)

    def folders(self) -> set[str]:
        """All run folders."""
        return set(run_folders(str(self.runs), _IN_GROUPS)) if self.runs.exists() else set()

    def kill(self, way: str, number: signal.Signals, at_s: float) -> tuple[int, int]:
        """Starts it and kills it then; returns how it ended, and the rows that had ended."""
        before = self.folders()
        run = start(*self._ways[way], cwd=self.folder)
        try:
            run.wait(at_s)
        except subprocess.TimeoutExpired:
            run.send_signal(number)
        _, errors = run.communicate(timeout=60)
        if "Traceback" in errors and "run_command_line" not in errors:
            return run.returncode, 0  # Python was starting: iocast could not take signals yet
        assert "Traceback" not in errors, errors
        assert run.returncode in (0, -number, 128 + number), (way, number, errors)
        rows = len(_ENDED.findall(errors))
        new = self.folders() - before
        assert len(new) <= self._most_runs
        kept = sum(len(archive.load(folder).measured) for folder in new)
        assert kept >= rows, (way, number, errors)
        return run.returncode, rows

    def check(self) -> None:
        """Nothing of others has changed, and what is there besides is ours."""
        assert self._as_it_is() == self._foreign
        ours = {each.name for each in self.place.iterdir()} - set(self._foreign)
        assert all(_LEFTOVERS.fullmatch(name) for name in ours), ours

    def cleaned(self) -> None:
        """What kills left in the directory is removed, all of it."""
        assert clean_up(str(self.place)).left == ()
        assert {each.name for each in self.place.iterdir()} == set(self._foreign)


def how_it_ended(code: int) -> str:
    """In one of three words."""
    return "not met" if code == 0 else "killed" if code == -signal.SIGKILL else "asked to stop"
