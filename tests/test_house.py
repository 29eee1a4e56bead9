"""This repository keeps its own rules (house_rules.py); an offence is reported as `file: what`."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path

import house_rules
import opinion_rules
import pytest

ROOT = Path(__file__).resolve().parents[1]

TRACKED_RULES = [house_rules.addresses, house_rules.dead_links]
RULES = [
    house_rules.arrows,
    house_rules.heavy_imports,
    house_rules.too_long,
    house_rules.private_imports,
    house_rules.circles,
    house_rules.doors_in_tests,
    house_rules.speech,
    house_rules.outputs,
    house_rules.wall_clock,
    house_rules.cells,
    house_rules.black_boxes,
    house_rules.foreign_numbers,
    house_rules.names,
    house_rules.docstrings,
    house_rules.plug_ins,
    house_rules.examples,
    house_rules.unmapped,
    opinion_rules.preconditions,
    opinion_rules.finding_codes,
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_tree_keeps_the_rule(rule: Callable[[Path], list[str]]) -> None:
    assert "\n".join(rule(ROOT)) == ""


@pytest.mark.parametrize("rule", [house_rules.addresses, house_rules.dead_links], ids=lambda rule: rule.__name__)
def test_tracked_files_keep_the_rule(rule: Callable[[Path, list[Path]], list[str]]) -> None:
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("which files are tracked cannot be asked: no git here")
    assert "\n".join(rule(ROOT, house_rules.tracked(ROOT))) == ""


@pytest.mark.parametrize(("lock", "group"), [("requirements.lock", "build"), ("dev.lock", "dev")])
def test_the_locked_packages_satisfy_the_project(lock: str, group: str) -> None:
    pinned = {name.lower() for name in re.findall(r"^([\w.-]+)==", (ROOT / lock).read_text(), re.MULTILINE)}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    asked = project["dependency-groups"][group] + (project["project"]["dependencies"] if group == "build" else [])
    assert {re.split(r"[<>=!~ \[]", name)[0].lower() for name in asked} <= pinned


def test_the_readme_starts_with_the_two_commands() -> None:
    lines = [line for line in (ROOT / "README.md").read_text().splitlines() if line and not line.startswith("```")]
    assert lines[0].startswith("# ")
    assert [line.split("#")[0].strip() for line in lines[1:3]] == ["make card", "make test"]


def test_decisions_are_numbered_and_dated() -> None:
    decisions = sorted((ROOT / "docs/decisions").glob("[0-9]*.md"))
    listed = re.findall(r"^\| (\d+) \| folded into ", (ROOT / "docs/decisions/README.md").read_text(), re.MULTILINE)
    numbers = sorted([int(path.name[:4]) for path in decisions] + [int(number) for number in listed])
    assert numbers == list(range(1, len(numbers) + 1))
    for path in decisions:
        head = path.read_text().splitlines()
        assert head[0].startswith(f"# {int(path.name[:4])}. "), path.name
        assert re.fullmatch(r"\d{4}-\d\d-\d\d · .+", head[2]), path.name


def test_the_ratchet_is_in_order() -> None:
    text = (ROOT / house_rules.RATCHET).read_text()
    assert text == json.dumps(json.loads(text), indent=2, sort_keys=True) + "\n"
