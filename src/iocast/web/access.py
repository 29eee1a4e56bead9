"""Who may read: anyone on this machine, and elsewhere only those who have the token."""

from __future__ import annotations

import ipaddress
import secrets
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

COOKIE = "iocast_token"
READING = ("GET", "HEAD")
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


class Access:
    """Lets in whoever may read; everything else gets a short refusal.

    Without a token the name that the browser used must be one of this machine, so that no web page elsewhere can
    have its own name point here and read through the visitor's browser.
    """

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        self.app, self.token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await refusal(scope, receive, send)
            return

        async def with_headers(message: dict[str, object]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *HEADERS]  # type: ignore[misc]
            await send(message)

        await self.app(scope, receive, with_headers)  # type: ignore[arg-type]

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> PlainTextResponse | RedirectResponse | None:
        if scope["method"] not in READING:
            return PlainTextResponse("this server is read-only\n", 405, {"Allow": ", ".join(READING)})
        if self.token is None:
            name = name_asked_for(headers.get("host", ""))
            if not is_loopback(name):
                return PlainTextResponse(f"this server answers requests to localhost only, not to {name}\n", 403)
            return None
        name = cookie_name(scope)
        if secrets.compare_digest(cookie_parser(headers.get("cookie", "")).get(name, "").encode(), self.token.encode()):
            return None
        return self._by_address(scope, name)

    def _by_address(self, scope: Scope, cookie: str) -> PlainTextResponse | RedirectResponse | None:
        """The token of the address becomes a cookie, and the address is shown without it."""
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in query if name == "token"]
        if not given or not secrets.compare_digest(given[0].encode(), (self.token or "").encode()):
            return PlainTextResponse("token missing or wrong: open the URL that the server printed at the start\n", 401)
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        answer = RedirectResponse(scope["path"] + (f"?{rest}" if rest else ""), 303)
        # Lax, not strict: a strict cookie is held back after a click on the address in a chat or a ticket. Nothing can
        # be changed here, so that a page elsewhere gains nothing by sending a visitor.
        answer.set_cookie(cookie, self.token or "", httponly=True, samesite="lax")
        return answer
