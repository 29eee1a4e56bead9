"""Parts: what is imported is declared, what is declared is imported, and the smallest installation stays small."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SMALLEST_MB = 150
# Distributions whose module has another name.
MODULES = {"rich-click": "rich_click"}
PROGRAMS = {"mpich"}  # distributions that are run, or loaded by another one


def name_of(requirement: str) -> str:
    """The distribution that a requirement names."""
    return re.split(r"[<>=!~ \\[;(]", requirement)[0].lower()


def declared() -> set[str]:
    """Names of all distributions that the project and its extras ask for."""
    extras = PROJECT["optional-dependencies"].values()
    return {name_of(each) for each in [*PROJECT["dependencies"], *(each for extra in extras for each in extra)]}


def imported() -> set[str]:
    """Top-level modules that the sources import from elsewhere, wherever in a file."""
    found: set[str] = set()
    for path in (ROOT / "src/iocast").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.split(".")[0])
    return found - set(sys.stdlib_module_names) - {"iocast"}


def test_what_is_imported_is_declared_and_what_is_declared_is_imported() -> None:
    assert imported() == {MODULES.get(name, name.replace("-", "_")) for name in declared() - PROGRAMS}


def installed_bytes(requirements: list[str]) -> tuple[int, set[str]]:
    """The size of all files of the given distributions and of what they need in turn, and their names."""
    size_bytes, seen, wanted = 0, set[str](), {name_of(each) for each in requirements}
    while wanted - seen:
        name = min(wanted - seen)
        seen.add(name)
        try:
            part = metadata.distribution(name)
        except metadata.PackageNotFoundError:  # for another platform
            continue
        files = [Path(str(part.locate_file(file))) for file in part.files or ()]
        size_bytes += sum(file.stat().st_size for file in files if file.is_file())
        wanted |= {name_of(each) for each in part.requires or () if "extra ==" not in each}
    return size_bytes, seen


def test_the_smallest_installation_is_small() -> None:
    size_bytes, names = installed_bytes(PROJECT["dependencies"])
    own = sum(path.stat().st_size for path in (ROOT / "src").rglob("*") if path.is_file())
    assert "duckdb" in names
    assert 50 < (size_bytes + own) / 1e6 < SMALLEST_MB, sorted(names)


def test_serve_without_its_extra_says_what_to_install() -> None:
    hidden = "import sys; sys.modules['uvicorn'] = None; from iocast.commands import run_command_line as run; "
    done = subprocess.run(
        [sys.executable, "-c", f"{hidden}sys.exit(run(['serve']))"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == 'error: serve needs uvicorn, which is not installed\n\nhint: pip install "iocast[serve]"\n'
