"""A pooler before PostgreSQL: drops the settings of a session, or names a process of its own as the server's."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

_SSL, _GSS = 80877103, 80877104


@contextlib.contextmanager
def pooler(server: Path, folder: Path, *, drops: bool = False, lends: bool = False) -> Iterator[str]:
    """The `host=` of a URL that leads to the server's socket. `drops`: settings are dropped; `lends`: another process
    is named."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / ".s.PGSQL.5432"))
        listening.listen()
        listening.settimeout(0.1)
        done = threading.Event()
        thread = threading.Thread(target=_serve, args=(listening, server, done, drops, lends), daemon=True)
        thread.start()
        try:
            yield f"host={quote(str(folder), safe='')}"
        finally:
            done.set()
            thread.join()


def _serve(listening: socket.socket, server: Path, done: threading.Event, drops: bool, lends: bool) -> None:
    while not done.is_set():
        with contextlib.suppress(TimeoutError):
            client, _ = listening.accept()
            client.settimeout(None)
            threading.Thread(target=_session, args=(client, server, drops, lends), daemon=True).start()


def _session(client: socket.socket, server: Path, drops: bool, lends: bool) -> None:
    with client, socket.socket(socket.AF_UNIX) as behind:
        behind.connect(str(server / ".s.PGSQL.5432"))
        with contextlib.suppress(OSError, EOFError):
            behind.sendall(_startup(client, drops))
            back = threading.Thread(target=_answers, args=(behind, client, lends), daemon=True)
            back.start()
            while data := client.recv(65536):
                behind.sendall(data)


def _startup(client: socket.socket, drops: bool) -> bytes:
    while True:
        (length,) = struct.unpack("!i", _exactly(client, 4))
        body = _exactly(client, length - 4)
        if struct.unpack("!i", body[:4])[0] not in (_SSL, _GSS):
            break
        client.sendall(b"N")
    words = body[4:].rstrip(b"\0").split(b"\0")
    pairs = [
        (name, value) for name, value in zip(words[::2], words[1::2], strict=True) if name != b"options" or not drops
    ]
    text = body[:4] + b"".join(name + b"\0" + value + b"\0" for name, value in pairs) + b"\0"
    return struct.pack("!i", len(text) + 4) + text


def _answers(behind: socket.socket, client: socket.socket, lends: bool) -> None:
    """Message by message until the session is ready, then as it comes."""
    with contextlib.suppress(OSError, EOFError):
        kind = b""
        while kind != b"Z":
            kind = _exactly(behind, 1)
            length = _exactly(behind, 4)
            body = _exactly(behind, struct.unpack("!i", length)[0] - 4)
            if kind == b"K" and lends:
                body = struct.pack("!i", 77777777) + body[4:]
            client.sendall(kind + length + body)
        while data := behind.recv(65536):
            client.sendall(data)


def _exactly(end: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        part = end.recv(count - len(data))
        if not part:
            raise EOFError
        data += part
    return data
