"""A connection of the load to MariaDB or MySQL: in autocommit, in UTC, bounded in time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from iocast.errors import LoadError
from iocast.load.database.data_set_plan import InUseError
from iocast.load.database.load_server import NAME
from iocast.tools.my_dialling import MyDialling

STATEMENT_TIMEOUT_S = 120
_RIGHTS = {1044, 1142, 1143, 1227, 1370}
_REFERRED_TO = {1217, 1451, 1701, 3730}
_LOCKED = 1205
_NOT_REMOVED, _NOT_CREATED = 1010, (1005, 1813)
_GONE = {2006, 2013, 2055, 1317}
OURS = f"/* {NAME} */"  # by which our statements are known in the list of processes


class RightsError(LoadError):
    """The server refuses what this user has no right to."""


class MyConnection:
    """Raises LoadError, which says what the server said."""

    def __init__(self, dialling: MyDialling) -> None:
        self._pymysql, self.raw = dialling.connect(NAME, read_timeout_s=STATEMENT_TIMEOUT_S)
        self.run("set session time_zone = '+00:00'")
        self.mariadb = "mariadb" in str(self.value("select version()")).lower()

    @property
    def local(self) -> bool:
        """The server is on this machine, as far as the address says."""
        return bool(self.raw.unix_socket) or str(self.raw.host) in ("localhost", "127.0.0.1", "::1")

    def rows(self, sql: str, parameters: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """All rows of a statement; none of one that gives none."""
        try:
            with self.raw.cursor() as cursor:
                cursor.execute(sql, parameters or None)
                return list(cursor.fetchall()) if cursor.description else []
        except (self._pymysql.Error, OSError) as error:
            raise self.refusal(error) from None

    def run(self, sql: str, parameters: tuple[Any, ...] = ()) -> None:
        """A statement without rows."""
        self.rows(sql, parameters)

    def value(self, sql: str, parameters: tuple[Any, ...] = ()) -> Any:
        """The first value of the first row; None for none."""
        rows = self.rows(sql, parameters)
        return rows[0][0] if rows else None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is done while entered is done whole, or not at all; statements that define things end it."""
        self.run("start transaction")
        try:
            yield
        except BaseException:
            if self.raw.open:
                self.raw.rollback()
            raise
        self.run("commit")

    def refusal(self, error: Exception) -> LoadError:
        """What the server said, and the way out."""
        said = str(error.args[1] if len(error.args) > 1 else error)
        code = error.args[0] if error.args and isinstance(error.args[0], int) else 0
        if not self.raw.open or code in _GONE or isinstance(error, OSError):
            return LoadError(
                f"the connection to the server is gone: {said}",
                "see whether the server runs; `iocast load-db build` goes on where it ended, rows done are kept",
            )
        if code in _RIGHTS:
            return RightsError(
                f"the server refuses: {said}",
                "grant all on iocast_load.* to the user: no other rights are needed",
            )
        if code in _REFERRED_TO:
            return LoadError(
                f"a foreign key of a table that this user cannot see refers to the data set: {said}",
                "find it as a user with the right PROCESS: select id from information_schema.innodb_sys_foreign where"
                " ref_name like 'iocast_load/%'; drop it, then drop the data set again",
            )
        if code == _NOT_REMOVED or (code in _NOT_CREATED and ("errno: 184" in said or code == 1813)):
            return LoadError(
                f"a file in the folder of the database belongs to no table: {said}",
                "MariaDB may leave one (NAME.ibd) when it is killed in a drop: look into the folder iocast_load in the"
                " data directory (select @@datadir), and move away what is in it; drop the database, and try again",
            )
        if code == _LOCKED:
            return InUseError(f"the server says: {said}", "wait for whoever holds the lock")
        return LoadError(f"the server says: {said}", "its log may say more")

    def close(self) -> None:
        """Ends it; harmless when it is gone."""
        if self.raw.open:
            try:
                self.raw.close()
            except (self._pymysql.Error, OSError):
                return  # it was gone
