"""One spelling of PostgreSQL's wait events: 17 renamed `WALSync` to `WalSync` and others; this ships those of 18."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def _spelling() -> dict[tuple[str, str], str]:
    """Type and name in lower case → `type|name`, as PostgreSQL 18 spells both."""
    text = files("iocast.databases.postgresql").joinpath("wait_events.txt").read_text(encoding="utf-8")
    names = (line.split("|") for line in text.splitlines() if line and not line.startswith("#"))
    return {(kind.lower(), name.lower()): f"{kind}|{name}" for kind, name in names}


def wait_name(kind: str, name: str) -> str:
    """`IO|DataFileRead`: type and name, since one name may be of two types. An unknown event keeps its own spelling."""
    return _spelling().get((kind.lower(), name.lower()), f"{kind}|{name}")
