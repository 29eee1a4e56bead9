"""What a release consists of beside iocast itself: crates of the core and packages of Python, with their licences."""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import re
import subprocess
import urllib.parse
import uuid
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

TARGET = "x86_64-unknown-linux-gnu"
BUILD_ONLY = ("maturin",)  # in requirements.lock because it builds the core
# The metadata of these say nothing that SPDX knows: read in their licence files.
READ_BY_HAND = ("duckdb", "markdown-it-py", "mdit-py-plugins", "mdurl", "resvg-py", "rich-click")  # all MIT


class Part(NamedTuple):
    """One crate or package."""

    kind: str  # cargo, pypi or deb/debian, as package URLs say it
    name: str
    version: str
    licence: str  # as SPDX writes it; what its makers say where that is none; "" is unknown

    @property
    def url(self) -> str:
        """Its package URL (purl)."""
        return f"pkg:{self.kind}/{self.name}@{urllib.parse.quote(self.version)}"


def parts_of(root: Path) -> list[Part]:
    """All parts of the release of a tree, by kind and name."""
    return sorted([*crates(root), *packages(root / "requirements.lock")])


def crates(root: Path) -> list[Part]:
    """Crates that are linked into the core: no tools of builds, no tests, nothing of other systems."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", TARGET]
    metadata: dict[str, Any] = json.loads(subprocess.run(command, cwd=root, check=True, capture_output=True).stdout)
    known = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    (first,) = (package["id"] for package in metadata["packages"] if package["name"] == "iocast-python")
    linked, ahead = set(), [first]
    while ahead:
        at = ahead.pop()
        if at not in linked:
            linked.add(at)
            ahead += [
                dependency["pkg"]
                for dependency in nodes[at]["deps"]
                if any(kind["kind"] is None for kind in dependency["dep_kinds"])
            ]
    others = [known[at] for at in linked if known[at]["source"]]
    return [Part("cargo", crate["name"], crate["version"], spdx(crate["license"] or "")) for crate in others]


def packages(lock: Path) -> list[Part]:
    """Packages of a lock that are needed on Linux by an installed iocast, as they are installed beside this program."""
    needed = re.findall(r"(?m)^([\w.-]+)==([\w.]+)([^\\\n]*)", lock.read_text("utf-8"))
    linux = [(name, version) for name, version, marker in needed if name not in BUILD_ONLY and "win32" not in marker]
    return [Part("pypi", name, version, licence(name)) for name, version in linux]


def licence(package: str) -> str:
    """What an installed package says of its licence, the most exact form first; "" where it says nothing."""
    if package in READ_BY_HAND:
        return "MIT"
    try:
        about = importlib.metadata.metadata(package)
    except importlib.metadata.PackageNotFoundError:
        return ""
    named = [each.rpartition(" :: ")[2] for each in about.get_all("Classifier") or [] if each.startswith("License ::")]
    short = about.get("License") or ""
    return about.get("License-Expression") or ("" if "\n" in short else short) or ", ".join(named)


def spdx(said: str) -> str:
    """A crate's licence as SPDX writes it; older ones write MIT/Apache-2.0."""
    return re.sub(r" ?/ ?", " OR ", said)


def bill(listed: list[Part], version: str, epoch: int) -> str:
    """The bill of materials in CycloneDX 1.6, as JSON; the same parts give the same bytes."""
    components = [
        {
            "type": "library",
            "bom-ref": part.url,
            "name": part.name,
            "version": part.version,
            "purl": part.url,
            **({"licenses": [_licensed(part.licence)]} if part.licence else {}),
        }
        for part in listed
    ]
    itself = f"pkg:pypi/iocast@{version}"
    number = uuid.uuid5(uuid.NAMESPACE_URL, itself + "".join(part.url for part in listed))
    timestamp = datetime.datetime.fromtimestamp(epoch, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    about = {"type": "application", "bom-ref": itself, "name": "iocast", "version": version, "purl": itself}
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{number}",
        "version": 1,
        "metadata": {"timestamp": timestamp, "component": about | {"licenses": [{"expression": "Apache-2.0"}]}},
        "components": components,
        "dependencies": [{"ref": itself, "dependsOn": [part.url for part in listed]}],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _licensed(said: str) -> dict[str, Any]:
    """An SPDX expression, or the words of its makers where they are none."""
    if re.fullmatch(r"[A-Za-z0-9.+-]+( (AND|OR|WITH) [A-Za-z0-9.+-]+)*", said.replace("(", "").replace(")", "")):
        return {"expression": said}
    return {"license": {"name": said}}


def licences(listed: list[Part], version: str) -> str:
    """A list for people: each licence with the parts that have it."""
    by_licence: dict[str, list[Part]] = defaultdict(list)
    for part in listed:
        by_licence[part.licence or "not stated"].append(part)
    lines = [f"iocast {version} is licensed under Apache-2.0. It contains or uses:", ""]
    for said, those in sorted(by_licence.items()):
        lines += [said, *(f"    {part.name} {part.version} ({part.kind})" for part in those), ""]
    return "\n".join(lines)
