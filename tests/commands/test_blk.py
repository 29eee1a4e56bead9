"""`iocast blk` from outside: what it refuses, and one interval of a real machine."""

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
    done = iocast("blk", *options, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "hint: " in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_intervals_are_lines_of_json(tmp_path: Path) -> None:
    done = iocast("blk", "--json", "--interval", "50ms", "--count", "3", cwd=tmp_path)
    if "block tracepoints" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["lost_events"] for line in lines] == [0, 0, 0]
    assert all(line["watched_ns"] > 0 for line in lines)
