"""`iocast serve` on real sockets: half requests end, connections are counted, nothing sends a browser elsewhere."""

from __future__ import annotations

import re
import resource
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
from makers.left_out import long_after

pytestmark = pytest.mark.slow

# The same server with little patience: what a test waits for, it waits for less than a person would.
_IMPATIENT = """
import asyncio.constants, sys
from iocast.web import app, serving
asyncio.constants.ACCEPT_RETRY_DELAY = 0.1
serving.HEAD_WITHIN_S, app.BODY_WITHIN_S, serving.TAKEN_WITHIN_S = 0.3, 0.3, 0.3
from iocast.commands import run_command_line
sys.exit(run_command_line(["serve", sys.argv[1], "--port", "0"]))
"""


class Served:
    """A server in a process of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stderr
        self.address, self.for_changes = (process.stderr.readline().split()[-1] for _ in range(2))
        process.stderr.readline()  # press Ctrl-C to stop
        self.port = int(re.findall(r":(\d+)/", self.address)[0])

    def connect(self) -> socket.socket:
        """A connection that sends nothing yet."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def ask(self, request: bytes) -> bytes:
        """All that comes back until the server closes."""
        with self.connect() as connection:
            connection.sendall(request)
            return _until_closed(connection)

    def get(self, path: str, more: str = "") -> bytes:
        """One whole request."""
        return self.ask(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{more}Connection: close\r\n\r\n".encode())


@contextmanager
def _served(directory: Path, files: int | None = None) -> Iterator[Served]:
    limits = None if files is None else (files, files)
    process = subprocess.Popen(
        [sys.executable, "-c", _IMPATIENT, str(directory)],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=(lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limits)) if limits else None,
    )
    try:
        yield Served(process)
    finally:
        process.terminate()
        process.wait(60)
        assert process.stderr
        process.stderr.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with _served(tmp_path_factory.mktemp("runs")) as served:
        yield served


def _until_closed(connection: socket.socket) -> bytes:
    found = b""
    try:
        while part := connection.recv(65536):
            found += part
    except ConnectionResetError:
        pass
    return found


@pytest.mark.parametrize(
    "half",
    [
        b"",
        b"GET / HT",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HT",  # a whole one before it
        b"POST /api/notes/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{",
    ],
)
def test_half_a_request_is_given_up(server: Served, half: bytes) -> None:
    with server.connect() as connection:
        if half:
            connection.sendall(half)
        answer = _until_closed(connection)  # which never ends where the server waits for the rest
    assert answer.startswith(b"HTTP/1.1 200") == (half.count(b"GET /") == 2)


def test_a_head_that_goes_on_and_on_is_given_up(server: Served) -> None:
    with server.connect() as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
        sent = 0
        while not select.select([connection], [], [], 0.02)[0]:
            connection.sendall(b"X: y\r\n")
            sent += 1
            assert sent < 3000, "a line every 20 ms keeps the connection"


def test_a_body_that_does_not_end_is_given_up(server: Served) -> None:
    token = server.for_changes.partition("token=")[2]
    head = (
        f"POST /api/notes/x HTTP/1.1\r\nHost: localhost:{server.port}\r\nOrigin: http://localhost:{server.port}\r\n"
        f"Content-Type: application/json\r\nCookie: iocast_token_{server.port}={token}\r\nContent-Length: 100\r\n\r\n{{"
    )
    answer = server.ask(head.encode())
    assert answer.startswith(b"HTTP/1.1 408"), answer


@pytest.mark.parametrize(
    "request_line", [b"GET /" + b"a" * 70_000, b"GET / HTTP/1.1\r\nX: " + b"a" * 70_000, b"\x00\x1b]0;x\x07\r\n\r\n"]
)
def test_what_is_too_long_or_no_request_is_refused(server: Served, request_line: bytes) -> None:
    answer = server.ask(request_line)
    assert not answer or answer.startswith(b"HTTP/1.1 400"), answer


@pytest.mark.parametrize(
    "path",
    ["//evil.example/", "///evil.example", "/\\evil.example", "/%5cevil.example/", "/%09/evil.example", "/%2f/e"],
)
def test_no_redirect_leaves_this_server(server: Served, path: str) -> None:
    token = server.for_changes.partition("token=")[2]
    for asked in (path, f"{path}?token={token}", f"{path}/api/runs/?token={token}"):
        head = server.get(asked).partition(b"\r\n\r\n")[0].decode()
        for where in re.findall(r"(?im)^location: (.*)$", head):
            assert re.match(r"/(?![/\\])", where.strip()), where
    assert b" 404 " in server.get("/api/runs/").partition(b"\r\n")[0]


@pytest.mark.long
def test_more_connections_than_the_limit_are_refused_and_wait_for_none(tmp_path: Path) -> None:
    """With 96 descriptors 32 connections are held: the others are answered, and the first ones are given up."""
    with _served(tmp_path, files=96) as server, ExitStack() as held:
        connections = [held.enter_context(server.connect()) for _ in range(90)]
        answers = [_until_closed(each) for each in connections]
        busy = sum(answer.startswith(b"HTTP/1.1 503") for answer in answers)
        assert 0 < busy < 90
        assert server.get("/").startswith(b"HTTP/1.1 200")


@pytest.mark.long
def test_without_descriptors_it_waits_in_one_line(tmp_path: Path) -> None:
    with _served(tmp_path, files=1024) as server, ExitStack() as held:
        assert server.get("/").startswith(b"HTTP/1.1 200")  # its address is said before it has all that it needs
        in_use = len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (in_use + 1, 1024))
        connections = [held.enter_context(server.connect()) for _ in range(20)]
        for each in connections:
            with suppress(ConnectionError):
                each.sendall(b"GET / HT")
            _until_closed(each)
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (1024, 1024))
        assert server.get("/").startswith(b"HTTP/1.1 200")
        server.process.terminate()
        assert server.process.stderr
        said = server.process.stderr.read()
        assert said.count("\n") == 1, said
        assert said.startswith("ERROR: connections wait: Too many open files"), said


@pytest.mark.parametrize("number", long_after(1, [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]))
def test_a_signal_stops_it_in_order(tmp_path: Path, number: int) -> None:
    """Who supervises it takes any other exit code for a failure."""
    with _served(tmp_path) as server:
        assert server.get("/").startswith(b"HTTP/1.1 200")
        server.process.send_signal(number)
        assert server.process.wait(60) == 0


@pytest.mark.long
def test_what_others_can_listen_to_is_said(tmp_path: Path) -> None:
    for host, said in (("0.0.0.0", True), ("127.0.0.1", False)):
        process = subprocess.Popen(
            [sys.executable, "-m", "iocast", "serve", str(tmp_path), "--port", "0", "--host", host],
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr
        lines = []
        while not lines or "press Ctrl-C" not in lines[-1]:
            lines.append(process.stderr.readline())
            assert lines[-1], "the server ended"
        process.terminate()
        process.wait(60)
        process.stderr.close()
        assert ("nothing is encrypted" in "".join(lines)) == said
        assert ("ssh -L" in "".join(lines)) == said
