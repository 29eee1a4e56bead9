"""Serves an application to whoever connects: half requests are given up, connections counted, its log is harmless."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import resource
import signal
import socket
import time
from collections.abc import Iterator
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from iocast.text import harmless

HEAD_WITHIN_S = 10.0  # from the connection, or the end of the answer before, to the end of a request's head
TAKEN_WITHIN_S = 30.0  # of an answer: its reader takes a part of it within this time
MOST_CONNECTIONS = 128
LARGEST_HEAD = 16 << 10  # bytes
_OWN_FILES = 64  # descriptors left for run folders, tables, and the process that makes pages
_WAITING = 32  # connections that the kernel holds until they are accepted
_TOLD_EVERY_S = 60.0
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain; charset=utf-8\r\nconnection: close\r\n"
    b"retry-after: 10\r\ncontent-length: 43\r\n\r\ntoo many connections: try again in a while\n"
)


def most_connections() -> int:
    """How many connections this process can hold and still read run folders."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_CONNECTIONS if files < 0 else max(4, min(MOST_CONNECTIONS, files - _OWN_FILES))


class BoundedProtocol(H11Protocol):
    """A connection of the library's, which it lets wait for ever, with an end to waiting and to their number."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._refused = False
        self._giving_up: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Takes it, or says that there are too many."""
        if len(self.connections) >= most_connections():
            self._refused, self.transport = True, transport
            transport.write(_BUSY)
            transport.close()
            return
        super().connection_made(transport)
        self._give_up_in(HEAD_WITHIN_S)

    def data_received(self, data: bytes) -> None:
        """A part of a request: once its head is whole, the application says how long the rest may take."""
        if self._refused:
            return
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._wait_on()

    def on_response_complete(self) -> None:
        """The next request has as long as the first."""
        super().on_response_complete()
        if self.cycle is None or self.cycle.response_complete:
            self._give_up_in(HEAD_WITHIN_S)

    def pause_writing(self) -> None:
        """Who asked does not take the answer."""
        super().pause_writing()
        self._give_up_in(TAKEN_WITHIN_S)

    def resume_writing(self) -> None:
        """It was taken."""
        self._wait_on()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        self._wait_on()
        if not self._refused:
            super().connection_lost(exc)

    def _give_up_in(self, seconds: float) -> None:
        self._wait_on()
        self._giving_up = self.loop.call_later(seconds, self.transport.abort)

    def _wait_on(self) -> None:
        if self._giving_up is not None:
            self._giving_up.cancel()
            self._giving_up = None


class HarmlessFormatter(logging.Formatter):
    """Lines of a log in which what a client sent moves no cursor."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as text."""
        return harmless(super().format(record))


_LOG: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"()": HarmlessFormatter, "format": "%(levelname)s: %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "loggers": {name: {"handlers": ["stderr"], "level": "WARNING"} for name in ("uvicorn", "asyncio")},
}


class _Server(uvicorn.Server):
    """The library's server, which ends well at a signal, and says once a minute that it has no descriptor left."""

    _told_s = -_TOLD_EVERY_S

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """A signal is what ends it, so that its exit code is 0; the library would raise it again afterwards."""
        before = {number: signal.getsignal(number) for number in _ENDING}
        for number, handler in before.items():
            if handler is not signal.SIG_IGN:
                signal.signal(number, self.handle_exit)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begins to listen."""
        asyncio.get_running_loop().set_exception_handler(self._failed)
        await super().startup(sockets)

    def _failed(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if not isinstance(context.get("exception"), OSError) or "socket" not in context:
            loop.default_exception_handler(context)
        elif time.monotonic() - self._told_s >= _TOLD_EVERY_S:
            self._told_s = time.monotonic()
            logging.getLogger("uvicorn.error").error(
                "connections wait: %s; a larger `ulimit -n` lets in more", context["exception"].strerror
            )


def run(app: ASGIApp, listening: socket.socket) -> None:
    """Serves until a signal ends it."""
    config = uvicorn.Config(
        app,
        http=BoundedProtocol,
        ws="none",
        log_config=_LOG,
        log_level="warning",
        access_log=False,
        server_header=False,
        backlog=_WAITING,
        h11_max_incomplete_event_size=LARGEST_HEAD,
        timeout_graceful_shutdown=5,
    )
    _Server(config).run(sockets=[listening])
