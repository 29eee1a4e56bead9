"""This repository keeps its own rules (house_rules.py); an offence is reported as `file: what`."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path

import house_rules
import pytest

ROOT = Path(__file__).resolve().parents[1]

TRACKED_RULES = [house_rules.addresses, house_rules.dead_links]
RULES = [
    house_rules.arrows,
    house_rules.heavy_imports,
    house_rules.too_long,
    house_rules.crowded,
    house_rules.private_imports,
    house_rules.circles,
    house_rules.doors_in_tests,
    house_rules.speech,
    house_rules.names,
    house_rules.docstrings,
    house_rules.plug_ins,
    house_rules.examples,
    house_rules.unmapped,
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_tree_keeps_the_rule(rule: Callable[[Path], list[str]]) -> None:
    assert "\n".join(rule(ROOT)) == ""


@pytest.mark.parametrize("rule", [house_rules.addresses, house_rules.dead_links], ids=lambda rule: rule.__name__)
def test_tracked_files_keep_the_rule(rule: Callable[[Path, list[Path]], list[str]]) -> None:
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("which files are tracked cannot be asked: no git here")
    assert "\n".join(rule(ROOT, house_rules.tracked(ROOT))) == ""


def test_the_locked_packages_carry_hashes_and_satisfy_the_project() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    pinned = {name.lower() for name in re.findall(r"^([\w.-]+)==", lock, re.MULTILINE)}
    entries = re.split(r"\n(?=[\w.-]+==)", lock)
    assert [entry for entry in entries if "==" in entry and "--hash=sha256:" not in entry] == []
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    asked = project["project"]["dependencies"] + project["dependency-groups"]["dev"]
    assert {re.split(r"[<>=!~ \[]", name)[0].lower() for name in asked} <= pinned


def test_the_readme_starts_with_the_two_commands() -> None:
    lines = [line for line in (ROOT / "README.md").read_text().splitlines() if line and not line.startswith("```")]
    assert lines[0].startswith("# ")
    assert [line.split("#")[0].strip() for line in lines[1:3]] == ["make card", "make test"]


def test_decisions_are_numbered_and_dated() -> None:
    decisions = sorted((ROOT / "docs/decisions").glob("[0-9]*.md"))
    assert [int(path.name[:4]) for path in decisions] == list(range(1, len(decisions) + 1))
    for path in decisions:
        head = path.read_text().splitlines()
        assert head[0].startswith(f"# {int(path.name[:4])}. "), path.name
        assert re.fullmatch(r"\d{4}-\d\d-\d\d · .+", head[2]), path.name


def test_the_ratchet_is_in_order() -> None:
    text = (ROOT / house_rules.RATCHET).read_text()
    assert text == json.dumps(json.loads(text), indent=2, sort_keys=True) + "\n"
