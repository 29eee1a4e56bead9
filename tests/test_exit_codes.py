"""The page of exit codes says what is: each of its examples ends with the code of its row."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from makers.command_line import iocast

PAGE = Path(__file__).parents[1] / "docs" / "guide" / "scripts.md"
ROWS = re.findall(r"^\| (\d+) \| .* \| `iocast (.*)` \|$", PAGE.read_text("utf-8"), re.MULTILINE)
JOB = 'name = "j"\n[[phase]]\ntest = "randread"\nsize = "8k"\nusers = 4\ntime = "5s"\n'


def test_each_code_has_an_example() -> None:
    assert [int(code) for code, _ in ROWS] == [0, 1, 2, 3]


@pytest.mark.parametrize(("code", "words"), ROWS)
def test_examples_end_as_the_page_says(code: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "job.toml").write_text(JOB)
    done = iocast(*shlex.split(words), cwd=tmp_path)
    assert done.returncode == int(code), done.stderr
