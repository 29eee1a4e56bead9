"""A connection of the load to PostgreSQL: in autocommit, bounded in time, under the name `iocast-load`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from iocast.errors import LoadError
from iocast.load.database.data_set_plan import InUseError
from iocast.load.database.load_server import NAME
from iocast.starting import starting
from iocast.tools.pg_dialling import PgDialling, pg_driver

STATEMENT_TIMEOUT_S = 120  # of a slice of about a second, and of what is asked before and after
# Plans that touch exactly the blocks that are asked for, in the order of the keys, by this process alone.
_PLANS = (
    "plan_cache_mode=force_generic_plan",
    "enable_seqscan=off",
    "enable_bitmapscan=off",
    "jit=off",
    "max_parallel_workers_per_gather=0",
)
_BUILD_TIMEOUT_S = 24 * 3600  # of an index on a large table
_RIGHTS = "42501"
_DEPENDED_ON, _LOCKED = "2BP01", "55P03"
_ASKED_EVERY_S = 0.2


class PgConnection:
    """Raises LoadError, which says what the server said."""

    def __init__(self, dialling: PgDialling, *, building: bool = False) -> None:
        timeout_s = _BUILD_TIMEOUT_S if building else STATEMENT_TIMEOUT_S
        settings = (f"statement_timeout={timeout_s}s", "idle_in_transaction_session_timeout=60s", *_PLANS)
        self._psycopg = pg_driver()
        self.raw: Any = dialling.connect(NAME, " ".join(f"-c {each}" for each in settings))
        self.version = int(self.raw.info.server_version) // 10_000
        self._refuse_shared()
        self.tried("set client_connection_check_interval = '1s'")  # a statement of a client that was killed ends soon

    def _refuse_shared(self) -> None:
        """Locks, settings and prepared statements are the session's: of one that a pooler shares out others have them,
        too. Such a pooler says that the server's process is another than the one that answers.
        """
        if int(self.value("select pg_backend_pid()")) != int(self.raw.info.backend_pid):
            self.raw.close()
            raise LoadError(
                "the connection is not with the server itself, but with a pooler, which lends it to others",
                "give the URL of the server: a load needs sessions of its own",
            )

    @property
    def local(self) -> bool:
        """The server is on this machine, as far as the address says."""
        host = str(self.raw.info.host or "")
        return host.startswith(("/", "127.", "@")) or host in ("", "::1", "localhost")

    def rows(self, sql: str, parameters: tuple[Any, ...] | dict[str, Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a statement; none of one that gives none."""
        try:
            cursor = self.raw.execute(sql, parameters or None)
            return list(cursor.fetchall()) if cursor.description else []
        except self._psycopg.Error as error:
            raise self.refusal(error) from None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is done while entered is done whole, or not at all."""
        try:
            with self.raw.transaction():
                yield
        except self._psycopg.Error as error:
            raise self.refusal(error) from None

    def value(self, sql: str, parameters: tuple[Any, ...] = ()) -> Any:
        """The first value of the first row; None for none."""
        rows = self.rows(sql, parameters)
        return rows[0][0] if rows else None

    def patiently(self, sql: str, on_wait: Callable[[], bool]) -> bool:
        """A statement that may take hours, in a thread: asked five times a second, `on_wait` may end it: then False."""
        ended: list[LoadError | None] = []

        def execute() -> None:
            try:
                self.rows(sql)
                ended.append(None)
            except LoadError as error:
                ended.append(error)

        thread = threading.Thread(target=execute, name="iocast-load-statement", daemon=True)
        with starting():
            thread.start()
        stopped = False
        while thread.is_alive():
            thread.join(_ASKED_EVERY_S)
            if thread.is_alive() and not stopped and not on_wait():
                stopped = True
                self.raw.cancel()
        if ended[0] is not None and not stopped:
            raise ended[0]
        return ended[0] is None

    def tried(self, sql: str) -> str:
        """A statement that may be refused: "", or what the server said."""
        try:
            self.rows(sql)
        except LoadError as error:
            if self.raw.closed:
                raise
            return error.message
        return ""

    def refusal(self, error: Exception) -> LoadError:
        """What the server said, and the way out."""
        said = str(error).strip().partition("\n")[0]
        if self.raw.closed or self.raw.broken:
            return LoadError(
                f"the connection to the server is gone: {said}",
                "see whether the server runs; `iocast load-db build` goes on where it ended, rows done are kept",
            )
        state = getattr(error, "sqlstate", "") or ""
        if state == _RIGHTS:
            return LoadError(
                f"the server refuses: {said}", "give the role the right, or use another: no superuser needed"
            )
        if state == _DEPENDED_ON:
            diagnosis: Any = getattr(error, "diag", None)
            detail = getattr(diagnosis, "message_detail", None) or said
            return LoadError(
                f"objects of others depend on the data set: {'; '.join(detail.splitlines())}",
                "nothing was changed; drop these first, or let them no longer depend on it",
            )
        if state == _LOCKED:
            return InUseError(f"the server says: {said}", "nothing was changed; wait for whoever holds the lock")
        if state == "57014":
            return LoadError(
                f"the server ended a statement: {said}", f"the limit is {STATEMENT_TIMEOUT_S} s: look at its I/O"
            )
        return LoadError(f"the server says: {said}", "its log may say more")

    def close(self) -> None:
        """Ends it; harmless when it is gone."""
        self.raw.close()
