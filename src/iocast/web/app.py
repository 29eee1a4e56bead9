"""The pages and what they ask for: a list of runs, a report, a comparison, a run while it happens."""

from __future__ import annotations

from html import escape
from importlib import resources
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from iocast.archive.catalogue import Found
from iocast.errors import IocastError
from iocast.text import shown
from iocast.web.access import Access
from iocast.web.folders import Folders

KINDS = {"css": "text/css", "js": "text/javascript", "html": "text/html"}
OWN_ONLY = "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'"


def make_app(directory: str, token: str | None = None) -> Starlette:
    """The application for one directory of run folders; with a token, only who has it may read."""
    pages = _Pages(Folders(directory))
    routes = [
        Route("/", pages.index),
        Route("/static/{name}", pages.static),
        Route("/api/runs", pages.runs),
        Route("/api/progress/{name:path}", pages.progress),
        Route("/run/{name:path}", pages.run),
        Route("/follow/{name:path}", pages.follow),
        Route("/compare", pages.compare),
    ]
    return Starlette(routes=routes, middleware=[Middleware(Access, token=token)])


class _Pages:
    def __init__(self, folders: Folders) -> None:
        self.folders = folders

    async def index(self, _request: Request) -> Response:
        return _own("index.html")

    async def follow(self, _request: Request) -> Response:
        return _own("follow.html")

    async def static(self, request: Request) -> Response:
        name = request.path_params["name"]
        return _own(name) if name in ("style.css", "index.js", "follow.js", "figures.js") else Response(status_code=404)

    async def runs(self, _request: Request) -> Response:
        found = await run_in_threadpool(self.folders.runs)
        lines = [_line(run) for run in found]
        return _json({"directory": shown(self.folders.directory), "runs": lines})

    async def progress(self, request: Request) -> Response:
        try:
            return _json(await run_in_threadpool(self.folders.progress, request.path_params["name"]))
        except IocastError as error:
            return _json({"error": error.message}, 404)

    async def run(self, request: Request) -> Response:
        return await _report(self.folders.page, request.path_params["name"])

    async def compare(self, request: Request) -> Response:
        names = request.query_params.getlist("run")
        if len(names) < 2:
            return _refused("at least two runs are needed to compare", "select them in the list")
        return await _report(self.folders.comparison, names)


def _line(run: Found) -> dict[str, Any]:
    facts = msgspec.to_builtins(run.summary) if run.summary else {}
    return {**facts, "job": facts.get("name", ""), "name": run.name, "why": run.why}


async def _report(make: Any, what: Any) -> Response:
    try:
        return HTMLResponse(await run_in_threadpool(make, what))
    except IocastError as error:
        return _refused(error.message, error.hint)


def _refused(message: str, hint: str) -> Response:
    text = (
        "<!doctype html><html lang=en><meta charset=utf-8><title>iocast</title>"
        "<link rel=stylesheet href=/static/style.css><link rel=icon href=data:,><main>"
        f"<h1>Page not available</h1><p>{escape(message)}</p><p>{escape(hint)}</p>"
        "<p><a href=/>All runs</a></p></main></html>"
    )
    return HTMLResponse(text, 404, {"Content-Security-Policy": OWN_ONLY})


def _own(name: str) -> Response:
    text = resources.files("iocast.web.pages").joinpath(name).read_text("utf-8")
    return Response(text, media_type=KINDS[name.rsplit(".", 1)[1]], headers={"Content-Security-Policy": OWN_ONLY})


def _json(value: object, status: int = 200) -> Response:
    return Response(msgspec.json.encode(value), status, media_type="application/json")
