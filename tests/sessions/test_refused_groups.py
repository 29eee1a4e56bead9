"""A refused or stopped ab, repeat or calibrate --repeat leaves no folder; what was measured stays."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from makers.command_line import iocast, small_job

from iocast.sessions.comparing import group_folder


def _refused(place: Path, *arguments: str) -> str:
    before = sorted(os.listdir(place))
    done = iocast(*arguments, cwd=place)
    assert done.returncode == 2, done.stderr
    assert sorted(os.listdir(place)) == before
    return done.stderr


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A job that writes, a directory, a file of somebody, a work file name that is taken."""
    small_job(tmp_path)
    (tmp_path / "good").mkdir()
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "iocast-work.0.dat").write_text("mine")
    (tmp_path / "file").write_bytes(b"x" * (8 << 20))
    (tmp_path / "bad.toml").write_text("[[phase]]\nno = 1\n")
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ("repeat", "2", "nothing.toml"),
        ("repeat", "2", "bad.toml"),
        ("repeat", "2", "small.toml", "missing"),
        ("repeat", "2", "small.toml", "file"),
        ("repeat", "2", "small.toml", "taken"),
        ("repeat", "2", "small.toml", "good", "--size", "1PiB"),
        ("repeat", "2", "small.toml", "good", "--destroy", "other"),
        ("ab", "small.toml", "good", "missing"),
        ("ab", "small.toml", "good", "file"),
        ("ab", "small.toml", "file", "good"),
        ("ab", "small.toml", "good", "taken"),
        ("ab", "small.toml", "taken", "good"),
        ("ab", "small.toml", "good", "good", "--destroy", "other"),
        ("calibrate", "taken", "--max-latency", "5ms", "--repeat", "2"),
        ("calibrate", "missing", "--max-latency", "5ms", "--repeat", "2"),
        ("repeat", "2", "small.toml", "good", "-o", "no/such/card.html"),
        ("ab", "small.toml", "good", "good", "-o", "small.toml"),
    ],
)
def test_a_refusal_leaves_no_folder(place: Path, arguments: tuple[str, ...]) -> None:
    assert _refused(place, *arguments).startswith("error: ")
    assert not os.listdir(place / "good")


def test_a_second_side_that_is_refused_costs_no_first_run(place: Path) -> None:
    """Side A was measured before side B was refused, and its folder stayed."""
    for seed in ("1", "2"):
        said = _refused(place, "ab", "small.toml", "good", "taken", "--seed", seed)
        assert "round 1" not in said


def test_the_folders_above_it_that_were_there_stay(place: Path) -> None:
    (place / "runs").mkdir()
    _refused(place, "repeat", "2", "small.toml", "taken", "--out", "runs")
    _refused(place, "repeat", "2", "small.toml", "taken", "--out", "runs/new/deep")
    assert not os.listdir(place / "runs")


def test_an_empty_group_of_a_killed_process_is_taken_away_by_the_next(tmp_path: Path) -> None:
    program = (
        "import os, sys\nfrom iocast.sessions.comparing import group_folder\n"
        "with group_folder(sys.argv[1], 'ab-killed') as folder:\n"
        "    os.mkdir(folder + '/A')\n    os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", program, tmp_path], check=False)
    (killed,) = tmp_path.iterdir()
    assert [each.name for each in killed.iterdir()] == ["A"]
    mine, link = tmp_path / "mine", tmp_path / "2026-01-01T000000-ab-link"
    measured = tmp_path / "2026-01-01T000000-repeat-measured"
    kept = {mine, link, measured}
    (measured / "2026-01-01T000000-run").mkdir(parents=True)
    mine.mkdir()
    link.symlink_to(mine)
    with group_folder(str(tmp_path), "repeat-lives") as lives, group_folder(str(tmp_path), "ab-next") as following:
        assert {*map(str, kept), lives, following} == {str(each) for each in tmp_path.iterdir()}
    assert set(tmp_path.iterdir()) == kept
