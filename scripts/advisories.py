"""Looks up known security advisories of all locked packages: requirements.lock, dev.lock, tools.lock and Cargo.lock.

    python scripts/advisories.py --pip-audit PROGRAM --cargo-audit PROGRAM [--rust-db DIR]

Exit codes: 0 every package was looked up and none has an advisory, 1 some have, 3 some could not be looked up. Both
programs say "none found" of a source without data, too: so each is first asked about a release that has advisories.
`--rust-db` is a copy of RustSec's advisory-db, for machines that cannot fetch it.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PYTHON_LOCKS = ("requirements.lock", "dev.lock", "tools.lock")
KNOWN_PYTHON = ("urllib3", "1.26.0")  # has had advisories for years
KNOWN_RUST = ("time", "0.1.43")
FOUND, UNKNOWN = 1, 3


class Unavailable(Exception):
    """The data could not be had; says why."""


class Looked(NamedTuple):
    """How many packages were looked up, what was found, which could not be looked up, and what the source has."""

    packages: int
    found: tuple[str, ...]
    unknown: tuple[str, ...] = ()
    source: str = ""


def main() -> int:
    """Looks all up, and says what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pip-audit", required=True)
    parser.add_argument("--cargo-audit", required=True)
    parser.add_argument("--rust-db", default="")
    asked = parser.parse_args()
    code = 0
    for what, look in (
        (", ".join(PYTHON_LOCKS), lambda: python_packages(asked.pip_audit)),
        ("Cargo.lock", lambda: rust_packages(asked.cargo_audit, asked.rust_db)),
    ):
        code = _said(code, what, look)
    return code


def _said(code: int, what: str, look: Any) -> int:
    try:
        looked: Looked = look()
    except Unavailable as why:
        print(f"{what}: NOT CHECKED: {why}")
        return code or UNKNOWN
    for line in looked.found:
        print(f"{what}: {line}")
    if looked.unknown:
        print(f"{what}: NOT CHECKED: {len(looked.unknown)} of {looked.packages} packages: {', '.join(looked.unknown)}")
    if looked.found:
        return FOUND
    if looked.unknown:
        return code or UNKNOWN
    print(f"{what}: no known advisories in {looked.packages} packages ({looked.source})")
    return code


def python_packages(program: str) -> Looked:
    """The packages of the lock files, by the first source that has data. Raises Unavailable."""
    reasons = []
    for source in ("pypi", "osv"):
        try:
            _require_known(program, source)
            return _python_packages(program, source)
        except Unavailable as why:
            reasons.append(f"{source}: {why}")
    raise Unavailable("; ".join(reasons))


def _require_known(program: str, source: str) -> None:
    name, version = KNOWN_PYTHON
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(f"{name}=={version}\n")
        file.flush()
        answer = _asked([program, "--no-deps", *_python_options(source), "--requirement", file.name])
    if not any(each.get("vulns") for each in _list(answer, "dependencies")):
        raise Unavailable(f"the source has no advisories of {name} {version}, which has some")


def _python_packages(program: str, source: str) -> Looked:
    found, unknown, packages = [], [], 0
    for lock in PYTHON_LOCKS:
        answer = _asked([program, "--require-hashes", *_python_options(source), "--requirement", str(ROOT / lock)])
        for each in _list(answer, "dependencies"):
            packages += 1
            if "vulns" not in each:
                unknown.append(str(each.get("name")))
            found += [_line(each["name"], each["version"], one) for one in each.get("vulns", ())]
    if not packages:
        raise Unavailable("pip-audit looked up no package")
    return Looked(packages, tuple(dict.fromkeys(found)), tuple(dict.fromkeys(unknown)), source)


def _python_options(source: str) -> list[str]:
    return ["--disable-pip", "--vulnerability-service", source, "--format", "json", "--progress-spinner", "off"]


def _line(name: str, version: str, advisory: dict[str, Any]) -> str:
    mended = ", ".join(advisory.get("fix_versions") or ()) or "no release yet"
    return f"{name} {version}: {advisory['id']}; mended in {mended}"


def rust_packages(program: str, database: str) -> Looked:
    """The packages of Cargo.lock. Raises Unavailable."""
    text = (ROOT / "Cargo.lock").read_text(encoding="utf-8")
    registry = re.search(r'^source = "registry\+.*"$', text, re.MULTILINE)
    if registry is None:
        raise Unavailable("Cargo.lock names no registry")
    name, version = KNOWN_RUST
    known = f'\n[[package]]\nname = "{name}"\nversion = "{version}"\n{registry.group()}\n'
    with tempfile.TemporaryDirectory() as folder:
        lock = Path(folder, "Cargo.lock")
        lock.write_text(text + known, encoding="utf-8")
        from_copy = ["--db", database, "--no-fetch"] if database else []
        answer = _asked([program, "audit", "--json", *from_copy, "--file", str(lock)])
    listed = [(each["package"], each["advisory"]) for each in _list(answer.get("vulnerabilities", {}), "list")]
    if not any((package["name"], package["version"]) == KNOWN_RUST for package, _ in listed):
        raise Unavailable(f"the source has no advisories of {name} {version}, which has some")
    found = [
        f"{package['name']} {package['version']}: {advisory['id']}: {advisory['title']}"
        for package, advisory in listed
        if (package["name"], package["version"]) != KNOWN_RUST
    ]
    count = answer.get("database", {}).get("advisory-count")
    return Looked(text.count("[[package]]"), tuple(found), source=f"RustSec, {count} advisories")


def _asked(command: list[str]) -> dict[str, Any]:
    """What a program answers in JSON; it ends with 1 where it found something. Raises Unavailable."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise Unavailable(f"{command[0]}: {error.strerror}") from error
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        said = (line.strip(" ->\t") for line in reversed(done.stderr.splitlines()))
        raise Unavailable(next(filter(None, said), f"{command[0]} ended with {done.returncode}")) from None
    if not isinstance(answer, dict):
        raise Unavailable(f"{command[0]} answered in an unknown form")
    return answer


def _list(answer: Any, key: str) -> list[Any]:
    found = answer.get(key) if isinstance(answer, dict) else None
    if not isinstance(found, list):
        raise Unavailable(f"an answer without {key}")
    return found


if __name__ == "__main__":
    sys.exit(main())
