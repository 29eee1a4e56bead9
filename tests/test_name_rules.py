"""The rule of names is kept, and finds what breaks it."""

from __future__ import annotations

from pathlib import Path

import pytest
from name_rules import vague_names

ROOT = Path(__file__).resolve().parents[1]


def test_names_say_what_they_hold() -> None:
    files = sorted((ROOT / "src/iocast").rglob("*.py"))
    assert vague_names((str(file.relative_to(ROOT)), file.read_text()) for file in files) == []


@pytest.mark.parametrize(
    "text",
    [
        "found = 1",
        "for told in rows: pass",
        "def seen(): pass",
        "def _made(): pass",
        "def f(asked): pass",
        "f = lambda found: found",
        "class Asked: pass",
        "if (made := f()): pass",
    ],
)
def test_a_vague_name_is_found(text: str) -> None:
    assert vague_names([("src/iocast/x.py", text)])


@pytest.mark.parametrize("text", ["rows = found()", "x.found", "f(told=1)", "asked_bytes = 1", "tree_found = 1"])
def test_other_names_are_not(text: str) -> None:
    assert not vague_names([("src/iocast/x.py", text)])
