"""Scrapers that are slow, many, or none: each is given up in time, in one thread, and others are answered meanwhile."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from iocast import metrics
from iocast.commands.live import scrape_server
from iocast.commands.live.scrape_server import MOST_CONNECTIONS, Latest, listening
from iocast.model.live.moment import Moment, moment_of
from iocast.model.run import Sample

GET = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"


def _moment(devices: int = 3) -> Moment:
    samples = [Sample(1, metrics.DISKSTATS, f"sd{number}", metrics.READS, 5.0) for number in range(devices)]
    return moment_of(1, samples, 0)


@pytest.fixture
def latest(monkeypatch: pytest.MonkeyPatch) -> Iterator[Latest]:
    """A server with little patience that has a moment to show."""
    monkeypatch.setattr(scrape_server, "HEAD_WITHIN_S", 0.3)
    monkeypatch.setattr(scrape_server, "TAKEN_WITHIN_S", 0.3)
    with listening("127.0.0.1:0") as latest:
        latest.moment = _moment()
        yield latest


def _connect(latest: Latest) -> socket.socket:
    host, _, port = latest.address.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=60)


def _until_closed(connection: socket.socket) -> bytes:
    received = b""
    with contextlib.suppress(ConnectionResetError):
        while part := connection.recv(65536):
            received += part
    return received


def _asked(latest: Latest, request: bytes = GET) -> bytes:
    with _connect(latest) as connection:
        connection.sendall(request)
        return _until_closed(connection)


def test_a_moment_is_made_into_text_once(latest: Latest, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    real = scrape_server.scraped
    monkeypatch.setattr(scrape_server, "scraped", lambda *of, **form: made.append(of) or real(*of, **form))
    bodies = {_asked(latest).partition(b"\r\n\r\n")[2] for _ in range(5)}
    assert len(made) == len(bodies) == 1
    latest.moment = _moment(4)
    assert _asked(latest).count(b'device="sd3"') == 1
    assert len(made) == 2


def test_a_scraper_gets_the_form_that_it_takes(latest: Latest) -> None:
    """Prometheus asks for OpenMetrics; promtool takes its own text format, where names have their ending."""
    asks = b"GET /metrics HTTP/1.1\r\nAccept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5\r\n\r\n"
    newer, older = _asked(latest, asks), _asked(latest)
    assert b"Content-Type: application/openmetrics-text" in newer
    assert newer.endswith(b"# EOF\n")
    assert b"Content-Type: text/plain; version=0.0.4" in older
    assert b"# TYPE node_disk_reads_completed_total counter" in older


@pytest.mark.parametrize(
    ("request_text", "status"),
    [
        (GET, b"200"),
        (b"HEAD / HTTP/1.0\r\n\r\n", b"200"),
        (b"GET /other HTTP/1.1\r\n\r\n", b"404"),
        (b"POST /metrics HTTP/1.1\r\n\r\n", b"405"),
        (b"\x00\xff\x1b]0;x\x07\r\n\r\n", b"400"),
        (b"\r\n\r\n", b"400"),
        (b"GET /" + b"a" * 100_000, b""),
    ],
)
def test_each_request_has_its_answer(latest: Latest, request_text: bytes, status: bytes) -> None:
    try:
        answer = _asked(latest, request_text)
    except ConnectionError:  # it has seen enough of it
        answer = b""
    assert answer.split()[1:2] == ([status] if status else [])
    assert _asked(latest).split()[1] == b"200"


def test_a_byte_now_and_then_keeps_no_connection(latest: Latest) -> None:
    """Each byte comes in time; the whole head does not."""
    with _connect(latest) as connection:
        sent = 0
        while not select.select([connection], [], [], 0.02)[0]:
            connection.sendall(b"G")
            sent += 1
            assert sent < 3000, "a byte every 20 ms keeps the connection"


@pytest.mark.long
def test_an_answer_that_nobody_takes_is_given_up(latest: Latest) -> None:
    latest.moment = _moment(200_000)  # more than the kernel keeps for a reader
    with _connect(latest) as connection:
        connection.sendall(GET)
        assert b"# EOF" not in _later(connection)


def _later(connection: socket.socket) -> bytes:
    """What came of an answer, read only when the server has ended the connection.

    Its end is queued behind what nobody reads, so the kernel is asked in which state the server's side is.
    """
    end = time.monotonic() + 60
    while _is_established(connection.getsockname()[1]) and time.monotonic() < end:
        time.sleep(0.02)
    return _until_closed(connection)


def _is_established(port: int) -> bool:
    """True while the side that is connected to that port is open."""
    sockets = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(remote.endswith(f":{port:04X}") and state == "01" for _, _, remote, state, *_ in sockets)


def test_many_connections_take_no_threads_and_hold_up_nobody(latest: Latest) -> None:
    threads = threading.active_count()
    with contextlib.ExitStack() as held:
        connections = [held.enter_context(_connect(latest)) for _ in range(3 * MOST_CONNECTIONS)]
        assert threading.active_count() == threads
        answers = [_until_closed(each) for each in connections]  # which never ends where the server waits for more
        refused = sum(b" 503 " in answer for answer in answers)
        assert 0 < refused <= 2 * MOST_CONNECTIONS
    assert _asked(latest).split()[1] == b"200"


def test_it_ends_with_connections_open() -> None:
    """Whatever step a connection has reached by then: made by the kernel, accepted, or waiting for its request."""
    for _ in range(30):
        with listening("127.0.0.1:0") as latest:
            connections = [_connect(latest) for _ in range(3)]
        assert {_until_closed(each) for each in connections} == {b""}
        for each in connections:
            each.close()
