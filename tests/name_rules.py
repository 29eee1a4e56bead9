"""What the house rules ask of names in code: a variable is named by what it holds, a function by what it returns."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

# Words that fit everything, and so say nothing.
_VAGUE = {"found", "told", "seen", "made", "asked"}
_WORD = re.compile(rf"(\b|_)({'|'.join(_VAGUE)})\b", re.IGNORECASE)
_KEPT = {("src/iocast/model/verification.py", "found")}  # a field of run.json


def vague_names(files: Iterable[tuple[str, str]]) -> list[str]:
    """Variables, parameters, fields and functions that are called by such a word."""
    return [
        f"{path}:{line}: {name} says nothing of what it holds: name that"
        for path, text in files
        if _WORD.search(text)  # others need not be parsed
        for line, name in _named(ast.parse(text))
        if name.lstrip("_") in _VAGUE and (path, name) not in _KEPT
    ]


def _named(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield node.lineno, name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name.lower()
