"""The site of docs/: every page has its place in it, and no link leads nowhere."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
ZENSICAL = ROOT / "target" / "tools" / "venv" / "bin" / "zensical"
ELSEWHERE = ("decisions/", "mutants.md")  # for those who build it: linked from pages, not in the list


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_of_docs", ROOT / "scripts" / "site.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def listed(nav: Any) -> Iterator[str]:
    """The pages of a list, and of the lists in it."""
    for each in nav.values() if isinstance(nav, dict) else nav:
        if isinstance(each, str):
            yield each
        else:
            yield from listed(each)


def test_each_page_has_its_place(script: ModuleType) -> None:
    nav = [*listed(tomllib.loads((DOCS / "site.toml").read_text())["project"]["nav"])]
    assert len(nav) == len({*nav})
    pages = {path.as_posix() for path in script.pages() if path.suffix == ".md"}
    assert {page for page in pages if not page.startswith(ELSEWHERE)} == {*nav}


def test_a_link_out_of_the_documents_is_text(script: ModuleType) -> None:
    text = "[a](../trust.md#x) [b](../../src/iocast/text.py) [c](#d) [e](https://example.org) ![f](g.png)"
    known = {"trust.md"}
    assert script.site_text(Path("guide/page.md"), text, known) == text.replace("[b](../../src/iocast/text.py)", "b")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('<a href="other.html#part">x</a>', ""),
        ('<a href="other.html#lost">x</a>', "page.html: other.html#lost: no such part"),
        ('<a href="gone.html">x</a>', "page.html: gone.html is not there"),
        ('<script src="https://example.org/x.js"></script>', "page.html: loads https://example.org/x.js"),
        ('<a href="https://example.org/">x</a><link rel="canonical" href="https://example.org/y">', ""),
    ],
)
def test_faults_are_named(body: str, said: str, script: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "other.html").write_text('<h2 id="part">y</h2>')
    (tmp_path / "page.html").write_text(body)
    assert list(script.faults(tmp_path)) == ([said] if said else [])


@pytest.mark.long
def test_the_site_is_built_and_no_link_is_dead() -> None:
    if not ZENSICAL.exists():
        pytest.skip("make site installs what builds it")
    words = [sys.executable, "scripts/site.py", "--zensical", str(ZENSICAL)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
