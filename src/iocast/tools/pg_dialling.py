"""Connects to PostgreSQL: a URL as libpq reads it, a password from where psql takes it, and what a refusal means."""

from __future__ import annotations

from typing import Any

from iocast.errors import DatabaseError, SpecError
from iocast.tools.database_address import AskPassword, needed_for, parsed, unset

CONNECT_TIMEOUT_S = 10
# Else the owner of the database says what our statements name; and a mark, which a server has that got all of this.
_MARK = "iocast.session"
_SERVERS_OWN = f"-c search_path=pg_catalog -c quote_all_identifiers=off -c {_MARK}=own"
_POOLER = "connect to the server itself: a pooler does not pass the settings on that make the session read-only"
_KEY_LOG = "sslkeylogfile"  # to which libpq would append, whatever it is
_KEY_LOG_SINCE = 180000
_WAY_OUT = "give the password in PGPASSWORD, in ~/.pgpass or in a service file, or wait to be asked for it"


class PgDialling:
    """A server, and how it is reached. What a person was asked for is kept in `answers`, by URL, and printed by nobody.

    Raises SpecError for a URL with a password in it, or with settings of the session.
    """

    def __init__(self, url: str, ask: AskPassword | None, answers: dict[str, str] | None = None) -> None:
        address = parsed(url, _WAY_OUT)
        if "options" in address.options:
            raise SpecError("the URL must not set options of the session: iocast sets them", "leave ?options= out")
        if _KEY_LOG in address.options:
            raise SpecError("the URL must not name a file for the keys of the connection", f"leave ?{_KEY_LOG}= out")
        self.redacted = address.redacted
        self._url, self._ask = url, ask
        self._answers = {} if answers is None else answers

    def connect(self, name: str, options: str) -> Any:
        """A psycopg connection in autocommit, under an application name, with settings of the session (`-c a=b`).

        Raises DatabaseError.
        """
        psycopg = pg_driver()
        conninfo = _conninfo(self._url)
        settings: dict[str, Any] = {
            "application_name": name,
            "connect_timeout": CONNECT_TIMEOUT_S,
            "client_encoding": "UTF8",
            "options": f"{options} {_SERVERS_OWN}",
        }
        if psycopg.pq.version() >= _KEY_LOG_SINCE:
            settings[_KEY_LOG] = ""  # a service file names one, too
        for attempt in range(2):
            known = self._answers.get(self.redacted)
            secret = {} if known is None else {"password": known}
            try:
                with unset("KRB5_TRACE"):
                    connection = psycopg.connect(**{**conninfo, **settings, **secret}, autocommit=True)
            except psycopg.OperationalError as error:
                if known is not None:
                    del self._answers[self.redacted]
                if attempt or known is not None or self._ask is None or not _wants_password(error):
                    raise _refused(self.redacted, error) from None
                self._answers[self.redacted] = self._ask(f"password for {self.redacted}: ")
            else:
                self._require_settings(connection)
                return connection
        raise AssertionError("unreachable")

    def _require_settings(self, connection: Any) -> None:
        """A pooler may drop all settings of the session and say nothing. SHOW calls no function, which others may have
        named like the server's. Raises DatabaseError.
        """
        try:
            connection.execute(f"show {_MARK}")
        except pg_driver().Error:
            connection.close()
            why = "the settings of the session did not reach the server"
            raise DatabaseError(f"cannot use {self.redacted}: {why}", _POOLER) from None


def pg_driver() -> Any:
    """psycopg, with the parts that are used."""
    with needed_for("PostgreSQL"):
        import psycopg
        import psycopg.conninfo
        import psycopg.pq
        import psycopg.rows
    return psycopg


def _conninfo(url: str) -> dict[str, Any]:
    """The parts of a URL as libpq reads them. The host that it names is the one that is reached: PGHOSTADDR, which
    libpq would take before it, is left to URLs without a host. Raises SpecError.
    """
    psycopg = pg_driver()
    try:
        fields: dict[str, Any] = psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError:  # its text may have parts of the URL in it
        raise SpecError("libpq cannot read this URL", "postgresql://user@host:5432/database") from None
    return {"hostaddr": "", **fields} if fields.get("host") else fields


def _wants_password(error: Exception) -> bool:
    """No password was at hand, or not the right one: a connection that failed has no code for it."""
    unanswered = getattr(getattr(error, "pgconn", None), "needs_password", False)
    return bool(unanswered) or "password authentication failed" in str(error)


def _refused(redacted: str, error: Exception) -> DatabaseError:
    said = " ".join(str(error).split())
    hint = _WAY_OUT if _wants_password(error) else "check host, port and database: psql takes the same URL"
    if "role" in said and "does not exist" in said:
        hint = "name the role in the URL: postgresql://user@host/database"
    if "startup parameter" in said:
        hint = _POOLER
    return DatabaseError(f"cannot connect to {redacted}: {said}", hint)
