"""What the house rules ask of opinions: preconditions by name, and a finding's code in few places."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

_DETECTORS = "src/iocast/diagnose/detectors/"
# What `diagnose/preconditions.py` knows: attributes of a row or a run, and functions of them.
_FACTS = {
    "imported": "MEASURED_HERE",
    "simulated": "REAL_DEVICE",
    "files_whole": "NEW_FILES",
    "is_open_loop": "CLOSED_LOOP",
    "arrival": "NO_PAUSES",
    "together": "ALONE",
    "is_past_the_host": "PAST_THE_HOST",
    "is_really_direct": "DIRECT",
    "only_reads": "ONLY_READS",
    "only_writes": "ONLY_WRITES",
}
_CALLS = {
    "waited_for_a_processor": "NOT_SHORT_OF_CPU",
    "stood_still": "NEVER_STILL",
    "is_open_loop": "CLOSED_LOOP",
}


def preconditions(root: Path) -> list[str]:
    """A detector declares ONLY, and asks no row itself what a precondition asks."""
    return [
        f"{path}:{number}: {said}"
        for path, text in _sources(root, _DETECTORS)
        for number, said in _spelled(ast.parse(text))
    ]


def _sources(root: Path, folder: str) -> Iterator[tuple[str, str]]:
    for path in sorted((root / folder).rglob("*.py")):
        yield path.relative_to(root).as_posix(), path.read_text()


def _spelled(tree: ast.Module) -> Iterator[tuple[int, str]]:
    detects = any(isinstance(node, ast.FunctionDef) and node.name == "detect" for node in tree.body)
    declares = {node.target.id for node in tree.body if isinstance(node, ast.AnnAssign) and hasattr(node.target, "id")}
    if detects and "ONLY" not in declares:
        yield 1, "a detector declares ONLY: the preconditions of its rows, () for none"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in _FACTS:
            yield node.lineno, f".{node.attr}: take {_FACTS[node.attr]} of diagnose/preconditions.py"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CALLS:
            yield node.lineno, f"{node.func.id}(): take {_CALLS[node.func.id]} of diagnose/preconditions.py"
