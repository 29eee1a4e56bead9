"""The documents tell the truth: docs/reference is what the code says, job files in documents are sound."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

from iocast.jobs import parse_job

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs/guide").glob("*.md"))]


def program(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / f"docs/{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def generated(name: str = "generate") -> dict[str, str]:
    pages: dict[str, str] = program(name).pages()
    return pages


def test_the_map_has_the_rooms_of_the_core_as_they_say_it() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    assert program("generate").core_table() in text, "run: make docs"


def test_the_reference_is_what_the_code_says() -> None:
    reference = ROOT / "docs/reference"
    written = {path.name: path.read_text() for path in sorted(reference.iterdir())}
    wanted = generated()
    stale = sorted(name for name in wanted | written if wanted.get(name) != written.get(name))
    assert stale == [], "run: make docs"


def test_manual_pages_and_completions_are_what_the_code_says() -> None:
    generated()  # lets it find the layout of the reference
    manual = program("manual")
    wanted = manual.installed()
    written = {
        path.relative_to(manual.INSTALLED).as_posix(): path.read_text()
        for path in manual.INSTALLED.rglob("*")
        if path.is_file()
    }
    assert sorted(name for name in wanted | written if wanted.get(name) != written.get(name)) == [], "run: make docs"


@pytest.mark.skipif(shutil.which("groff") is None, reason="no groff to read manual pages with")
def test_manual_pages_are_read_without_a_warning() -> None:
    pages = sorted((ROOT / "docs/installed/data/share/man/man1").iterdir())
    assert len(pages) > 30
    read = subprocess.run(["groff", "-man", "-Tutf8", "-ww", *pages], capture_output=True, text=True, check=True)
    assert read.stderr == ""
    assert "IOCAST-CARD(1)" in read.stdout


def test_the_pages_of_diagnosis_are_what_its_trials_found() -> None:
    generated()  # lets it find the layout of the reference
    wanted = generated("proof")
    pages = [*(ROOT / "docs").glob("diagnosis.md"), *sorted((ROOT / "docs").glob("anomalies/*"))]
    written = {path.relative_to(ROOT / "docs").as_posix(): path.read_text() for path in pages}
    stale = sorted(name for name in wanted | written if wanted.get(name) != written.get(name))
    assert stale == [], "run: make docs"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_job_files_in_documents_are_understood(document: Path) -> None:
    for text in re.findall(r"```toml\n(name = .*?)```", document.read_text(), re.DOTALL):
        job = parse_job(text, document.name)
        assert job.phases or job.database
