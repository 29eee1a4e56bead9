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
# Who may name the codes of others: their list, their relations, what limited a row, the figure by which findings of one
# kind compare, and the words for people.
_CODES = "src/iocast/model/codes.py"
_MAY_NAME = ("relations.py", "by_findings.py", "how_bad.py", "wording.py")
_STUDY = ("analyse", "diagnose", "forecast", "results", "report")
# Words that mean something else there.
_OTHER_MEANING = {
    ("src/iocast/diagnose/detectors/interference/layer_losses.py", "throttle"): "a verdict on layers",
    ("src/iocast/diagnose/live/loss_words.py", "late_statistics"): "the words of a verdict on layers",
    ("src/iocast/diagnose/live/loss_words.py", "throttle"): "the words of a verdict on layers",
    ("src/iocast/diagnose/live/layers_verdict.py", "late_statistics"): "a verdict on layers",
    ("src/iocast/diagnose/live/layers_verdict.py", "throttle"): "a verdict on layers",
    ("src/iocast/report/layers/layers_section.py", "late_statistics"): "a verdict on layers",
    ("src/iocast/report/layers/layers_section.py", "throttle"): "a verdict on layers",
    ("src/iocast/diagnose/experiments/named/request_size.py", "consolidation"): "a verdict of the experiment",
    ("src/iocast/diagnose/trust/components.py", "errors"): "a figure of a component",
    ("src/iocast/report/card/card_report.py", "errors"): "a section, and why a phase stopped",
    ("src/iocast/report/card/card_report.py", "interrupted"): "a state of a run",
    ("src/iocast/report/card/summary_sentences.py", "maintenance"): "the reason why a row was left out",
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


def finding_codes(root: Path) -> list[str]:
    """A finding's code stands in its detector, and where findings meet; others ask relations."""
    codes = _all_codes(root)
    return [
        f"{path}:{number}: {code!r}: ask diagnose/relations.py"
        for room in _STUDY
        for path, text in _sources(root, f"src/iocast/{room}")
        if not path.endswith(_MAY_NAME)
        for number, code in _named(ast.parse(text), codes)
        if (path, code) not in _OTHER_MEANING
    ]


def _all_codes(root: Path) -> set[str]:
    for node in ast.parse((root / _CODES).read_text()).body:
        if isinstance(node, ast.Assign) and [ast.unparse(each) for each in node.targets] == ["FindingCode"]:
            return _strings(node.value)
    return set()


def _strings(node: ast.AST) -> set[str]:
    constants = (each.value for each in ast.walk(node) if isinstance(each, ast.Constant))
    return {value for value in constants if isinstance(value, str)}


def _named(tree: ast.Module, codes: set[str]) -> Iterator[tuple[int, str]]:
    """Codes that a module names and does not declare as its own findings'."""
    declared: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.AnnAssign | ast.Assign) and node.value is not None and "Code" in ast.unparse(node):
            declared |= _strings(node.value)
    figures = {id(key) for node in ast.walk(tree) for key in _keys(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value in codes - declared and id(node) not in figures:
            yield node.lineno, str(node.value)


def _keys(node: ast.AST) -> Iterator[ast.AST]:
    """What a figure is asked for by."""
    if isinstance(node, ast.Subscript):
        yield node.slice
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        yield node.args[0]


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
