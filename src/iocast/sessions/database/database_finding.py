"""The URL of a database becomes a Target: the server, its data set, and the storage below it where that is here."""

from __future__ import annotations

import os

from msgspec.structs import replace

from iocast.errors import IocastError
from iocast.load.database.load_server import LoadServer
from iocast.load.database.servers import connect
from iocast.model.database.database_result import DatabaseServer
from iocast.model.target import Target
from iocast.tools.database_address import AskPassword

_REMOTE = "the server is on another machine, or hides its folder from this user: its storage cannot be seen from here"


def find_database(url: str, ask: AskPassword | None = None) -> Target:
    """The Target of a database with a complete data set. Raises IocastError."""
    server = connect(url, ask)
    try:
        return target_of(server, server.describe())
    finally:
        server.close()


def target_of(server: LoadServer, described: DatabaseServer) -> Target:
    """The Target of a server that is connected: with file system and devices where its folder is on this machine."""
    from iocast.observe.memory_left import memory_limit_bytes

    pid = server.local_pid()
    folder = data_folder(pid)
    below = storage_of(folder) if folder else None
    notes = () if below else (_REMOTE,)
    if pid is not None:
        described = replace(described, pid=_server(pid), memory_limit_bytes=memory_limit_bytes(process=str(pid)))
    return replace(
        below or Target(path="", kind="database"),
        path=server.redacted,
        kind="database",
        size_bytes=described.data_bytes or None,
        database=described,
        notes=(*(below.notes if below else ()), *notes),
        identity=None,
    )


def data_folder(pid: int | None) -> str:
    """Where a process of a server works, which is where its data are; "" where that cannot be seen."""
    if pid is None:
        return ""
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""


def storage_of(folder: str) -> Target | None:
    """What the folder stands on; None where it cannot be seen."""
    from iocast.observe.target.device_stack import describe

    try:
        return describe(folder)
    except IocastError:
        return None


def _server(pid: int) -> int:
    """The server of a process: its parent, if that runs the same program, as a session of PostgreSQL; else itself."""
    from iocast.observe.limits import read_or_empty

    words = read_or_empty(f"/proc/{pid}/stat").rpartition(")")[2].split()
    parent = int(words[1]) if len(words) > 1 else 0
    same = parent > 1 and read_or_empty(f"/proc/{parent}/comm") == read_or_empty(f"/proc/{pid}/comm") != ""
    return parent if same else pid
