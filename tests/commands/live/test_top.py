"""iocast top from outside: lines in a pipe, the screen in a real terminal, refusals."""

from __future__ import annotations

import json
import os
import subprocess
import sys
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


def test_the_screen_writes_to_no_file_that_the_environment_names(tmp_path: Path) -> None:
    """Textual appends to a log, or replaces a file by a picture of the screen, wherever two variables say."""
    log = tmp_path / "log"
    log.touch()
    textual = {**os.environ, "TEXTUAL_LOG": str(log), "TEXTUAL_SCREENSHOT": "1", "TEXTUAL_SCREENSHOT_LOCATION": "."}
    program = """
from iocast.commands.live import cmd_top
try:
    cmd_top._show(None, "test")
except AttributeError:
    pass  # there is nothing to show
from textual import constants
print(constants.LOG_FILE, constants.SCREENSHOT_DELAY)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], env=textual, cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "None -1\n", done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["log"]
    assert log.read_bytes() == b""
