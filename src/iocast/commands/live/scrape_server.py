"""Answers scrapers: the latest moment of a live watch as OpenMetrics text, at /metrics."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from iocast.errors import SpecError
from iocast.model.live.moment import Moment
from iocast.report.live.open_metrics import CONTENT_TYPE, scraped

_HERE = "127.0.0.1"


class Latest:
    """The moment that is shown; None before the first."""

    def __init__(self) -> None:
        self.moment: Moment | None = None
        self.address = ""


@contextmanager
def listening(address: str) -> Iterator[Latest]:
    """Answers at HOST:PORT, or :PORT of this machine alone, while entered. Raises SpecError."""
    host, _, port = address.rpartition(":")
    if not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise SpecError(f"--listen {address} is not HOST:PORT", "give e.g. --listen 127.0.0.1:9101")
    latest = Latest()
    try:
        server = ThreadingHTTPServer((host.strip("[]") or _HERE, int(port)), _answering(latest))
    except OSError as error:
        raise SpecError(f"cannot listen on {address}: {error.strerror}", "give another address or port") from error
    server.daemon_threads = True
    latest.address = f"{host or _HERE}:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, name="scrapes", daemon=True)
    thread.start()
    try:
        yield latest
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _answering(latest: Latest) -> type[BaseHTTPRequestHandler]:
    class Answer(BaseHTTPRequestHandler):
        """One request of a scraper."""

        timeout = 10  # seconds: half a request keeps a thread no longer

        def do_GET(self) -> None:
            """/metrics, and nothing else."""
            if self.path.partition("?")[0] not in ("/", "/metrics"):
                self.send_error(404, "the counters are at /metrics")
            elif latest.moment is None:
                self.send_error(503, "nothing was read yet")
            else:
                body = scraped(latest.moment).encode()
                self.send_response(200)
                self.send_header("Content-Type", CONTENT_TYPE)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Scrapes are no news."""

    return Answer
