"""Cases that hypothesis draws: the same in each `make test`, others in each `make fuzz`; of files and of all else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DRAWS = """
from hypothesis import given, settings, strategies as st
from makers.mutations import fuzzing, mutations

@{settings}
@given({cases})
def test_draws(drawn):
    print("drew", drawn)
"""


def _drawn(tmp_path: Path, kind: str, **environment: str) -> str:
    settings, cases = {
        "files": ("fuzzing(5)", "mutations()"),
        "others": ("settings(max_examples=20)", "st.floats(0, 1)"),
    }[kind]
    (tmp_path / "test_draws.py").write_text(DRAWS.format(settings=settings, cases=cases))
    words = (sys.executable, "-m", "pytest", "-s", "-p", "no:cacheprovider", "-c", str(ROOT / "pyproject.toml"))
    clean = {name: value for name, value in os.environ.items() if name not in ("IOCAST_FUZZ", "CI")}
    ended = subprocess.run(
        [*words, f"--confcutdir={ROOT}", "-p", "conftest", str(tmp_path / "test_draws.py")],
        **{"cwd": ROOT, "env": clean | environment, "capture_output": True, "text": True, "check": True},
    )
    lines = [line.partition("drew ")[2] for line in ended.stdout.splitlines() if "drew " in line]
    assert len(lines) >= 5, ended.stdout
    return "\n".join(lines)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["files", "others"])
def test_make_test_draws_the_same_cases_and_make_fuzz_others(tmp_path: Path, kind: str) -> None:
    assert _drawn(tmp_path, kind) == _drawn(tmp_path, kind)
    assert _drawn(tmp_path, kind, IOCAST_FUZZ="1") != _drawn(tmp_path, kind, IOCAST_FUZZ="1")
    assert _drawn(tmp_path, kind, IOCAST_FUZZ="1", CI="true") != _drawn(tmp_path, kind, IOCAST_FUZZ="1", CI="true")
