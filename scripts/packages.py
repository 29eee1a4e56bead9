"""Makes packages of Debian and Red Hat in dist/, of the offline archive that `make release` left there.

    python scripts/packages.py --nfpm PROGRAM

A package has iocast and all that it needs in /opt/iocast, an environment of the Python of its system; it is one
description for both, carried out by nfpm. Nothing is compiled or downloaded: the wheels are those of the archive.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import NamedTuple

import release

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
HOME = "opt/iocast"
LAUNCHER = """\
#!/opt/iocast/bin/python
import sys

from iocast.__main__ import main

sys.exit(main())
"""
# Byte code is compiled at installation: only root may write there later.
INSTALLED = "#!/bin/sh\n/opt/iocast/bin/python -m compileall -q /opt/iocast/lib >/dev/null 2>&1 || true\n"
REMOVED = "#!/bin/sh\nfind /opt/iocast -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true\n"


class Package(NamedTuple):
    """One package to be made."""

    kind: str  # deb or rpm
    python: str
    release: str  # says for which system it is


PACKAGES = (
    Package("deb", "3.11", "1+deb12"),
    Package("deb", "3.13", "1+deb13"),
    Package("rpm", "3.11", "1.py311"),
)


def main() -> int:
    """Makes them all, and prints what is in dist/ then."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nfpm", required=True)
    options = parser.parse_args()
    archives = sorted(DIST.glob("iocast-*-offline-x86_64.tar.gz"))
    if not archives:
        print("error: dist/ has no offline archive; run make release first", file=sys.stderr)
        return 2
    version = archives[-1].name.split("-")[1]
    with tempfile.TemporaryDirectory() as name:
        room = Path(name)
        with tarfile.open(archives[-1]) as tar:
            commit_time = datetime.datetime.fromtimestamp(tar.getmembers()[0].mtime, datetime.UTC)
            tar.extractall(room, filter="data")
        (wheels,) = room.glob("*/wheels")
        for package in PACKAGES:
            tree = room / f"tree-{package.python}"
            if not tree.exists():
                lay_out(tree, wheels.parent, package.python)
            config = room / f"{package.kind}-{package.python}.yaml"  # JSON is YAML
            config.write_text(json.dumps(description(package, version, tree, room, commit_time), indent=1), "utf-8")
            command = [options.nfpm, "package", "--config", config, "--packager", package.kind, "--target", DIST]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    release.add_up(DIST)
    return 0


def lay_out(tree: Path, archive: Path, python: str) -> None:
    """All files of a package where they go, below `tree`."""
    home = tree / HOME
    library = home / "lib" / f"python{python}" / "site-packages"
    install_wheels(library, archive, python)
    share = tree / "usr" / "share"
    shutil.copytree(ROOT / "docs" / "installed" / "data" / "share", share)
    for page in (share / "man" / "man1").iterdir():
        (page.parent / f"{page.name}.gz").write_bytes(gzip.compress(page.read_bytes(), 9, mtime=0))
        page.unlink()
    shutil.rmtree(library / "share", ignore_errors=True)
    documents = share / "doc" / "iocast"
    documents.mkdir(parents=True)
    shutil.copy(ROOT / "LICENSE", documents / "copyright")
    for path in (*DIST.glob("iocast-*-licences.txt"), *DIST.glob("iocast-*.cdx.json")):
        shutil.copy(path, documents / path.name)
    (home / "bin").mkdir()
    (home / "bin" / "python").symlink_to(f"/usr/bin/python{python}")
    (home / "bin" / "iocast").write_text(LAUNCHER, "utf-8")
    (home / "bin" / "iocast").chmod(0o755)
    (home / "pyvenv.cfg").write_text(
        f"home = /usr/bin\ninclude-system-site-packages = false\nversion = {python}\n", "utf-8"
    )


def install_wheels(library: Path, archive: Path, python: str) -> None:
    """What an unpacked offline archive has for one version of Python, installed without running that."""
    install = [sys.executable, "-m", "pip", "--isolated", "install", "--quiet", "--disable-pip-version-check"]
    install += [
        "--no-index",
        "--find-links",
        archive / "wheels",
        "--require-hashes",
        "-r",
        archive / "requirements.txt",
    ]
    install += ["--no-deps", "--no-compile", "--only-binary=:all:", "--python-version", python, *release.PLATFORMS]
    subprocess.run([*install, "--target", library], check=True)
    shutil.rmtree(library / "bin")  # with the paths of this machine
    for record in library.glob("*.dist-info/RECORD"):
        lines = record.read_text("utf-8").splitlines(keepends=True)
        record.write_text("".join(line for line in lines if not line.startswith("../../bin/")), "utf-8")


def package_version(version: str) -> str:
    """A version of Python as packages compare it: 1.0.0~rc1, which lies before 1.0.0, for 1.0.0rc1."""
    return re.sub(r"(?<=\d)(rc|a|b)(?=\d)", r"~\1", version)


def description(
    package: Package, version: str, tree: Path, room: Path, commit_time: datetime.datetime
) -> dict[str, object]:
    """What nfpm is told: the same for each kind."""
    scripts = {"postinstall": INSTALLED, "preremove": REMOVED}
    for name, text in scripts.items():
        (room / name).write_text(text, "utf-8")
    return {
        "name": "iocast",
        "arch": "amd64",
        "platform": "linux",
        "version": package_version(version),
        "version_schema": "none",
        "release": package.release,
        "section": "utils",
        "maintainer": "The iocast developers",
        "vendor": "The iocast developers",
        "license": "Apache-2.0",
        "mtime": commit_time.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "description": "I/O performance testing, diagnosis and forecasting of database storage\n"
        "An I/O report card of a path: measured, diagnosed, graded and explained.",
        "depends": [f"python{package.python}", "libc6 (>= 2.28)" if package.kind == "deb" else "glibc >= 2.28"],
        "contents": [
            {"src": str(tree / HOME), "dst": f"/{HOME}", "type": "tree"},
            {"src": str(tree / "usr" / "share"), "dst": "/usr/share", "type": "tree"},
            {"src": f"/{HOME}/bin/iocast", "dst": "/usr/bin/iocast", "type": "symlink"},
        ],
        "scripts": {name: str(room / name) for name in scripts},
    }


if __name__ == "__main__":
    sys.exit(main())
