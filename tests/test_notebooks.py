"""The notebooks of examples/ show what their cells answer today: simulated devices answer the same on every machine."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("notebooks", ROOT / "scripts" / "notebooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.long
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_its_cells_answer(path: Path, script: ModuleType) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    kept = [cell["outputs"] for cell in script.code_cells(notebook)]
    assert any(kept)
    assert list(script.shown(notebook)) == kept, "make notebooks"


def test_there_are_three() -> None:
    assert len(NOTEBOOKS) == 3
