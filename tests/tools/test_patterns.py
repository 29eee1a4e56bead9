"""Every pattern, every sniff and every reader of the languages of other tools, on long texts made against them.

Nothing is timed. They run in a process of their own whose processor time is limited: what takes the square of a long
text ends it, and the last line that it wrote says which it was.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import math
import pkgutil
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from makers.hostile_texts import hostile_texts
from makers.left_out import long_but

from iocast import tools
from iocast.errors import SourceError
from iocast.tools import importers
from iocast.tools.source_files import HEAD_CHARACTERS, Head

pytestmark = pytest.mark.slow

SOURCES = sorted(Path(tools.__path__[0]).rglob("*.py"))
LENGTH = 16_384
SECONDS = 5  # of processor time for all texts of one pattern or one sniff; most need a tenth of one
ANYWHERE = {"compile", "escape"}
AGAIN = (
    "\n",
    " \n",
    " ",
    "0",
    ",",
    "0,",
    "1.0 ",
    "{",
    "[",
    '"',
    "a",
    "-",
    ": ",
    "#",
    "\t",
    "10:00:01 ",
    "1-1 ",
    "[DSK:",
)
NAMES = ("any.txt", "any_lat.1.log")
FIXTURES = Path(__file__).parent / "fixtures"
FOLDERS = (FIXTURES, FIXTURES / "logs", Path(__file__).parent / "examples")
LONG = 140_000  # of one line in a file
INSERTED = (" ", "0", ",", "{", "1.0 ", '":', "\n")


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    """All compiled patterns of the room, with where they stand."""
    for found in pkgutil.walk_packages(tools.__path__, f"{tools.__name__}."):
        for name, value in vars(importlib.import_module(found.name)).items():
            if isinstance(value, re.Pattern):
                yield f"{found.name}.{name}", value


def _begin(what: str) -> None:
    """Says what comes, and gives it its time."""
    print(what, flush=True)
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time()) + SECONDS, resource.RLIM_INFINITY))


def attack_patterns() -> None:
    """Searches in everything that is made against each pattern."""
    for name, pattern in {value: (name, value) for name, value in patterns()}.values():
        _begin(name)
        for text in hostile_texts(pattern, LENGTH):
            pattern.search(text)


def attack_sniffs() -> None:
    """Asks each importer about heads of one thing again and again, behind what begins a line, a table or a document."""
    for importer in importers.IMPORTERS:
        for again in AGAIN:
            _begin(f"{importer.__name__}, {again!r}")  # type: ignore[attr-defined]
            for before in ("", "#", "{\n"):
                text = before + again * (HEAD_CHARACTERS // len(again))
                for name in NAMES:
                    importer.sniff(Head(name, text))


def attack_readers() -> None:
    """Reads every fixture with one thing again and again in it: behind half of its middle line, and at its front."""
    with tempfile.TemporaryDirectory() as folder:
        for place, path in enumerate(path for each in FOLDERS for path in sorted(each.glob("*.*"))):
            whole = path.read_text()
            half = len(whole) // 2
            for turn, again in enumerate(INSERTED):
                _begin(f"{path.name}, {again!r}")
                long = again * (LONG // len(again))
                text = f"{whole[:half]}{long}!\n{whole[half:]}" if (place + turn) % 2 else f"{long}\n{whole}"
                odd = Path(folder) / path.name
                odd.write_text(text)
                with contextlib.suppress(SourceError):
                    importers.read((str(odd),))


@pytest.mark.parametrize("attack", long_but((attack_patterns, attack_sniffs, attack_readers), attack_sniffs))
def test_no_text_keeps_them_busy(attack: object) -> None:
    code = f"import sys; sys.path[:0] = {sys.path!r}; from tools import test_patterns as own; own.{attack.__name__}()"  # type: ignore[attr-defined]
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, f"at {ended.stdout.splitlines()[-1:]}: {ended.stderr[-400:]}"


def test_every_pattern_is_one_of_those() -> None:
    """A pattern inside of a call is seen by no test: it has a name at the top of its file."""
    inside = [
        f"{path.name}:{node.lineno}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "re"
        if node.attr.islower() and node.attr not in ANYWHERE
    ]
    assert inside == []
