"""The tutorials: each command that they show runs, in their order, in one directory."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))


def commands(page: Path) -> list[str]:
    """Those of its console blocks."""
    blocks = re.findall(r"^```console\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [line.removeprefix("$ ") for block in blocks for line in block.splitlines() if line.startswith("$ ")]


@pytest.mark.long
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_each_command_of_a_tutorial_runs(page: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "iocast"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m iocast "$@"\n')
    program.chmod(0o755)
    room = tmp_path / "room"
    room.mkdir()
    env = os.environ | {
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(sys.path),
        "XDG_CONFIG_HOME": str(tmp_path / "home"),
    }
    assert len(commands(page)) >= 5
    for command in commands(page):
        done = subprocess.run(["bash", "-c", command], cwd=room, env=env, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, f"{command}\n{done.stderr}"


def test_there_are_four() -> None:
    assert len(TUTORIALS) == 4
