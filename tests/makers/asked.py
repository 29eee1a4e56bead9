"""Asks the pages of `iocast serve` without a server: a request goes straight into the application."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from iocast.web.access import cookie_name
from iocast.web.app import make_app
from iocast.web.live_frames import Frames

TOKEN = "the-token-of-the-tests"
HOST = "localhost:8077"
SAME_ORIGIN = {"origin": f"http://{HOST}", "content-type": "application/json"}


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        """The text as JSON."""
        return json.loads(self.text)


class Asker:
    """Asks for pages of a directory, as a browser that has the token or not."""

    def __init__(self, directory: Path, *, read_freely: bool = True, live: Frames | None = None) -> None:
        self.app = make_app(str(directory), TOKEN, read_freely=read_freely, live=live)

    def get(self, path: str, *, token: str = "", method: str = "GET", host: str = HOST) -> Answer:
        """Reads."""
        return self._ask(method, path, {"host": host}, token, b"")

    def post(self, path: str, change: object, *, token: str = TOKEN, **headers: str) -> Answer:
        """Changes something, from a page of this server if `headers` say nothing else."""
        given = {"host": HOST, **SAME_ORIGIN, **{name.replace("_", "-"): value for name, value in headers.items()}}
        body = change if isinstance(change, bytes) else json.dumps(change).encode()
        return self._ask("POST", path, given, token, body)

    def _ask(self, method: str, path: str, headers: dict[str, str], token: str, body: bytes) -> Answer:
        bare, _, query = path.partition("?")
        scope: dict[str, Any] = {
            "type": "http",
            "method": method,
            "path": unquote(bare),
            "raw_path": bare.encode(),
            "query_string": query.encode(),
            "server": ("localhost", 8077),
            "headers": [(name.encode(), value.encode()) for name, value in headers.items() if value],
        }
        if token:
            scope["headers"].append((b"cookie", f"{cookie_name(scope)}={token}".encode()))
        said: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: dict[str, Any]) -> None:
            said.append(message)

        asyncio.run(self.app(scope, receive, send))  # type: ignore[arg-type]
        found = {name.decode(): value.decode() for name, value in said[0]["headers"]}
        return Answer(said[0]["status"], found, b"".join(each.get("body", b"") for each in said[1:]).decode())
