"""What the tests of importers share: their fixtures, made with the tools themselves or by hand in their format."""

from __future__ import annotations

from pathlib import Path

import pytest

from iocast.model.run import Run
from iocast.tools import importers

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.fixture
def fixtures() -> Path:
    """The folder of result files."""
    return FIXTURES


@pytest.fixture
def read_all(tmp_path: Path):  # type: ignore[no-untyped-def]
    """Reads texts (name, content) as files given together; they must become one run."""

    def read(*texts: tuple[str, str]) -> Run:
        paths = []
        for name, text in texts:
            (tmp_path / name).write_text(text, encoding="utf-8")
            paths.append(str(tmp_path / name))
        (run,) = importers.read(tuple(paths))
        return run

    return read
