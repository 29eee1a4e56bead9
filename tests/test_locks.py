"""Nothing is built or installed but what the locks say, and no advisories are claimed that were not looked up."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
RESOLVES = re.compile(r"\bcargo (build|run|test|clippy|check|doc|bench|install|mutants)\b(?P<rest>.*)")
PROSE = ("docs/decisions", "docs/mutants.md", "docs/reference")  # they name programs, and give no commands
PYTHON_OK = {"dependencies": [{"name": "one", "version": "1", "vulns": []}]}
PYTHON_KNOWN = {"dependencies": [{"name": "urllib3", "version": "1.26.0", "vulns": [{"id": "PYSEC-1"}]}]}
RUST_KNOWN = {"package": {"name": "time", "version": "0.1.43"}, "advisory": {"id": "RUSTSEC-1", "title": "known"}}


def _texts() -> list[Path]:
    named = [ROOT / name for name in ("Makefile", "README.md", "CONTRIBUTING.md", ".ci/run", ".ci/fuzz")]
    below = [path for room in ("scripts", "bench", "docs", "tests") for path in (ROOT / room).rglob("*")]
    kept = [path for path in below if path.is_file() and path.suffix in ("", ".py", ".md", ".sh")]
    return [path for path in (*named, *kept) if not str(path.relative_to(ROOT)).startswith(PROSE)]


def test_cargo_is_told_everywhere_to_take_what_is_locked() -> None:
    bad = []
    for path in _texts():
        if path == Path(__file__):
            continue
        text = path.read_text(encoding="utf-8", errors="replace").replace("\\\n", " ")
        for found in RESOLVES.finditer(text):
            bare = found["rest"].startswith(("`", ":"))  # a name in a sentence
            if not re.search(r"--locked|\$\(LOCKED\)", found["rest"]) and not bare:
                bad.append(f"{path.relative_to(ROOT)}: {found.group()[:80]}")
    assert bad == []
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["maturin"]["locked"] is True


@pytest.mark.parametrize("lock", ["requirements.lock", "dev.lock", "tools.lock"])
def test_every_locked_package_has_its_hashes(lock: str) -> None:
    text = (ROOT / lock).read_text()
    packages = re.findall(r"^(\S+)==(\S+).*?(?=^\S|\Z)", text, re.MULTILINE | re.DOTALL)
    blocks = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]
    assert packages
    assert [block.splitlines()[0] for block in blocks if "--hash=sha256:" not in block] == []


def _locked(lock: str) -> dict[str, str]:
    return dict(re.findall(r"^(\S+)==(\S+)", (ROOT / lock).read_text(), re.MULTILINE))


def test_what_both_locks_have_is_one_version() -> None:
    first, others = _locked("requirements.lock"), _locked("dev.lock")
    assert {name: others[name] for name in first.keys() & others.keys()}.items() <= first.items()


def test_the_tools_are_locked_as_they_are_pinned() -> None:
    locked = _locked("tools.lock")
    pins = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["tools"]
    assert {pin.split("==")[0]: pin.split("==")[1] for pin in pins}.items() <= locked.items()
    assert "pip install --quiet --disable-pip-version-check uv" not in (ROOT / "Makefile").read_text()


def _looked_up(place: Path, known: Any, python: Any, rust: Any) -> tuple[int, str]:
    """What the script says where pip-audit and cargo-audit answer this; text is an answer that is no JSON."""
    answers = {"known": known, "python": python, "rust": rust}
    for name, answer in answers.items():
        (place / name).write_text(answer if isinstance(answer, str) else json.dumps(answer))
    pip, cargo = place / "pip-audit", place / "cargo-audit"
    pip.write_text(f"#!/bin/sh\ncase \"$*\" in *--no-deps*) cat '{place}/known';; *) cat '{place}/python';; esac\n")
    cargo.write_text(f"#!/bin/sh\ncat '{place}/rust'\n")
    for program in (pip, cargo):
        program.chmod(0o755)
    command = [
        sys.executable,
        str(ROOT / "scripts/advisories.py"),
        "--pip-audit",
        str(pip),
        "--cargo-audit",
        str(cargo),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not done.stderr
    return done.returncode, done.stdout


def _rust(*found: Any) -> dict[str, Any]:
    return {"database": {"advisory-count": 2}, "vulnerabilities": {"list": list(found)}}


def test_no_advisories_are_said_where_both_sources_know_some(tmp_path: Path) -> None:
    code, said = _looked_up(tmp_path, PYTHON_KNOWN, PYTHON_OK, _rust(RUST_KNOWN))
    assert code == 0
    assert said.count("no known advisories in ") == 2


@pytest.mark.parametrize(
    ("known", "python", "rust"),
    [
        (PYTHON_OK, PYTHON_OK, _rust(RUST_KNOWN)),  # a mirror without advisories answers so
        ("", PYTHON_OK, _rust(RUST_KNOWN)),
        (PYTHON_KNOWN, {"dependencies": [{"name": "one", "skip_reason": "not found"}]}, _rust(RUST_KNOWN)),
        (PYTHON_KNOWN, {"dependencies": []}, _rust(RUST_KNOWN)),
        (PYTHON_KNOWN, "<html>", _rust(RUST_KNOWN)),
        (PYTHON_KNOWN, PYTHON_OK, ""),
        (PYTHON_KNOWN, PYTHON_OK, _rust()),
        (PYTHON_KNOWN, PYTHON_OK, []),
    ],
)
def test_what_could_not_be_looked_up_is_never_free_of_advisories(
    tmp_path: Path, known: Any, python: Any, rust: Any
) -> None:
    code, said = _looked_up(tmp_path, known, python, rust)
    assert code == 3
    assert (said.count("NOT CHECKED"), said.count("no known advisories")) == (1, 1)


def test_an_advisory_is_named_with_its_way_out(tmp_path: Path) -> None:
    bad = {"dependencies": [{"name": "one", "version": "1", "vulns": [{"id": "CVE-1", "fix_versions": ["2"]}]}]}
    crate = {"package": {"name": "crate", "version": "3"}, "advisory": {"id": "RUSTSEC-2", "title": "it leaks"}}
    code, said = _looked_up(tmp_path, PYTHON_KNOWN, bad, _rust(RUST_KNOWN, crate))
    assert code == 1
    assert "one 1: CVE-1; mended in 2" in said
    assert "crate 3: RUSTSEC-2: it leaks" in said
    assert "time" not in said
    assert _looked_up(tmp_path, PYTHON_KNOWN, bad, "")[0] == 1
