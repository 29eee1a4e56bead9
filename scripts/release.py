"""Makes a release in dist/: a wheel, the sources, an archive for hosts without network, the parts and their licences.

    python scripts/release.py [--version 1.0.0-rc.1] [--zig DIR] [--into dist]

The version stands in Cargo.toml, and nowhere else. With `--version` it is set there, the section "Unreleased" of
CHANGELOG.md is closed under its name and today's date, and both are committed. Two builds of one commit give the
same bytes, wherever they are made (but for the debug lines): times are those of the commit, and paths of the builder
are left out.
"""

from __future__ import annotations

import argparse
import base64
import datetime
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable
from pathlib import Path

import parts
import tars

ROOT = Path(__file__).resolve().parents[1]
OLDEST_GLIBC = "manylinux_2_28"  # RHEL 8, Debian 10, Ubuntu 18.10 and all that is younger
ALSO = "aarch64-unknown-linux-gnu"  # the wheel for ARM, where Rust's library for it is installed
PYTHONS = ("3.11", "3.12", "3.13", "3.14")  # those whose wheels of other packages are in the offline archive
PLATFORMS = [f"--platform={name}_x86_64" for name in ("manylinux2014", "manylinux_2_17", OLDEST_GLIBC)]
FILES = re.compile(r"iocast[-_]")  # of a release; SHA256SUMS names them
CORE = "iocast/_core.abi3.so"
INSTALLER = """\
#!/bin/sh
# Installs iocast into DIR (default: /opt/iocast) from the wheels beside this script; nothing is downloaded.
#   ./install.sh [DIR]              PYTHON=python3.12 ./install.sh: another Python, 3.11 or newer
set -eu
here=$(cd "$(dirname "$0")" && pwd)
into=${1:-/opt/iocast}
python=${PYTHON:-python3}
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    echo "error: iocast needs Python 3.11 or newer, and $python is not; name one: PYTHON=python3.12 $0" >&2
    exit 2
fi
if [ -e "$into" ] && [ ! -e "$into/bin/iocast" ]; then
    echo "error: $into exists, and no iocast is in it; name another directory: $0 DIR" >&2
    exit 2
fi
if ! "$python" -m venv "$into"; then
    echo "error: $python cannot make an environment; on Debian and Ubuntu: apt install python3-venv" >&2
    exit 2
fi
"$into/bin/python" -m pip --isolated install --quiet --disable-pip-version-check --no-index \\
    --find-links "$here/wheels" --require-hashes -r "$here/requirements.txt"
echo "Installed: $into/bin/iocast ($("$into/bin/iocast" --version))"
echo "Next: ln -s $into/bin/iocast /usr/local/bin/iocast; MANPATH=$into/share/man: man iocast"
"""


def main() -> int:
    """Makes everything, and prints what it made."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", default="", help="set this version first, close the changelog's section, commit")
    parser.add_argument("--zig", default="", help="directory of a Python with ziglang: the compiler for an older glibc")
    parser.add_argument("--into", default="dist", type=Path)
    options = parser.parse_args()
    try:
        refuse_changes()
        if options.version:
            set_version(options.version)
        release(ROOT / options.into, options.zig)
    except Refused as why:
        print(f"error: {why}", file=sys.stderr)
        return 2
    return 0


class Refused(Exception):
    """A release cannot be made; says why, and the way out."""


def refuse_changes() -> None:
    """A release is what a commit says: files that are changed or unknown are refused."""
    changed = _git("status", "--porcelain")
    if changed:
        raise Refused(f"a release is made of a commit, and these differ from it; commit or remove them:\n{changed}")


def set_version(version: str) -> None:
    """Writes a version to Cargo.toml and Cargo.lock, closes the changelog's section, and commits."""
    cargo, changes = ROOT / "Cargo.toml", ROOT / "CHANGELOG.md"
    texts = {
        cargo: with_version(cargo.read_text("utf-8"), version),
        changes: closed(changes.read_text("utf-8"), version, datetime.date.today()),
    }
    for path, text in texts.items():  # when neither is refused
        path.write_text(text, "utf-8")
    subprocess.run(["cargo", "update", "--workspace", "--quiet"], cwd=ROOT, check=True)
    _git("commit", "--quiet", "--message", f"Release {version}", "Cargo.toml", "Cargo.lock", "CHANGELOG.md")


def with_version(cargo: str, version: str) -> str:
    """Cargo.toml with another version of the workspace.

    Raises:
        Refused: it is not a version in Cargo's form.
    """
    if not re.fullmatch(r"\d+\.\d+\.\d+(-(alpha|beta|rc)\.\d+)?", version):
        raise Refused(f'"{version}" is not a version; write 1.2.3 or 1.2.3-rc.1')
    return re.sub(r'(?m)^(\[workspace\.package\]\nversion = )"[^"]+"', rf'\1"{version}"', cargo, count=1)


def closed(changes: str, version: str, day: datetime.date) -> str:
    """A changelog whose section "Unreleased" has a version and a day, below an empty new one.

    Raises:
        Refused: there is no such section, or it is empty.
    """
    head, heading, rest = changes.partition("## Unreleased\n")
    if not heading or not rest.partition("\n## ")[0].strip():
        raise Refused("CHANGELOG.md says nothing under ## Unreleased: write there what changed for users")
    return f"{head}{heading}\n## {version} · {day.isoformat()}\n{rest}"


def release(into: Path, zig: str) -> None:
    """Makes all files of a release in `into`, which is emptied of those of former ones first."""
    into.mkdir(exist_ok=True)
    for old in into.iterdir():
        if FILES.match(old.name):
            old.unlink()
    epoch = int(_git("log", "-1", "--format=%ct"))
    listed = parts.parts_of(ROOT)
    version = python_version(ROOT)
    bill = parts.bill(listed, version, epoch)
    (into / f"iocast-{version}.cdx.json").write_text(bill, "utf-8")
    wheel = build_wheel(into, zig, epoch, bill)
    if zig and has_library(ALSO):
        build_wheel(into, zig, epoch, bill, ALSO)
    else:
        print(f"no wheel for {ALSO}: it takes Zig, and `rustup target add {ALSO}`")
    build_sources(into, epoch)
    (into / f"iocast-{version}-licences.txt").write_text(parts.licences(listed, version), "utf-8")
    offline_archive(into, wheel, version, epoch)
    add_up(into)


def add_up(into: Path) -> None:
    """Writes the digests of all files of a release, and prints the files with their sizes."""
    files = sorted(path for path in into.iterdir() if FILES.match(path.name))
    (into / "SHA256SUMS").write_text("".join(f"{digest(path)}  {path.name}\n" for path in files), "utf-8")
    for path in files:
        print(f"{path.stat().st_size / 1e6:8.2f} MB  {path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}")


def python_version(root: Path) -> str:
    """The version of Cargo.toml as Python writes it: 1.0.0rc1 for 1.0.0-rc.1."""
    said = tomllib.loads((root / "Cargo.toml").read_text("utf-8"))["workspace"]["package"]["version"]
    return re.sub(r"-(rc|alpha|beta)\.", lambda kind: {"rc": "rc", "alpha": "a", "beta": "b"}[kind[1]], said)


def has_library(target: str) -> bool:
    """Whether Rust's own library is there for another processor."""
    words = ["rustc", "--print", "target-libdir", "--target", target]
    return Path(subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()).is_dir()


def build_wheel(into: Path, zig: str, epoch: int, bill: str, target: str = parts.TARGET) -> Path:
    """The wheel, whose core has no debug lines; they lie beside it, of this machine's kind of processor.

    Nothing in the core says which they are: Zig's own libraries tell debuggers where they were compiled, so that this
    file, and only this, differs from place to place.
    """
    with tempfile.TemporaryDirectory() as room:
        command = ["maturin", "build", "--release", "--locked", "--out", room, "--interpreter", "python3"]
        command += ["--zig", "--target", target, "--compatibility", OLDEST_GLIBC] if zig else []
        foreign = target != parts.TARGET  # binutils of this machine cannot strip it: the linker does
        _run(command, _building(epoch, zig, "-Cstrip=symbols" if foreign else ""))
        (made,) = Path(room).glob("*.whl")
        core = Path(room) / "_core.abi3.so"
        with zipfile.ZipFile(made) as wheel:
            core.write_bytes(wheel.read(CORE))
            bills = [name for name in wheel.namelist() if name.endswith(".cyclonedx.json")]
        if not foreign:
            debug = into / f"iocast-{made.name.split('-')[1]}-core.debug"
            subprocess.run(["objcopy", "--only-keep-debug", "--compress-debug-sections", core, debug], check=True)
            subprocess.run(["strip", "--strip-unneeded", core], check=True)
        # The builder's own bill knows crates only, and says when and where it was made.
        rewrite_wheel(made, into / made.name, {CORE: core.read_bytes(), **dict.fromkeys(bills, bill.encode())})
    return into / made.name


def build_sources(into: Path, epoch: int) -> Path:
    """The sources that a wheel needs, with the lock of these: maturin leaves out crates, but not what they lock."""
    with tempfile.TemporaryDirectory() as name:
        room = Path(name)
        _run(["maturin", "sdist", "--out", name], _building(epoch))
        (made,) = room.glob("*.tar.gz")
        with tarfile.open(made) as tar:
            tar.extractall(room, filter="data")
        tree = room / made.name.removesuffix(".tar.gz")
        subprocess.run(["cargo", "update", "--workspace", "--quiet"], cwd=tree, check=True)
        files = {str(path.relative_to(room)): path.read_bytes() for path in tree.rglob("*") if path.is_file()}
        pack(into / made.name, files, epoch)
    return into / made.name


def rewrite_wheel(source: Path, wheel: Path, instead: dict[str, bytes]) -> None:
    """A wheel with other contents of some files, whose RECORD says so; packed as well as zlib can."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:
        for item in old.infolist():
            data = instead.get(item.filename, old.read(item))
            if item.filename.endswith(".dist-info/RECORD"):
                data = "".join(_recorded(line, instead) for line in data.decode().splitlines()).encode()
            kept = zipfile.ZipInfo(item.filename, (1980, 1, 1, 0, 0, 0))
            kept.external_attr, kept.compress_type = item.external_attr, zipfile.ZIP_DEFLATED
            new.writestr(kept, data)


def _recorded(line: str, instead: dict[str, bytes]) -> str:
    """A line of RECORD: path, digest, size."""
    path = line.rpartition(",")[0].rpartition(",")[0]
    if path not in instead:
        return f"{line}\n"
    hashed = base64.urlsafe_b64encode(hashlib.sha256(instead[path]).digest()).rstrip(b"=").decode()
    return f"{path},sha256={hashed},{len(instead[path])}\n"


def offline_archive(into: Path, wheel: Path, version: str, epoch: int) -> None:
    """All wheels that iocast needs, for each Python, with their hashes and a script that installs them."""
    needed = without((ROOT / "requirements.lock").read_text("utf-8"), parts.BUILD_ONLY)
    with tempfile.TemporaryDirectory() as room:
        wheels = Path(room) / "wheels"
        asked = Path(room) / "needed.txt"
        asked.write_text(needed, "utf-8")
        download = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        download += ["--only-binary=:all:", "--require-hashes", "--dest", str(wheels), "-r", str(asked)]
        download += PLATFORMS
        for python in PYTHONS:
            _run([*download, "--python-version", python], dict(os.environ))
        shutil.copy(wheel, wheels / wheel.name)
        said = f"{needed}iocast=={version} \\\n    --hash=sha256:{digest(wheel)}\n"
        files = {f"wheels/{path.name}": path.read_bytes() for path in sorted(wheels.iterdir())}
        files |= {"requirements.txt": said.encode(), "install.sh": INSTALLER.encode()}
        stem = f"iocast-{version}-offline-x86_64"
        pack(into / f"{stem}.tar.gz", {f"{stem}/{name}": data for name, data in files.items()}, epoch)


def without(lock: str, names: Iterable[str]) -> str:
    """A list of locked packages without some of them, and without the notes on where each comes from."""
    blocks = re.split(r"^(?=[a-z0-9])", lock, flags=re.MULTILINE)[1:]
    kept = [block for block in blocks if not block.startswith(tuple(f"{name}==" for name in names))]
    return "".join(re.sub(r"(?m)^ *#.*\n", "", block) for block in kept)


def pack(archive: Path, files: dict[str, bytes], epoch: int) -> None:
    """A .tar.gz of files; scripts may be run."""
    entries = {name: tars.Entry(data, 0o755 if name.endswith(".sh") else 0o644) for name, data in files.items()}
    archive.write_bytes(tars.compressed(tars.written(entries, epoch), epoch))


def digest(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()


def _building(epoch: int, zig: str = "", flag: str = "") -> dict[str, str]:
    """An environment in which a build says nothing of where and when it ran."""
    cargo_home = os.environ.get("CARGO_HOME", str(Path.home() / ".cargo"))
    away = {str(ROOT): "/iocast", cargo_home: "/cargo"}
    flags = " ".join([*(f"--remap-path-prefix={path}={name}" for path, name in away.items()), flag]).strip()
    c_flags = " ".join(f"-ffile-prefix-map={path}={name}" for path, name in away.items())
    found = [*([zig] if zig else []), str(Path(sys.executable).parent), os.environ["PATH"]]
    return {
        **os.environ,
        "PATH": os.pathsep.join(found),
        "SOURCE_DATE_EPOCH": str(epoch),
        "RUSTFLAGS": flags,
        "CFLAGS": c_flags,
        "CARGO_TARGET_DIR": str(ROOT / "target" / "released"),
    }


def _run(command: list[str], environment: dict[str, str]) -> None:
    done = subprocess.run(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise Refused(f"{' '.join(command[:6])} ended with {done.returncode}:\n{done.stderr[-2000:]}")


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
