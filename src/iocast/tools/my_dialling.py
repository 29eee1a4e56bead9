"""Connects to MySQL or MariaDB: a URL, a password from where mysql takes it, and what a refusal means."""

from __future__ import annotations

import os
from typing import Any

from iocast.errors import DatabaseError, SpecError
from iocast.tools.database_address import Address, AskPassword, needed_for, parsed, password_of, unset

CONNECT_TIMEOUT_S = 10
PORT = 3306
_WAY_OUT = "give the password in MYSQL_PWD, in ~/.my.cnf under [client], or wait to be asked for it"
_OPTIONS = {"socket", "ssl_ca", "ssl_cert", "ssl_key", "option_file"}
_NEEDS_PASSWORD = {1045, 1698}


class MyDialling:
    """A server, and how it is reached. What a person was asked for is kept in `answers`, by URL, and printed by nobody.

    Raises SpecError for a URL with a password in it.
    """

    def __init__(self, url: str, ask: AskPassword | None, answers: dict[str, str] | None = None) -> None:
        self._address = parsed(url, _WAY_OUT)
        if unknown := sorted(self._address.options.keys() - _OPTIONS):
            raise SpecError(
                f"the URL has an option that iocast does not know: {unknown[0]}", ", ".join(sorted(_OPTIONS))
            )
        if len(self._address.hosts) > 1:
            raise SpecError("the URL names more than one host", "give each server a URL of its own")
        self.redacted = self._address.redacted
        self._ask = ask
        self._answers = {} if answers is None else answers

    def connect(self, name: str, *, read_timeout_s: int, **more: Any) -> tuple[Any, Any]:
        """PyMySQL, and a connection of it in autocommit, under a program name. Raises DatabaseError."""
        pymysql = my_driver()
        settings = self._settings(name, read_timeout_s) | more
        given = password_of("MYSQL_PWD")
        for attempt in range(2):
            known = self._answers.get(self.redacted)
            secret = given if known is None else known
            try:
                password = {} if secret is None else {"password": secret}
                with unset("SSLKEYLOGFILE"):
                    connection = pymysql.connect(**settings, **password, defer_connect=True)
                if _names_its_host(self._address):
                    connection.unix_socket = None  # that of ~/.my.cnf is another server's
                connection.connect()
            except (pymysql.Error, OSError, RuntimeError) as error:
                if known is not None:
                    del self._answers[self.redacted]
                if attempt or known is not None or self._ask is None or _code(error) not in _NEEDS_PASSWORD:
                    raise _refused(self._address, error) from None
                self._answers[self.redacted] = self._ask(f"password for {self.redacted}: ")
            else:
                return pymysql, connection
        raise AssertionError("unreachable")

    def _settings(self, name: str, read_timeout_s: int) -> dict[str, Any]:
        host, port = self._address.hosts[0] if self._address.hosts else ("localhost", 0)
        settings: dict[str, Any] = {
            "host": host or "localhost",
            "port": port or PORT,
            "database": self._address.database or None,
            "autocommit": True,
            "charset": "utf8mb4",
            "connect_timeout": CONNECT_TIMEOUT_S,
            "read_timeout": read_timeout_s,
            "program_name": name,
            **_from_options(self._address),
        }
        if self._address.user:
            settings["user"] = self._address.user
        return settings


def my_driver() -> Any:
    """PyMySQL, with the parts that are used."""
    with needed_for("MySQL or MariaDB"):
        import pymysql
        import pymysql.cursors
    return pymysql


def _names_its_host(address: Address) -> bool:
    """Whether a URL leads over the network whatever the option file says: "localhost" alone does not, as in `mysql`."""
    host, port = address.hosts[0] if address.hosts else ("", 0)
    return bool(host) and (host != "localhost" or bool(port)) and "socket" not in address.options


def _from_options(address: Address) -> dict[str, Any]:
    """What the options of the URL, and the user's own option file, say."""
    fields: dict[str, Any] = {name: address.options[name] for name in _OPTIONS & address.options.keys()}
    if "socket" in fields:
        fields["unix_socket"] = fields.pop("socket")
    file = fields.pop("option_file", os.path.expanduser("~/.my.cnf"))
    if os.path.exists(file):
        fields |= {"read_default_file": file, "read_default_group": "client"}
    return fields


def _code(error: Exception) -> int:
    return error.args[0] if error.args and isinstance(error.args[0], int) else 0


def _refused(address: Address, error: Exception) -> DatabaseError:
    said = str(error.args[1] if len(error.args) > 1 else error)
    hint = _WAY_OUT if _code(error) in _NEEDS_PASSWORD else "check host, port and user: mysql takes the same ones"
    return DatabaseError(f"cannot connect to {address.redacted}: {said}", hint)
