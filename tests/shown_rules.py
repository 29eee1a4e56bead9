"""What the house rules ask of tables and charts: no cells poured by key, no grammar of dictionaries."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

# Who knows cells: their declaration, what makes them of Structs, and what shows them.
_CELLS = (
    "src/iocast/model/report.py",
    "src/iocast/report/result_tables.py",
    "src/iocast/report/cells.py",
    "src/iocast/report/renderers/",
)
_POURED = re.compile(r"^\s*from iocast\.model\.report import .*\b(Row|Column|Cell)\b|dict\[str, Cell\]")
# Keys of the dictionaries in which charts were stated in the words of Vega-Lite.
_GRAMMAR = {"mark", "encoding", "layers", "field", "scale", "domain", "axis", "x", "y", "x2", "y2", "tip"}
_PLOT = "src/iocast/report/plot/"
_FOREIGN = re.compile(r"^\s*(?:from|import) (iocast(?!\.report\.plot\b)[\w.]*)")


def poured(files: Iterable[tuple[str, str]]) -> list[str]:
    """Tables of cells that are not made of Structs."""
    return [
        f"{path}:{number}: a table of cells: declare a Struct with `shown` fields and call result_table"
        for path, text in files
        if not path.startswith(_CELLS)
        for number, line in enumerate(text.splitlines(), 1)
        if _POURED.search(line)
    ]


def grammar(files: Iterable[tuple[str, str]]) -> list[str]:
    """Charts that are stated in dictionaries, and plots that know what they show."""
    return [f"{path}:{number}: {said}" for path, text in files for number, said in (*_dicts(text), *_lines(path, text))]


def _dicts(text: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(text)):
        keys = [key.value for key in node.keys if isinstance(key, ast.Constant)] if isinstance(node, ast.Dict) else []
        if found := [key for key in keys if key in _GRAMMAR]:
            yield node.lineno, f"a dictionary with {found[0]!r}: take a mark of report/plot/marks.py"


def _lines(path: str, text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        if "dict[str, Any]" in line:
            yield number, "dict[str, Any]: declare a Struct"
        if path.startswith(_PLOT) and (found := _FOREIGN.match(line)):
            yield number, f"{found[1]}: a plot knows nothing of what is plotted"
