"""Carries out the recipes of docs/recipes: reads their files and list lines, and adds them to a copy of the tree."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

import house_rules
from makers import command_line

ROOT = Path(__file__).resolve().parents[2]
RECIPES = ROOT / "docs/recipes"
FILES = ("CONTRIBUTING.md", "ARCHITECTURE.md", "pyproject.toml", "Cargo.toml", "Cargo.lock", "rustfmt.toml")
_STEP = re.compile(r"^\d\. \*\*(.+?)\*\*(.*?)(?=^\d\. \*\*|\Z)", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"^   ```\w+\n(.*?)^   ```$", re.MULTILINE | re.DOTALL)
_EDIT = re.compile(
    r"`(?P<path>[\w/-]+\.(?:py|rs))`"
    r"|(?:`(?P<line>[^`]+)` |\band )(?P<where>among|above|below|at the (?:end|front) of) `(?P<anchor>[^`]+)`"
    r"|(?P<again>at the end of) `(?P<other>[^`]+)`"
)


class Edit(NamedTuple):
    """A line that goes into a list."""

    path: str
    line: str
    where: str
    anchor: str


class Recipe(NamedTuple):
    """What one section says: the files with their texts, the test among them, and the list lines."""

    path: str
    text: str
    test: str
    test_text: str
    edits: tuple[Edit, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """Every file that it makes or changes."""
        return tuple(dict.fromkeys((self.path, self.test, *(edit.path for edit in self.edits))))


def recipe(kind: str) -> Recipe:
    """The recipe of a kind of plug-in."""
    document = (RECIPES / f"{kind}.md").read_text(encoding="utf-8")
    steps: dict[str, str] = dict(_STEP.findall(document))
    path, text = _file(steps["One file"])
    test, test_text = _file(steps["One test"])
    return Recipe(path, text, test or path, test_text, tuple(edit for body in steps.values() for edit in _edits(body)))


def _file(step: str) -> tuple[str, str]:
    """The path that a step begins with, "" for none, and its block of code."""
    named = re.match(r", `([\w/.-]+)`", step)
    (block,) = _BLOCK.findall(step)
    return named[1] if named else "", textwrap.dedent(block)


def _edits(step: str) -> list[Edit]:
    """The list lines of a step, in the order of its sentences."""
    edits: list[Edit] = []
    path = line = ""
    for found in _EDIT.finditer(re.sub(r"\s*\n\s*", " ", _BLOCK.sub("", step))):
        path, line = found["path"] or path, found["line"] or line
        where, anchor = found["where"] or found["again"], found["anchor"] or found["other"]
        if where:
            edits.append(Edit(path, line, where, anchor))
    return edits


class Copy:
    """A copy of the tree, in which recipes are carried out."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.place = root / "place"  # for work files
        self.place.mkdir()

    @classmethod
    def of_tree(cls, root: Path) -> Copy:
        """What the recipes touch and the rules read."""
        excluded = shutil.ignore_patterns("*.png", "*.svg", "golden", "fixtures", "examples", "version_1")
        for folder in ("src", "tests", "docs"):
            shutil.copytree(ROOT / folder, root / folder, ignore=excluded)
        shutil.copytree(ROOT / "crates", root / "crates")
        for name in FILES:
            shutil.copy2(ROOT / name, root / name)
        return cls(root)

    def copied(self, root: Path) -> Copy:
        """Another one."""
        shutil.copytree(self.root, root, ignore=shutil.ignore_patterns("place"))
        return Copy(root)

    def write(self, plug_in: Recipe) -> None:
        """Steps 1 and 3: the file and its test, which may stand at its end."""
        assert not (self.root / plug_in.path).exists(), f"{plug_in.path} is there already"
        for path, text in ((plug_in.path, plug_in.text), (plug_in.test, plug_in.test_text)):
            file = self.root / path
            before = f"{file.read_text(encoding='utf-8')}\n" if text == plug_in.test_text and file.exists() else ""
            file.write_text(before + text, encoding="utf-8")

    def enter(self, plug_in: Recipe) -> None:
        """Step 2: the list lines."""
        for edit in plug_in.edits:
            file = self.root / edit.path
            file.write_text(entered(file.read_text(encoding="utf-8"), edit), encoding="utf-8")

    def run(self, *command: str) -> str:
        """Runs a Python module or script in the copy; returns what it says. It must succeed."""
        done = subprocess.run(
            [sys.executable, *command],
            cwd=self.root,
            env=command_line.environment(PYTHONPATH=str(self.root / "src")),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def iocast(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        """Runs the copy's `iocast`."""
        return command_line.iocast(*arguments, cwd=self.root, PYTHONPATH=str(self.root / "src"))

    def measured(self, target: str | Path, *arguments: str) -> Path:
        """The folder of a run of two short rows."""
        out = self.root / "runs"
        shutil.rmtree(out, ignore_errors=True)
        done = self.iocast("run", command_line.small_job(self.root, direct=False), target, "--out", out, *arguments)
        assert done.returncode == 0, done.stderr
        return command_line.run_folder(out)

    def complaints(self) -> list[str]:
        """What the house says of its plug-ins."""
        return house_rules.plug_ins(self.root)


def entered(text: str, edit: Edit) -> str:
    """A text with a line more, where the edit says."""
    lines = text.splitlines()
    beside = edit.where in ("above", "below")
    named = re.compile(re.escape(edit.anchor) + ("$" if beside else r"(?!\w)(.*[(\[{])?$"))
    at = [number for number, line in enumerate(lines) if named.match(line.strip())]
    assert len(at) == 1, f"{edit.path}: `{edit.anchor}` stands there {len(at)} times"
    indent = len(lines[at[0]]) - len(lines[at[0]].lstrip())
    if beside:
        lines.insert(at[0] + (edit.where == "below"), " " * indent + edit.line)
        return "\n".join(lines) + "\n"
    first = at[0] + 1
    end = " " * indent + {"(": ")", "[": "]", "{": "}"}[lines[at[0]][-1]]
    last = next(number for number in range(first, len(lines)) if lines[number].startswith(end))
    place = first if edit.where == "at the front of" else last
    if edit.where == "among":
        place = next((number for number in range(first, last) if lines[number].strip() > edit.line), last)
    lines.insert(place, " " * (indent + 4) + edit.line)
    return "\n".join(lines) + "\n"


def cargo() -> str | None:
    """Where cargo is; None without."""
    return shutil.which("cargo") or shutil.which("cargo", path=os.path.expanduser("~/.cargo/bin"))
