"""Which kind of server a URL names, as one that can be loaded."""

from __future__ import annotations

from iocast.errors import SpecError
from iocast.load.database.load_server import LoadServer
from iocast.tools.database_address import AskPassword, scheme_of

_POSTGRESQL = ("postgresql", "postgres")
_answers: dict[str, str] = {}  # passwords that a person gave
SCHEMES = (*_POSTGRESQL, "mysql", "mariadb")


def is_database(url: str) -> bool:
    """True for the URL of a database that can be loaded."""
    return scheme_of(url) in SCHEMES


def connect(url: str, ask: AskPassword | None = None, *, building: bool = False) -> LoadServer:
    """The server at a URL, connected. Raises SpecError, DatabaseError."""
    if not is_database(url):
        known = ", ".join(f"{scheme}://" for scheme in SCHEMES)
        raise SpecError("the URL names no database that iocast can load", f"it starts with one of {known}")
    # A run connects several times: a person is asked once a process.
    if scheme_of(url) in _POSTGRESQL:
        from iocast.load.database.postgresql import pg_load

        return pg_load.connect(url, ask, building=building, answers=_answers)
    from iocast.load.database.mysql import my_load

    return my_load.connect(url, ask, answers=_answers)
