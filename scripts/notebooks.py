"""Runs the cells of the notebooks in examples/notebooks, and writes what they show into them: `make notebooks`.

It does what a kernel does with cells of plain Python: one namespace, what is printed, and the value of a last
expression. A cell whose value is shown as a page gets no output here: Jupyter shows it when the cell is run.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).resolve().parent.parent / "examples" / "notebooks"


def shown(notebook: dict[str, Any]) -> Iterator[list[dict[str, Any]]]:
    """The outputs of each code cell, run in order in a directory that is removed afterwards."""
    space: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="iocast-notebook-") as room, contextlib.chdir(room):
        for number, cell in enumerate(code_cells(notebook), 1):
            yield list(_outputs("".join(cell["source"]), number, space))


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Those that are run."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def _outputs(source: str, number: int, space: dict[str, Any]) -> Iterator[dict[str, Any]]:
    body = ast.parse(source)
    last = body.body.pop() if body.body and isinstance(body.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(body, f"cell {number}", "exec"), space)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), space)
    if printed.getvalue():
        yield {"name": "stdout", "output_type": "stream", "text": _lines(printed.getvalue())}
    if value is not None and not hasattr(value, "_repr_html_"):
        text = {"text/plain": _lines(repr(value).rstrip("\n"))}
        yield {"data": text, "execution_count": number, "metadata": {}, "output_type": "execute_result"}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def main() -> int:
    """All of them, or those that are named."""
    os.environ.setdefault("COLUMNS", "120")
    for path in [Path(name) for name in sys.argv[1:]] or sorted(NOTEBOOKS.glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for number, (cell, outputs) in enumerate(zip(code_cells(notebook), list(shown(notebook)), strict=True), 1):
            cell["outputs"], cell["execution_count"] = outputs, number
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(path.name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
