"""Serves the latest moment of a live watch as metrics at /metrics. A slow scraper delays no other."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Iterator

from iocast.errors import LoadError, SpecError
from iocast.model.live.moment import Moment
from iocast.report.live.open_metrics import OPEN_METRICS, TEXT, scraped
from iocast.starting import starting

HERE = "127.0.0.1"
HEAD_WITHIN_S = 10.0  # from the connection to the end of a request's head
TAKEN_WITHIN_S = 30.0  # of a whole answer
MOST_CONNECTIONS = 32
_LONGEST_LINE = 8 << 10  # bytes of a request's head
_PLAIN = "text/plain; charset=utf-8"
_OPEN = b"application/openmetrics-text"


class Latest:
    """The moment that is shown; None before the first. The one before it is kept for gauges of the interval."""

    def __init__(self) -> None:
        self._shown: tuple[Moment | None, Moment | None] = (None, None)
        self.address = ""
        self._bodies: dict[bool, tuple[Moment, bytes]] = {}

    @property
    def moment(self) -> Moment | None:
        """The newest."""
        return self._shown[1]

    @moment.setter
    def moment(self, moment: Moment) -> None:
        self._shown = (self._shown[1], moment)

    def body(self, *, open_metrics: bool) -> bytes:
        """The moment as text, made once for all who ask for this form of it."""
        before, moment = self._shown
        assert moment is not None
        made_of, body = self._bodies.get(open_metrics, (None, b""))
        if made_of is not moment:
            body = scraped(moment, before, open_metrics=open_metrics).encode()
            self._bodies[open_metrics] = (moment, body)
        return body


@contextlib.contextmanager
def listening(address: str) -> Iterator[Latest]:
    """Answers at HOST:PORT, or :PORT of this machine alone, while entered. Raises SpecError."""
    host, _, port = address.rpartition(":")
    if not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise SpecError(f"--listen {address} is not HOST:PORT", "give e.g. --listen 127.0.0.1:9101")
    name = host.strip("[]") or HERE
    try:
        opened = socket.create_server((name, int(port)), family=socket.AF_INET6 if ":" in name else socket.AF_INET)
    except OSError as error:
        raise SpecError(f"cannot listen on {address}: {error.strerror}", "give another address or port") from error
    latest = Latest()
    latest.address = f"{host or HERE}:{opened.getsockname()[1]}"
    loop, ended = asyncio.new_event_loop(), asyncio.Event()
    loop.set_exception_handler(lambda *_: None)  # without a descriptor connections wait: that is no news
    thread = threading.Thread(target=_serve, args=(loop, ended, opened, latest), name="scrapes", daemon=True)
    with opened:
        try:
            with starting():
                thread.start()
        except LoadError:
            loop.close()
            raise
        try:
            yield latest
        finally:
            with contextlib.suppress(RuntimeError):  # it has ended
                loop.call_soon_threadsafe(ended.set)
            thread.join()


def _serve(loop: asyncio.AbstractEventLoop, ended: asyncio.Event, opened: socket.socket, latest: Latest) -> None:
    """Answers in this thread until it is ended; who is connected then is left."""
    connected: set[asyncio.StreamWriter] = set()
    answering: set[asyncio.Task[None]] = set()

    def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        busy = len(connected) >= MOST_CONNECTIONS
        connected.add(writer)
        task = loop.create_task(answer(None if busy else reader, writer))
        answering.add(task)
        task.add_done_callback(lambda task: leave(task, writer))  # called too where it ends before its first step

    def leave(task: asyncio.Task[None], writer: asyncio.StreamWriter) -> None:
        answering.discard(task)
        connected.discard(writer)
        if not writer.is_closing():
            writer.transport.abort()

    async def answer(reader: asyncio.StreamReader | None, writer: asyncio.StreamWriter) -> None:
        """Answers what the reader asks; no reader: too many are connected."""
        writer.transport.set_write_buffer_limits(0)  # drained is what the kernel has taken
        try:
            async with asyncio.timeout(HEAD_WITHIN_S):
                words, open_metrics = await _request(reader) if reader else ([], False)
            async with asyncio.timeout(TAKEN_WITHIN_S):
                writer.write(
                    _response_to(words, latest, open_metrics=open_metrics)
                    if reader
                    else _answer(503, "too many connections: try again in a while")
                )
                await writer.drain()
            writer.close()
        except (OSError, ValueError):  # it left, was too slow, or sent what is no line
            pass

    async def serve() -> None:
        server = await asyncio.start_server(connect, sock=opened, limit=_LONGEST_LINE)
        await ended.wait()
        server.close()
        me = asyncio.current_task()
        while others := asyncio.all_tasks() - {me}:  # an accepted connection begins its answer a step later
            for each in others:
                each.cancel()
            await asyncio.wait(others)
            await asyncio.sleep(0)

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(serve())


async def _request(reader: asyncio.StreamReader) -> tuple[list[str], bool]:
    """The words of a request's first line, and whether it takes OpenMetrics, once its head has ended.

    Raises ValueError where a line is too long.
    """
    first = line = await reader.readline()
    accepts = False
    while line.strip():
        line = await reader.readline()
        accepts |= line.lower().startswith(b"accept:") and _OPEN in line.lower()
    return first.decode("latin-1").split(), accepts


def _response_to(words: list[str], latest: Latest, *, open_metrics: bool) -> bytes:
    """The answer to a request: /metrics, and nothing else."""
    moment = latest.moment
    if len(words) != 3 or not words[2].startswith("HTTP/"):
        return _answer(400, "this is no request")
    if words[0] not in ("GET", "HEAD"):
        return _answer(405, "only GET is answered")
    if words[1].partition("?")[0] not in ("/", "/metrics"):
        return _answer(404, "the counters are at /metrics")
    if moment is None:
        return _answer(503, "nothing was read yet")
    whole = _response(200, OPEN_METRICS if open_metrics else TEXT, latest.body(open_metrics=open_metrics))
    return whole if words[0] == "GET" else whole.partition(b"\r\n\r\n")[0] + b"\r\n\r\n"


def _answer(status: int, says: str) -> bytes:
    return _response(status, _PLAIN, f"{says}\n".encode())


def _response(status: int, kind: str, body: bytes) -> bytes:
    from http import HTTPStatus

    head = (
        f"HTTP/1.0 {status} {HTTPStatus(status).phrase}\r\nContent-Type: {kind}\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
