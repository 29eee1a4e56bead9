"""Where a database is: a URL without a password, and where the password may come from."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit

from msgspec import Struct

from iocast.errors import DatabaseError, SpecError
from iocast.tools.foreign_numbers import whole_of

AskPassword = Callable[[str], str]  # the question → the answer; it is not kept

_SECRETS = ("password", "passwd", "pwd", "sslpassword", "wallet_password", "oauth_client_secret")
_HOST = re.compile(r"(?:\[(?P<six>[^\]]+)\]|(?P<name>[^:\[\]]*))(?::(?P<port>\d{1,5}))?")


class Address(Struct, frozen=True, kw_only=True):
    """A URL taken apart; what it does not say is "" or 0."""

    scheme: str
    user: str = ""
    hosts: tuple[tuple[str, int], ...] = ()
    database: str = ""
    options: dict[str, str] = {}

    @property
    def redacted(self) -> str:
        """The same as a URL. There is no secret in it: addresses with one are refused."""
        hosts = ",".join(f"{_shown(name)}:{port}" if port else _shown(name) for name, port in self.hosts)
        user = f"{quote(self.user, safe='')}@" if self.user else ""
        options = f"?{urlencode(self.options, safe='/')}" if self.options else ""
        return f"{self.scheme}://{user}{hosts}/{self.database}{options}"


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else quote(host, safe="")


def scheme_of(url: str) -> str:
    """The part in front of `://`, in lower case."""
    return url.partition("://")[0].lower() if "://" in url else ""


def parsed(url: str, way_out: str) -> Address:
    """A URL taken apart. Raises SpecError, for one with a password too: others may read command lines."""
    try:
        parts = urlsplit(url)
        options = {name: values[-1] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
    except ValueError:  # its text may have the password in it
        raise SpecError("this is not the URL of a database", "postgresql://user@host:5432/database") from None
    user, colon, _ = parts.netloc.rpartition("@")[0].partition(":")
    if colon or "@" in parts.path or any(name.lower() in _SECRETS for name in options):
        raise SpecError("the URL of a database must not have a password in it: others can read it", way_out)
    return Address(
        scheme=scheme_of(url),
        user=unquote(user),
        hosts=tuple(_host(each, url) for each in parts.netloc.rpartition("@")[2].split(",") if each),
        database=unquote(parts.path.lstrip("/")),
        options=options,
    )


def _host(text: str, url: str) -> tuple[str, int]:
    match = _HOST.fullmatch(text)
    port = whole_of(match["port"] or "0") if match else None
    if match is None or port is None or port > 65535:
        raise SpecError("the host in the URL is not HOST or HOST:PORT", f"{scheme_of(url)}://user@host:port/database")
    return unquote(match["six"] or match["name"] or ""), port


def password_of(*variables: str) -> str | None:
    """The password in the first environment variable that is set; None for none."""
    return next((os.environ[name] for name in variables if os.environ.get(name)), None)


@contextmanager
def unset(name: str) -> Iterator[None]:
    """While entered the environment names no file for a library to append to: keys of a connection, or a trace."""
    file = os.environ.pop(name, None)
    try:
        yield
    finally:
        if file is not None:
            os.environ[name] = file


@contextmanager
def needed_for(product: str) -> Iterator[None]:
    """Around the import of a driver. Raises DatabaseError with the way out where it is not installed."""
    try:
        yield
    except ImportError as error:
        said = f"{product} cannot be reached without its driver: {error}"
        raise DatabaseError(said, "pip install 'iocast[databases]'") from None
