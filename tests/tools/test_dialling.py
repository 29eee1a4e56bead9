"""Which server a URL leads to: the one that it names, whatever the environment or an option file says."""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Thread
from unittest.mock import Mock
from urllib.parse import quote

import pytest

from iocast.errors import DatabaseError, SpecError
from iocast.tools.my_dialling import MyDialling
from iocast.tools.pg_dialling import PgDialling


class Listeners:
    """Servers that hang up on everybody: only who was called is of interest."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self.called: set[str] = set()

    def network(self, name: str, host: str, port: int = 0) -> int:
        return int(self._bound(name, socket.AF_INET, (host, port)).getsockname()[1])

    def local(self, name: str, path: Path) -> None:
        self._bound(name, socket.AF_UNIX, str(path))

    def _bound(self, name: str, family: socket.AddressFamily, address: object) -> socket.socket:
        listener = socket.socket(family)
        listener.bind(address)  # type: ignore[arg-type]
        listener.listen()
        thread = Thread(target=self._hang_up, args=(name, listener))
        thread.start()
        self._stack.callback(thread.join)
        self._stack.callback(listener.close)
        self._stack.callback(listener.shutdown, socket.SHUT_RDWR)
        return listener

    def _hang_up(self, name: str, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                caller, _ = listener.accept()
                self.called.add(name)
                caller.close()


@pytest.fixture
def listeners(monkeypatch: pytest.MonkeyPatch) -> Iterator[Listeners]:
    for name in [name for name in os.environ if name.startswith(("PG", "MYSQL"))]:
        monkeypatch.delenv(name)
    with ExitStack() as stack:
        yield Listeners(stack)


def dial_pg(url: str) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(DatabaseError):
        PgDialling(url, None).connect("test", "")


def dial_mysql(url: str) -> None:
    pytest.importorskip("pymysql")
    with pytest.raises(DatabaseError):
        MyDialling(url, None).connect("test", read_timeout_s=1)


def test_the_host_of_a_url_goes_before_pghostaddr(listeners: Listeners, monkeypatch: pytest.MonkeyPatch) -> None:
    port = listeners.network("named", "127.0.0.1")
    listeners.network("environment", "127.0.0.2", port)
    monkeypatch.setenv("PGHOSTADDR", "127.0.0.2")
    dial_pg(f"postgresql://u@127.0.0.1:{port}/db")
    assert listeners.called == {"named"}


def test_the_socket_of_a_url_goes_before_pghostaddr_and_a_service(
    listeners: Listeners, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    port = listeners.network("environment", "127.0.0.1")
    listeners.local("named", tmp_path / ".s.PGSQL.5432")
    (tmp_path / "services").write_text(f"[prod]\nhostaddr=127.0.0.1\nport={port}\n")
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "services"))
    monkeypatch.setenv("PGSERVICE", "prod")
    monkeypatch.setenv("PGHOSTADDR", "127.0.0.1")
    monkeypatch.setenv("PGPORT", str(port))
    dial_pg(f"postgresql://iocast@/postgres?host={quote(str(tmp_path), safe='')}&port=5432")
    assert listeners.called == {"named"}


def test_a_url_without_a_host_leads_where_psql_goes(listeners: Listeners, monkeypatch: pytest.MonkeyPatch) -> None:
    port = listeners.network("environment", "127.0.0.2")
    monkeypatch.setenv("PGHOSTADDR", "127.0.0.2")
    monkeypatch.setenv("PGPORT", str(port))
    dial_pg("postgresql:///db")
    assert listeners.called == {"environment"}


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_host_and_port_go_before_the_socket_of_an_option_file(
    listeners: Listeners, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, host: str
) -> None:
    port = listeners.network("named", "127.0.0.1")
    listeners.local("file", tmp_path / "socket")
    (tmp_path / ".my.cnf").write_text(f"[client]\nsocket={tmp_path}/socket\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    dial_mysql(f"mysql://u@{host}:{port}/")
    assert listeners.called == {"named"}


@pytest.mark.parametrize("url", ["mysql://u@/", "mysql://u@localhost/"])
def test_without_a_port_localhost_is_the_socket_of_the_option_file(
    listeners: Listeners, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, url: str
) -> None:
    listeners.local("file", tmp_path / "socket")
    (tmp_path / ".my.cnf").write_text(f"[client]\nsocket={tmp_path}/socket\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    dial_mysql(url)
    assert listeners.called == {"file"}


def test_keys_of_a_connection_go_to_no_file_that_a_url_or_a_service_names(monkeypatch: pytest.MonkeyPatch) -> None:
    psycopg = pytest.importorskip("psycopg")
    with pytest.raises(SpecError, match="must not name a file for the keys"):
        PgDialling("postgresql://u@localhost/db?sslkeylogfile=/etc/passwd", None)
    connected: list[dict[str, object]] = []

    def connect(**settings: object) -> Mock:
        connected.append(settings)
        return Mock()

    monkeypatch.setattr(psycopg, "connect", connect)
    monkeypatch.setattr(psycopg.pq, "version", lambda: 180000)
    PgDialling("postgresql:///db?service=prod", None).connect("test", "")
    monkeypatch.setattr(psycopg.pq, "version", lambda: 170000)  # does not know the option
    PgDialling("postgresql:///db?service=prod", None).connect("test", "")
    assert [each.get("sslkeylogfile") for each in connected] == ["", None]


def test_keys_of_a_connection_go_to_no_file_that_the_environment_names(
    listeners: Listeners, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    authorities = ssl.get_default_verify_paths().cafile
    if authorities is None:
        pytest.skip("no authorities are installed here")
    port = listeners.network("named", "127.0.0.1")
    keys = tmp_path / "keys"
    keys.touch()
    monkeypatch.setenv("SSLKEYLOGFILE", str(keys))
    dial_mysql(f"mysql://u@127.0.0.1:{port}/db?ssl_ca={quote(authorities)}")
    assert keys.read_bytes() == b""
    assert os.environ["SSLKEYLOGFILE"] == str(keys)
