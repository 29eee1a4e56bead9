"""iocast top from outside: lines in a pipe, the screen in a real terminal, refusals."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from makers.command_line import IOCAST
from makers.left_out import long_after


def _top(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*IOCAST, "top", *words], cwd=cwd, capture_output=True, text=True, timeout=60)


def test_a_pipe_gets_lines_and_a_tape_the_same(tmp_path: Path) -> None:
    live = _top("--interval", "200ms", "--count", "2", "--record", ".", cwd=tmp_path)
    assert live.returncode == 0, live.stderr
    assert live.stdout.count("CPU: ") == 2
    assert "\x1b" not in live.stdout
    folder = next(path.name for path in tmp_path.iterdir())
    assert _top(folder, cwd=tmp_path).stdout == live.stdout
    objects = [json.loads(line) for line in _top(folder, "--json", cwd=tmp_path).stdout.splitlines()]
    assert len(objects) == 2
    assert all(each["devices"] and each["verdict"]["code"] for each in objects)


def test_one_interval_is_none_without_a_verdict(tmp_path: Path) -> None:
    """The first one has none: with --count 1 there never was any."""
    (line,) = _top("--interval", "200ms", "--count", "1", "--json", "--record", ".", cwd=tmp_path).stdout.splitlines()
    assert "first interval" not in json.loads(line)["verdict"]["says"]
    folder = next(path.name for path in tmp_path.iterdir())
    assert _top(folder, "--json", cwd=tmp_path).stdout.splitlines() == [line]


@pytest.mark.parametrize(
    ("words", "said"),
    long_after(
        1,
        [
            (("nowhere",), "is not a run folder"),
            ((".", "--record", "."), "a tape plays"),
            (("--device", "nosuchdisk", "--count", "1"), "does not exist"),
        ],
    ),
)
def test_refusals(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    refused = _top(*words, cwd=tmp_path)
    assert refused.returncode == 2
    assert said in refused.stderr
