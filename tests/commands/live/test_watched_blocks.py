"""`iocast watch blk` from outside: what it refuses, and one interval of a real machine."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from makers.command_line import iocast


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("nix0",), "block device nix0 does not exist"),
        (("--micro",), "--micro and --queue need --iolatency"),
        (("--interval", "1ms"), "--interval 1ms is too short"),
        (("--slow", "soon"), "soon"),
    ],
)
def test_mistakes_are_refused_before_anything_is_traced(options: tuple[str, ...], said: str, tmp_path: Path) -> None:
    done = iocast("watch", "blk", *options, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "hint: " in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_intervals_are_lines_of_json(tmp_path: Path) -> None:
    done = iocast("watch", "blk", "--json", "--interval", "50ms", "--count", "3", cwd=tmp_path)
    if "block tracepoints" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["lost_events"] for line in lines] == [0, 0, 0]
    assert all(line["watched_ns"] > 0 for line in lines)


def test_what_it_was_called_before_names_what_it_is_called_now(tmp_path: Path) -> None:
    done = iocast("blk", "vda", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == 'error: unknown command "blk"; did you mean "iocast watch blk"?\n\nhint: see iocast --help\n'


def test_its_options_come_behind_it(tmp_path: Path) -> None:
    done = iocast("watch", "--count", "3", "blk", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: options of blk come behind it\n\nhint: iocast watch blk [OPTIONS] [DEVICE]...\n"


def test_it_has_a_help_of_its_own(tmp_path: Path) -> None:
    shown = iocast("watch", "blk", "--help", cwd=tmp_path).stdout
    assert "Usage: iocast watch blk [OPTIONS] [DEVICE]..." in shown
    assert "--slow" in shown
