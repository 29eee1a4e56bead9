"""Databases are watched over connections of their own that read only; each kind is a module with `connect(url)`."""

from __future__ import annotations

from typing import Protocol

from iocast.databases.database import AskPassword, DatabaseObserver
from iocast.databases.mysql import mysql
from iocast.databases.oracle import oracle
from iocast.databases.postgresql import postgresql
from iocast.errors import SpecError
from iocast.tools.database_address import scheme_of


class DatabaseModule(Protocol):
    """One kind of database, as a module."""

    NAME: str
    SCHEMES: tuple[str, ...]
    NEEDS: str
    OVERHEAD: str

    def connect(
        self, url: str, *, ask: AskPassword | None = None, polls_per_s: float = 10.0, packs: bool = False
    ) -> DatabaseObserver:
        """The observer of a server, not yet entered. `packs`: views that cost a licence of their own may be read."""


DATABASES: tuple[DatabaseModule, ...] = (
    postgresql,
    mysql,
    oracle,
)


def database_of(url: str) -> DatabaseModule:
    """The kind of database that a URL names. Raises SpecError for others."""
    scheme = scheme_of(url)
    for module in DATABASES:
        if scheme in module.SCHEMES:
            return module
    known = ", ".join(f"{scheme}://" for module in DATABASES for scheme in module.SCHEMES)
    raise SpecError("the URL names no database that iocast knows", f"it starts with one of {known}")


def connect(
    url: str, *, ask: AskPassword | None = None, polls_per_s: float = 10.0, packs: bool = False
) -> DatabaseObserver:
    """The observer of the server that a URL names, not yet entered. Raises SpecError."""
    return database_of(url).connect(url, ask=ask, polls_per_s=polls_per_s, packs=packs)
