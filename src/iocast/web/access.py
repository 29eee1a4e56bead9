"""Who may read: anyone on this machine, elsewhere who has the token; who may change a run: only who has the token."""

from __future__ import annotations

import ipaddress
import secrets
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from iocast.text import shown

COOKIE = "iocast_token"
READING = ("GET", "HEAD")
METHODS = (*READING, "POST")
OPEN_PRINTED = "open the URL that the server printed at the start\n"
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cache-control", b"no-store"),
)


def is_loopback(host: str) -> bool:
    """True for an address or name that only this machine can reach."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def name_asked_for(host: str) -> str:
    """The name or address in a Host header, without its port; "" where it holds none."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def cookie_name(scope: Scope) -> str:
    """A name for this server alone: cookies are of a host, and two servers on one host would overwrite each other's."""
    server = scope.get("server")
    return f"{COOKIE}_{server[1]}" if server else COOKIE


def is_same_origin(headers: dict[str, str]) -> bool:
    """True when a request that changes something was made by a page of this server, as the browser says."""
    if headers.get("sec-fetch-site", "same-origin") != "same-origin":
        return False
    try:
        origin = urlsplit(headers.get("origin", ""))
    except ValueError:
        return False
    return bool(origin.netloc) and origin.netloc.lower() == headers.get("host", "").lower()


class Access:
    """Lets in whoever may read, and who has the token for changes; everything else gets a short refusal.

    Where all may read, the name that the browser used must be one of this machine, so that no web page elsewhere can
    have its own name point here and read through the visitor's browser.
    """

    def __init__(self, app: ASGIApp, token: str, *, read_freely: bool) -> None:
        self.app, self.token, self.read_freely = app, token, read_freely

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        cookie = cookie_parser(headers.get("cookie", "")).get(cookie_name(scope), "")
        may_change = self._is_token(cookie)
        refusal = self._refusal(scope, headers, may_change)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        scope.setdefault("state", {})["may_change"] = may_change

        async def with_headers(message: dict[str, object]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *HEADERS]  # type: ignore[misc]
            await send(message)

        await self.app(scope, receive, with_headers)  # type: ignore[arg-type]

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self.token.encode())

    def _refusal(
        self, scope: Scope, headers: dict[str, str], may_change: bool
    ) -> PlainTextResponse | RedirectResponse | None:
        if scope["method"] not in METHODS:
            return PlainTextResponse("method not allowed\n", 405, {"Allow": ", ".join(METHODS)})
        if self.read_freely and not is_loopback(name := name_asked_for(headers.get("host", ""))):
            return PlainTextResponse(f"this server answers requests to localhost only, not to {shown(name)}\n", 403)
        if scope["method"] == "POST":
            return self._refusal_of_change(headers, may_change)
        return self._by_address(scope, may_change)

    def _refusal_of_change(self, headers: dict[str, str], may_change: bool) -> PlainTextResponse | None:
        """A form of another page can send neither the cookie, nor this origin, nor JSON: each alone is enough."""
        if not may_change:
            return PlainTextResponse(f"changes need the token: {OPEN_PRINTED}", 401)
        if not is_same_origin(headers):
            return PlainTextResponse("changes are accepted from the pages of this server only\n", 403)
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return PlainTextResponse("changes are sent as application/json\n", 415)
        return None

    def _by_address(self, scope: Scope, may_change: bool) -> PlainTextResponse | RedirectResponse | None:
        """The token of the address becomes a cookie, and the address is shown without it."""
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in query if name == "token"]
        if not given:
            return None if may_change or self.read_freely else _no_token()
        if not may_change and not self._is_token(given[0]):
            return _no_token()
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        # One slash at the start: two, of either kind, would name another machine.
        answer = RedirectResponse("/" + scope["path"].lstrip("/\\") + (f"?{rest}" if rest else ""), 303)
        # Lax, not strict: a strict cookie is held back after a click on the address in a chat or a ticket. It is sent
        # with no POST of another site, so that a page elsewhere gains nothing by sending a visitor.
        answer.set_cookie(cookie_name(scope), self.token, httponly=True, samesite="lax")
        return answer


def _no_token() -> PlainTextResponse:
    return PlainTextResponse(f"token missing or wrong: {OPEN_PRINTED}", 401)
