"""The pages and what they ask for: the list, reports, comparisons, trends, a run while it happens, its notes."""

from __future__ import annotations

import asyncio
import re
import secrets
import threading
from collections.abc import Awaitable, Callable
from importlib import resources
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import msgspec
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from iocast.archive.catalogue import CatalogueEntry, group_kind
from iocast.errors import IocastError, LoadError, SpecError
from iocast.model.summary import Notes
from iocast.report.renderers.html import with_links
from iocast.report.renderers.safe_words import safe
from iocast.starting import starting
from iocast.text import harmless, shown
from iocast.web.access import Access
from iocast.web.folders import Folders
from iocast.web.live_frames import Frames, Tapes, is_tape

KINDS = {"css": "text/css", "js": "text/javascript", "html": "text/html"}
OWN_ONLY = "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'"
SCRIPTS = ("index", "list_state", "follow", "live_chart", "edit", "figures", "watch", "heat_map")
STATIC = ("style.css", *(f"{name}.js" for name in SCRIPTS))
Maker = Callable[..., str]  # of a method of Folders by its name, and what it is given
_MAKING = threading.Lock()
BODY_WITHIN_S = 10.0
LARGEST_BODY = 100_000  # bytes of a change: the longest note, and room for what JSON makes of it


class NewName(msgspec.Struct):
    """What a run is to be called."""

    to: str


class Confirmation(msgspec.Struct):
    """The name of the run that is to be deleted, written by the person who deletes it; and whether files go that only
    have the names of its files.
    """

    confirm: str
    unproven: bool = False


def make_app(
    directory: str, token: str, *, read_freely: bool = False, live: Frames | None = None, make: Maker | None = None
) -> Starlette:
    """The application for one directory of run folders: who has the token may change them. `live`: this machine.

    With `read_freely` all may read who reach it by a name of this machine, without it those who have the token.
    `make` makes the pages of runs, elsewhere than here.
    """
    pages = _Pages(Folders(directory), live, make)
    routes = [
        Route("/", pages.own("index.html")),
        Route("/follow/{name:path}", pages.own("follow.html")),
        Route("/edit/{name:path}", pages.own("edit.html")),
        Route("/watch/{name:path}", pages.own("watch.html")),
        Route("/static/{name}", pages.static),
        Route("/run/{name:path}", pages.run),
        Route("/group/{name:path}", pages.group),
        Route("/compare", pages.compare),
        Route("/trend", pages.trend),
        Route("/api/runs", pages.runs),
        Route("/api/progress/{name:path}", pages.progress),
        Route("/api/watch/{name:path}", pages.watch),
        Route("/api/notes/{name:path}", pages.notes, methods=["GET"]),
        Route("/api/notes/{name:path}", pages.note, methods=["POST"]),
        Route("/api/rename/{name:path}", pages.rename, methods=["POST"]),
        Route("/api/delete/{name:path}", pages.delete, methods=["POST"]),
    ]
    app = Starlette(routes=routes, middleware=[Middleware(Access, token=token, read_freely=read_freely)])
    app.router.redirect_slashes = False  # to the host that the request names, whatever that is
    return app


class _Pages:
    def __init__(self, folders: Folders, live: Frames | None, make: Maker | None) -> None:
        self.folders, self.live = folders, live
        self.make = make or self._made_here
        self.lines = RunLines(self.folders)
        self.tapes = Tapes()

    def _made_here(self, page: str, *arguments: Any) -> str:
        """One page at a time: each takes the memory of a run and of its charts, and more share what there is."""
        with _MAKING:
            page_text: str = getattr(self.folders, page)(*arguments)
            return page_text

    def own(self, name: str) -> Callable[[Request], Awaitable[Response]]:
        async def page(_request: Request) -> Response:
            return _own(name)

        return page

    async def static(self, request: Request) -> Response:
        name = request.path_params["name"]
        return _own(name) if name in STATIC else Response(status_code=404)

    async def runs(self, request: Request) -> Response:
        """The list, which a page asks for every two seconds: nothing where it has this one."""

        def answer(have: str) -> dict[str, Any] | None:
            version, lines = self.lines.now()
            if version == have:
                return None
            about = {"directory": shown(self.folders.directory), "may_change": request.state.may_change}
            return {**about, "live": self.live is not None, "version": version, "runs": lines}

        return await _answer(answer, request.query_params.get("have", ""))

    async def progress(self, request: Request) -> Response:
        return await _answer(lambda name: safe(self.folders.progress(name)), request.path_params["name"])

    async def watch(self, request: Request) -> Response:
        parameters = request.query_params
        after, width = _number(parameters.get("after", "")), _number(parameters.get("width", ""))
        at = _number(parameters["at"]) if "at" in parameters else None

        def answer(name: str) -> dict[str, Any]:
            if name:
                frames = self.tapes.of(self.folders.folder(name))
            elif self.live is not None:
                frames = self.live
            else:
                raise SpecError("no live data", "start `iocast serve --watch` to see live data, or open a tape")
            return frames.frame(after, at, width, parameters.get("chosen", ""))

        return await _answer(answer, request.path_params["name"])

    async def run(self, request: Request) -> Response:
        name = request.path_params["name"]
        kept = {"list": back} if (back := request.query_params.get("list", "")) else {}

        def page(name: str) -> tuple[str, list[tuple[str, str]]]:
            trend = {**self.folders.trend_of(name), **kept}
            own = [("Trend of this target", f"/trend?{urlencode(trend)}")]
            if is_tape(self.folders.folder(name)):
                own = [("Play", f"/watch/{quote(name)}")]
            edit = f"/edit/{quote(name)}" + (f"?{urlencode(kept)}" if kept else "")
            return self.make("page", name), [*own, ("Notes, rename, delete", edit)]

        return await _report(request, page, name)

    async def group(self, request: Request) -> Response:
        return await _report(request, self.make, "group_page", request.path_params["name"])

    async def compare(self, request: Request) -> Response:
        names = request.query_params.getlist("run")
        if len(names) < 2:
            return _refused(request, "At least two runs are needed to compare", "select them in the list")
        return await _report(request, self.make, "comparison", names)

    async def trend(self, request: Request) -> Response:
        identity = tuple(request.query_params.get(key, "") for key in ("target", "host", "job"))
        kept = {"list": back} if (back := request.query_params.get("list", "")) else {}

        def page(*parameters: str) -> tuple[str, list[tuple[str, str]]]:
            runs = self.folders.of_trend(*parameters)
            beside = self.folders.trends_beside(runs)
            return self.make("trend", runs), [(name, f"/trend?{urlencode({**to, **kept})}") for name, to in beside]

        return await _report(request, page, *identity)

    async def notes(self, request: Request) -> Response:
        def answer(name: str) -> dict[str, Any]:
            return {**self.folders.notes_of(name), "may_change": request.state.may_change}

        return await _answer(answer, request.path_params["name"])

    async def note(self, request: Request) -> Response:
        return await _change(request, Notes, self.folders.note)

    async def rename(self, request: Request) -> Response:
        def rename(name: str, new_name: NewName) -> dict[str, str]:
            return {"name": self.folders.rename(name, new_name.to)}

        return await _change(request, NewName, rename)

    async def delete(self, request: Request) -> Response:
        def delete(name: str, confirmation: Confirmation) -> dict[str, Any]:
            if confirmation.confirm != name:
                raise SpecError("not deleted: the name does not match", f"confirm with the name of the run: {name}")
            return {"left": self.folders.delete(name, unproven=confirmation.unproven)}

        return await _change(request, Confirmation, delete)


def _number(text: str) -> int:
    """What a page sends; anything else is before all that there is."""
    return int(text) if re.fullmatch(r"-?\d{1,9}", text, re.ASCII) else -1


async def _answer(make: Callable[..., Any], *what: Any, refused: int = 404) -> Response:
    try:
        with starting():  # a thread of the pool
            answer = await run_in_threadpool(make, *what)
    except IocastError as error:
        return _json({"error": error.message, "hint": error.hint}, _status(error, refused))
    return Response(status_code=204) if answer is None else _json(answer)


async def _change(request: Request, kind: type[Any], change: Callable[[str, Any], Any]) -> Response:
    """Carries out what a page asks for, which `Access` has let in."""
    body = b""
    try:
        async with asyncio.timeout(BODY_WITHIN_S):
            async for part in request.stream():
                body += part
                if len(body) > LARGEST_BODY:
                    return _json({"error": "the request is too large", "hint": "shorten the note"}, 413)
    except ClientDisconnect:
        return _json({"error": "the request did not end", "hint": "try again"}, 400)
    except TimeoutError:
        return _json({"error": "the request did not end in time", "hint": "try again"}, 408)
    try:
        form = msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return _json({"error": f"the request is not understood: {error}", "hint": "reload the page"}, 400)
    return await _answer(change, request.path_params["name"], form, refused=400)


async def _report(request: Request, make: Callable[..., Any], *what: Any) -> Response:
    try:
        with starting():
            document = await run_in_threadpool(make, *what)
    except IocastError as error:
        return _refused(request, error.message, error.hint, _status(error, 404))
    page, links = document if isinstance(document, tuple) else (document, [])
    return HTMLResponse(with_links(page, [("All runs", _list(request)), *links]))


def _list(request: Request) -> str:
    """The address of the list as it was when it was left: its filters, order and selection."""
    kept = request.query_params.get("list", "")
    return f"/?{kept}" if kept else "/"


def _status(error: IocastError, usual: int) -> int:
    """Of a refusal: what this machine has too little of is no fault of the request."""
    return 503 if isinstance(error, LoadError) else usual


def _refused(request: Request, message: str, hint: str, status: int = 404) -> Response:
    frame = Markup(_text("refused.html"))
    text = frame.format(message=harmless(message), hint=harmless(hint), back=_list(request))
    return HTMLResponse(text, status, {"Content-Security-Policy": OWN_ONLY})


def _own(name: str) -> Response:
    return Response(
        _text(name), media_type=KINDS[name.rsplit(".", 1)[1]], headers={"Content-Security-Policy": OWN_ONLY}
    )


def _text(name: str) -> str:
    return resources.files("iocast.web.pages").joinpath(name).read_text("utf-8")


def _json(value: object, status: int = 200) -> Response:
    return Response(msgspec.json.encode(value), status, media_type="application/json")


class Lines(NamedTuple):
    """All lines, and a word for them: another list has another word."""

    version: str
    lines: tuple[msgspec.Raw, ...]


class RunLines:
    """The lines of the runs of a directory."""

    def __init__(self, folders: Folders) -> None:
        self._folders = folders
        self._of: list[CatalogueEntry] | None = None
        self._made: dict[str, tuple[CatalogueEntry, msgspec.Raw]] = {}
        self._all = Lines("", ())
        self._making = threading.Lock()

    def now(self) -> Lines:
        """Those of now. Raises ArchiveError."""
        with self._making:
            runs = self._folders.runs()
            if runs is not self._of:
                before, self._made = self._made, {}
                for run in runs:
                    known = before.get(run.folder)
                    self._made[run.folder] = known if known and known[0] is run else (run, _encoded(run))
                self._all = Lines(secrets.token_hex(8), tuple(line for _, line in self._made.values()))
                self._of = runs
            return self._all


def _encoded(run: CatalogueEntry) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(_line(safe(run))))


def _line(run: CatalogueEntry) -> dict[str, Any]:
    facts = msgspec.to_builtins(run.summary) if run.summary else {}
    said = {"note": run.notes.note, "tags": run.notes.tags}
    grouped = {"group": run.group, "group_kind": group_kind(run.group)} if run.group else {}
    return {**facts, **said, **grouped, "job": facts.get("name", ""), "name": run.name, "why": run.why}
