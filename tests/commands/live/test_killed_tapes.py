"""iocast watch --record under kill -9: what was shown is kept, is played, and becomes a whole tape by `runs --mend`."""

from __future__ import annotations

import json
import random
import subprocess
import threading
import time
from pathlib import Path

import pytest
from makers.command_line import IOCAST
from makers.left_out import long_after

from iocast import archive
from iocast.archive.file_names import SAMPLES
from iocast.archive.folder_changes import delete_run
from iocast.sessions.live.playing import Playing

TIMES = 5


def _iocast(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*IOCAST, *words], cwd=cwd, capture_output=True, text=True, timeout=120)


def _killed(place: Path, *words: str, lines: int, later_s: float) -> list[str]:
    """The whole lines that a watch had printed when it was killed, `later_s` after it had printed so many."""
    command = [*IOCAST, "watch", *words, "--interval", "100ms", "--record", "."]
    watching = subprocess.Popen(command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert watching.stdout is not None
    killing = threading.Timer(60, watching.kill)
    killing.start()
    try:
        shown = [watching.stdout.readline() for _ in range(lines)]
        time.sleep(later_s)
    finally:
        watching.kill()
        killing.cancel()
    rest = watching.stdout.read()
    watching.wait()
    watching.stdout.close()
    return [line for line in "".join((*shown, rest)).splitlines(keepends=True) if line.endswith("\n")]


def _folder(place: Path) -> str:
    (folder,) = [path.name for path in place.iterdir()]
    return folder


@pytest.mark.parametrize("number", long_after(1, range(TIMES)))
def test_what_was_shown_before_a_kill_is_on_the_tape(tmp_path: Path, number: int) -> None:
    drawn = random.Random(number)
    shown = _killed(tmp_path, "iostat", "--json", lines=drawn.randrange(1, 12), later_s=drawn.uniform(0, 0.4))
    assert shown
    folder = _folder(tmp_path)
    (open_reel,) = (tmp_path / folder / SAMPLES).iterdir()
    assert open_reel.name == "000.jsonl"
    played = _iocast("watch", "iostat", "--json", "--tape", folder, cwd=tmp_path)
    assert played.returncode == 0, played.stderr
    lines = played.stdout.splitlines(keepends=True)
    assert lines[: len(shown)] == shown
    moments = {json.loads(line)["time_ns"] for line in lines} - {json.loads(line)["time_ns"] for line in shown}
    assert len(moments) <= 1, "one more may have been written, and not yet shown"


@pytest.mark.long
def test_a_dead_tape_is_played_reported_and_mended(tmp_path: Path) -> None:
    shown = _killed(tmp_path, "iostat", "--json", lines=6, later_s=0)
    folder = _folder(tmp_path)
    played = _iocast("watch", "iostat", "--json", "--tape", folder, cwd=tmp_path).stdout
    assert played.startswith("".join(shown))
    screen = _iocast("top", folder, "--plain", cwd=tmp_path)
    assert screen.returncode == 0, screen.stderr
    report = _iocast("report", folder, cwd=tmp_path)
    assert report.returncode == 0, report.stderr
    assert "Watched for" in report.stdout
    assert "dead" in _iocast("runs", ".", cwd=tmp_path).stdout
    assert (tmp_path / folder / SAMPLES / "000.jsonl").exists(), "reading changes nothing"

    mended = _iocast("runs", ".", "--mend", cwd=tmp_path)
    assert mended.returncode == 0, mended.stderr
    assert [file.name for file in (tmp_path / folder / SAMPLES).iterdir()] == ["000.parquet"]
    run = archive.load(str(tmp_path / folder))
    assert (run.status, len(run.phases)) == ("interrupted", 1)
    assert run.phases[0].measurement.elapsed_ns > 0
    assert _iocast("watch", "iostat", "--json", "--tape", folder, cwd=tmp_path).stdout == played
    assert _iocast("top", folder, "--plain", cwd=tmp_path).stdout == screen.stdout


@pytest.mark.long
def test_what_a_killed_mending_left_is_deleted_with_the_tape(tmp_path: Path) -> None:
    _killed(tmp_path, "iostat", lines=1, later_s=0.3)
    folder = tmp_path / _folder(tmp_path)
    left = (folder / SAMPLES / "000.jsonl").read_bytes()
    assert archive.mend(str(folder))
    (folder / SAMPLES / "000.jsonl").write_bytes(left)
    moments = list(Playing(str(folder)).moments(lambda: False))
    assert len({each.time_ns for each in moments}) == len(moments), "a reel that is a table is not read twice"
    assert delete_run(str(folder)) == ()
    assert not folder.exists()
