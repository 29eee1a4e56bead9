"""Makes an archive with an interpreter of its own in dist/, of the offline archive that `make release` left there.

    python scripts/standalone.py [--lock]

It is for hosts whose Python is older than 3.11. The interpreter and the libraries that it needs, the C library among
them, are packages of Debian's stable release: nothing is compiled, and nothing of the host but its kernel and a shell
is used. scripts/interpreter.lock says which they are, with their digests; `--lock` writes it again with today's.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.parse
from pathlib import Path

import packages
import parts
import release
import tars

DIST = release.ROOT / "dist"
CACHE = release.ROOT / "target" / "interpreter"
LOCK = Path(__file__).with_name("interpreter.lock")
NEEDED = ("mmdebstrap", "apt-get", "dpkg-deb")  # they fetch and unpack packages of Debian
SUITE, PYTHON = "trixie", "3.13"
# Packages and their licences, as their copyright files say.
LICENCES = {
    "python3.13-minimal": "PSF-2.0",
    "libpython3.13-minimal": "PSF-2.0",
    "libpython3.13-stdlib": "PSF-2.0",
    "libc6": "LGPL-2.1-or-later",
    "gcc-14-base": "GPL-3.0-or-later WITH GCC-exception-3.1",  # has the copyright file of the next two
    "libgcc-s1": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libstdc++6": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libssl3t64": "Apache-2.0",
    "libexpat1": "MIT",
    "zlib1g": "Zlib",
    "libffi8": "MIT",
    "libbz2-1.0": "bzip2-1.0.6",
    "liblzma5": "0BSD",
    "libzstd1": "BSD-3-Clause",
}
LOADER = "ld-linux-x86-64.so.2"
# What the interpreter and the wheels are linked with, and what the C library loads when names are looked up. Of older
# libraries that are part of libc.so.6 today the host's would be taken, which do not fit: those are here, too.
LIBRARIES = (
    *(LOADER, "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libutil.so.1", "libanl.so.1"),
    *("libresolv.so.2", "libnss_dns.so.2", "libnss_files.so.2", "libgcc_s.so.1", "libstdc++.so.6"),
    *("libssl.so.3", "libcrypto.so.3", "libz.so.1", "libzstd.so.1", "libbz2.so.1.0", "liblzma.so.5"),
    *("libexpat.so.1", "libffi.so.8"),
)
# Parts of the standard library that nothing here uses, or whose own libraries are not here.
LEFT_OUT = (
    *("test", "curses", "dbm", "sqlite3", "venv", "wsgiref", "pydoc_data", "turtle.py", "sitecustomize.py"),
    *("EXTERNALLY-MANAGED", "lib-dynload/_*test*", "lib-dynload/xx*", "lib-dynload/_curses*", "lib-dynload/_dbm*"),
    *("lib-dynload/_sqlite3*", "lib-dynload/_uuid*", "lib-dynload/readline*"),
)
LAUNCHER = """\
#!/bin/sh
# Starts {what} by the interpreter and the C library of this directory, wherever it lies.
home=$(readlink -f "$0") || exit 2
home=${{home%/bin/*}}
exec "$home/libexec/{what}" --library-path "$home/lib" --argv0 "$home/bin/python" \\
    "$home/libexec/python{python}" -I{script} "$@"
"""
# The image starts this file itself; here bin/iocast hands it to the interpreter.
COMMAND = """\
#!/opt/iocast/bin/python -I
import sys

from iocast.__main__ import main

sys.exit(main())
"""


def main() -> int:
    """Makes the archive, and prints what is in dist/ then."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lock", action="store_true", help="only write scripts/interpreter.lock again")
    options = parser.parse_args()
    absent = [program for program in NEEDED if shutil.which(program) is None]
    if absent:
        print(
            f"note: the archive with its own interpreter is left out: there is no {', '.join(absent)} here, "
            "and the interpreter is made of Debian's packages",
            file=sys.stderr,
        )
        return 0
    try:
        if options.lock:
            write_lock()
        else:
            make_archive()
    except release.Refused as why:
        print(f"error: {why}", file=sys.stderr)
        return 2
    return 0


def make_archive() -> None:
    """Makes the archive of the offline archive in dist/.

    Raises:
        Refused: there is none, or packages of the lock cannot be had.
    """
    archives = sorted(DIST.glob("iocast-*-offline-x86_64.tar.gz"))
    if not archives:
        raise release.Refused("dist/ has no offline archive; run make release first")
    version = archives[-1].name.split("-")[1]
    stem = f"iocast-{version}-standalone-x86_64"
    with tempfile.TemporaryDirectory() as name:
        room = Path(name)
        with tarfile.open(archives[-1]) as tar:
            epoch = int(tar.getmembers()[0].mtime)
            tar.extractall(room, filter="data")
        (wheels,) = room.glob("*/wheels")
        tree = room / "tree"
        lay_out(tree, locked_packages(), wheels.parent)
        document(tree / "share" / "doc" / "iocast", version, epoch)
        compile_all(tree)
        entries = {f"{stem}/{path}": entry for path, entry in tars.of_folder(tree).items()}
    (DIST / f"{stem}.tar.gz").write_bytes(tars.compressed(tars.written(entries, epoch), epoch))
    release.add_up(DIST)


def read_lock(text: str) -> dict[str, str]:
    """Digests of the files of packages, by their names."""
    lines = [line.split("  ") for line in text.splitlines() if line and not line.startswith("#")]
    return {name: digest for digest, name in lines}


def name_and_version(file: str) -> tuple[str, str]:
    """Of a package's file: zlib1g and 1:1.3 of zlib1g_1%3a1.3_amd64.deb."""
    name, version, _ = file.split("_")
    return name, urllib.parse.unquote(version)


def locked_packages() -> list[Path]:
    """The packages of the lock, which are fetched once.

    Raises:
        Refused: Debian has newer ones, or what came is something else.
    """
    digests = read_lock(LOCK.read_text("utf-8"))
    CACHE.mkdir(parents=True, exist_ok=True)
    files = [CACHE / name for name in sorted(digests)]
    if not all(path.exists() for path in files):
        wanted = ["=".join(name_and_version(path.name)) for path in files]
        fetch(wanted, CACHE)
    for path in files:
        if not path.exists() or release.digest(path) != digests[path.name]:
            path.unlink(missing_ok=True)
            raise release.Refused(
                f"{path.name} is not what {LOCK.name} says; try again, or lock what there is: {RELOCK}"
            )
    return files


RELOCK = "python scripts/standalone.py --lock"


def write_lock() -> None:
    """Writes the lock with the packages that Debian has now."""
    with tempfile.TemporaryDirectory() as name:
        room = Path(name)
        fetch(list(LICENCES), room)
        lines = [f"{release.digest(path)}  {path.name}\n" for path in sorted(room.glob("*.deb"))]
    head = f"# Packages of Debian ({SUITE}) in the archive with its own interpreter; written by {RELOCK}\n"
    LOCK.write_text(head + "".join(lines), "utf-8")


def fetch(wanted: list[str], into: Path) -> None:
    """Packages of Debian, whose signatures apt checks: mmdebstrap lays an empty root in which apt is set up for them.

    Raises:
        Refused: they cannot be had.
    """
    said = subprocess.run(["apt-config", "dump"], check=True, capture_output=True, text=True).stdout
    with tempfile.TemporaryDirectory() as name:
        settings, root = Path(name) / "apt.conf", Path(name) / "root.tar"
        settings.write_text("".join(f"{line}\n" for line in said.splitlines() if line.startswith("Acquire::")), "utf-8")
        download = "apt-get --quiet -o APT::Sandbox::User=root download " + shlex.join(wanted)
        hook = f'mkdir "$1/fetched" && cd "$1/fetched" && APT_CONFIG="$MMDEBSTRAP_APT_CONFIG" {download}'
        command = ["mmdebstrap", "--quiet", "--variant=custom", "--architectures=amd64", f"--aptopt={settings}"]
        done = subprocess.run(
            [*command, f"--customize-hook={hook}", SUITE, root], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise release.Refused(
                f"packages of Debian cannot be had; if there are newer ones than {LOCK.name} says: {RELOCK}\n"
                f"{done.stderr[-1000:]}"
            )
        with tarfile.open(root) as tar:
            for item in tar:
                data = tar.extractfile(item) if item.name.startswith("./fetched/") and item.isfile() else None
                if data is not None:
                    (into / Path(item.name).name).write_bytes(data.read())


def lay_out(tree: Path, debs: list[Path], archive: Path) -> None:
    """All files of the archive where they go, below `tree`; wheels and their list are in `archive`."""
    system = tree.with_name("system")
    for deb in debs:
        subprocess.run(["dpkg-deb", "--extract", deb, system], check=True)
    library = tree / "lib" / f"python{PYTHON}"
    shutil.copytree(system / "usr" / "lib" / f"python{PYTHON}", library, ignore_dangling_symlinks=True)
    for pattern in LEFT_OUT:
        for path in library.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name in LIBRARIES:
        shutil.copy(system / "usr" / "lib" / "x86_64-linux-gnu" / name, tree / "lib" / name)
    (tree / "lib" / LOADER).chmod(0o755)
    site = tree / "lib" / "python3" / "dist-packages"  # where Debian's interpreter looks, from its prefix on
    packages.install_wheels(site, archive, PYTHON)
    shutil.rmtree(site / "share", ignore_errors=True)
    shutil.copytree(release.ROOT / "docs" / "installed" / "data" / "share", tree / "share")
    for name in LICENCES:
        (tree / "share" / "doc" / name).mkdir(parents=True)
        shutil.copy(system / "usr" / "share" / "doc" / name / "copyright", tree / "share" / "doc" / name)
    (tree / "libexec").mkdir()
    shutil.copy(system / "usr" / "bin" / f"python{PYTHON}", tree / "libexec" / f"python{PYTHON}")
    programs = {
        "libexec/iocast.py": COMMAND,
        "bin/python": launcher("python", ""),
        "bin/iocast": launcher("iocast", ' "$home/libexec/iocast.py"'),
    }
    (tree / "bin").mkdir()
    for name, text in programs.items():
        (tree / name).write_text(text, "utf-8")
        (tree / name).chmod(0o755)
    for name in ("python", "iocast"):  # what is run is the loader: by these names ps and top show it
        (tree / "libexec" / name).symlink_to(f"../lib/{LOADER}")


def launcher(what: str, script: str) -> str:
    """A script that starts the interpreter with a script, or with what it is given."""
    return LAUNCHER.format(what=what, python=PYTHON, script=script)


def document(into: Path, version: str, epoch: int) -> None:
    """Licences and parts of the archive: those of the wheels, and the packages of Debian."""
    into.mkdir(parents=True)
    debs = [name_and_version(name) for name in read_lock(LOCK.read_text("utf-8"))]
    of_debian = [parts.Part("deb/debian", name, number, LICENCES[name]) for name, number in debs]
    listed = sorted([*parts.parts_of(release.ROOT), *of_debian])
    shutil.copy(release.ROOT / "LICENSE", into / "copyright")
    (into / f"iocast-{version}.cdx.json").write_text(parts.bill(listed, version, epoch), "utf-8")
    (into / f"iocast-{version}-licences.txt").write_text(parts.licences(listed, version), "utf-8")


def compile_all(tree: Path) -> None:
    """Compiles all modules with the interpreter of the tree. Python never checks them against their sources: the tree
    may be read-only.

    It is started without its script, which would ignore the fixed order of sets.
    """
    library = tree / "lib"
    command = [library / LOADER, "--library-path", library, "--argv0", tree / "bin" / "python"]
    command += [tree / "libexec" / f"python{PYTHON}", "-B", "-P", "-m", "compileall", "-q", "-f"]
    command += ["--invalidation-mode", "unchecked-hash", "-s", tree, library]
    subprocess.run(command, check=True, env={"PATH": os.defpath, "PYTHONHASHSEED": "0"})


if __name__ == "__main__":
    sys.exit(main())
