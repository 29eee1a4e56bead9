"""The current directory was removed below a shell: each command says so, and none shows a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from makers.left_out import long_after

VERBS = [("run", "oltp", "x"), ("card", "."), ("runs",), ("report", "latest"), ("plan", "oltp", "x"), ("clean", ".")]


@pytest.mark.parametrize("words", long_after(1, map(pytest.param, VERBS)), ids=lambda words: words[0])
def test_a_removed_current_directory_is_said(tmp_path: Path, words: tuple[str, ...]) -> None:
    (place := tmp_path / "gone").mkdir()
    src = str(Path(__file__).resolve().parents[2] / "src")
    program = "import os, sys; os.rmdir(os.getcwd()); from iocast.__main__ import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=place,
        env={**os.environ, "PYTHONPATH": src},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
