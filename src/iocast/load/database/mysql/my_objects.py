"""What in the database `iocast_load` iocast made: tables and procedures of the names that it gives, whose comment has
their own name, and tables that InnoDB keeps: other engines write to tables of others.

A copy (`create table like`) takes the comment along, but not the name. The database is ours where its comment says so,
which only MariaDB 10.5 and later keep: any other is left when it is empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from iocast.errors import LoadError, TargetError
from iocast.load.database.data_set_plan import MARK, NOTHING_CHANGED, InUseError, in_use, replaced, unmarked
from iocast.load.database.mysql.my_connection import MyConnection
from iocast.load.database.mysql.my_procedures import DATABASE

LOCK_TIMEOUT_S = 10  # of the drop, for whoever reads a table of ours
_TABLES = (
    "select if(table_type = 'BASE TABLE' and engine <> 'InnoDB', engine, table_type), table_name, table_comment,"
    " coalesce(data_length + index_length, 0)"
    f" from information_schema.tables where table_schema = '{DATABASE}' order by table_name"
)
_ROUTINES = (
    "select routine_type, routine_name, routine_comment, 0 from information_schema.routines"
    f" where binary routine_schema = '{DATABASE}' order by routine_name"
)
_EVENTS = (
    "select 'EVENT', event_name, event_comment, 0 from information_schema.events"
    f" where binary event_schema = '{DATABASE}' order by event_name"
)
_COMMENT = (
    f"select table_comment from information_schema.tables where table_schema = '{DATABASE}' and table_name = %s"
    " and table_type = 'BASE TABLE' and engine = 'InnoDB'"
)
_ROUTINE_KINDS = ("procedure", "FUNCTION", "EVENT")  # have names of their own
_OURS = {"BASE TABLE": "table", "PROCEDURE": "procedure"}
_NAMES = re.compile(r"data_set|progress|commits|(t|load_)[1-9][0-9]*")  # all that iocast gives
_VIEWS = (
    "select concat(table_schema, '.', table_name), view_definition from information_schema.views"
    f" where view_definition like '%`{DATABASE}`.%'"
)
_KEYS = (
    "select concat(constraint_schema, '.', table_name), referenced_table_name"
    f" from information_schema.referential_constraints where unique_constraint_schema = '{DATABASE}'"
)
_TRIGGERS = (
    "select concat(trigger_schema, '.', trigger_name), event_object_table from information_schema.triggers"
    f" where event_object_schema = '{DATABASE}'"
)
# What runs when our tables are written to: ours have no trigger, no check, and constants as defaults. A foreign key
# that this user cannot see carries our updates over all the same, but needs an index, which is seen.
_HUNG = (
    "select concat('default of ', table_name, '.', column_name) from information_schema.columns"
    f" where table_schema = '{DATABASE}' and table_name in %s"
    " and (column_default like '%%(%%' or generation_expression <> '')"
    " union select concat('trigger ', trigger_schema, '.', trigger_name) from information_schema.triggers"
    f" where event_object_schema = '{DATABASE}' and event_object_table in %s"
    " union select concat('constraint ', table_name, '.', constraint_name) from information_schema.table_constraints"
    f" where table_schema = '{DATABASE}' and table_name in %s and constraint_type in ('CHECK', 'FOREIGN KEY')"
    " union select concat('foreign key of ', constraint_schema, '.', table_name)"
    " from information_schema.referential_constraints"
    f" where unique_constraint_schema = '{DATABASE}' and referenced_table_name in %s"
    " union select concat('index ', table_name, '.', index_name) from information_schema.statistics"
    f" where table_schema = '{DATABASE}' and table_name in %s and index_name not in ('PRIMARY', 'k') order by 1"
)
# The server knows routines by names without case and accents: it compares.
_NAMED_ALIKE = (
    "select routine_name, routine_comment from information_schema.routines"
    f" where binary routine_schema = '{DATABASE}' and routine_type = 'PROCEDURE' and routine_name in %s"
)
# Without these rights events and routines of others are not seen. Of several patterns that the database's name meets
# the server takes one: each has to give them.
_SEEING = {"EVENT", "ALTER ROUTINE"}
_RIGHTS = (
    "select '', privilege_type from information_schema.user_privileges where grantee = {me}"
    " union select table_schema, privilege_type from information_schema.schema_privileges where grantee = {me}"
    f" and '{DATABASE}' like table_schema"
).format(me="concat('\\'', replace(current_user(), '@', '\\'@\\''), '\\'')")


def quoted(name: str) -> str:
    """An object of the database, whatever its name is, as statements name it."""
    plain = re.fullmatch(r"[a-z_][a-z0-9_]*", name) is not None
    return f"{DATABASE}.{name}" if plain else f"{DATABASE}.`{name.replace('`', '``')}`"


def mark(name: str) -> str:
    """The comment of an object of ours, as a clause."""
    return f"comment '{MARK}: {name}'"


def _is_ours(name: str, comment: str) -> bool:
    return _NAMES.fullmatch(name) is not None and comment == f"{MARK}: {name}"


class MyObject(NamedTuple):
    """A table, view, sequence, routine or event of the database."""

    kind: str  # "table", "procedure", or what the server calls it
    name: str
    ours: bool
    size_bytes: int

    @property
    def shown(self) -> str:
        """As statements name it."""
        return quoted(self.name)


class MyObjects:
    """Objects of the database, as they are now."""

    def __init__(self, connection: MyConnection) -> None:
        self._on = connection

    def all(self) -> list[MyObject]:
        """Tables and views by name, routines by name, events."""
        return [
            MyObject(_OURS.get(kind, kind), name, kind in _OURS and _is_ours(name, comment), int(size))
            for query in (_TABLES, _ROUTINES, _EVENTS)
            for kind, name, comment, size in self._on.rows(query)
        ]

    def ours(self) -> list[MyObject]:
        """Our tables and procedures."""
        return [each for each in self.all() if each.ours]

    def has_data_set(self) -> bool:
        """False in an empty database, or without one. Raises TargetError where what is there is not ours."""
        objects = self.all()
        if objects and not any(each.ours for each in objects):
            if MARK in (row[2] for row in self._on.rows(_TABLES)):
                raise unmarked(f"database {DATABASE}", f"drop database {DATABASE}")
            raise TargetError(
                f"the database {DATABASE} of this server was not made by iocast",
                "nothing was changed; rename that database, or use another server",
            )
        return bool(objects)

    def require_table(self, name: str) -> None:
        """Raises TargetError unless this table is ours."""
        if self._on.value(_COMMENT, (name,)) != f"{MARK}: {name}":
            raise replaced(f"{DATABASE}.{name}", "table")

    def require(self, tables: set[str], loops: set[str], *, complete: bool) -> None:
        """Raises TargetError where one of these names is not ours, or, if it is `complete`, not there."""
        objects = self.all()
        lacking = tables - {each.name for each in objects if each.ours}
        if not complete:
            lacking &= {each.name for each in objects if each.kind not in _ROUTINE_KINDS}
        if lacking:
            raise replaced(f"{DATABASE}.{min(lacking)}", "table")
        self.require_loops(loops)
        if hung := [says for (says,) in self._on.rows(_HUNG, (sorted(tables),) * 5)]:
            raise TargetError(
                f"objects of others hang on tables of the data set and would run with your rights: {'; '.join(hung)}",
                "nothing was changed; drop these first",
            )

    def require_loops(self, names: set[str]) -> None:
        """Raises TargetError for a procedure of others that the server takes for one of these."""
        for name, comment in self._on.rows(_NAMED_ALIKE, (sorted(names),)) if names else ():
            if name not in names or comment != f"{MARK}: {name}":
                raise replaced(f"{DATABASE}.{name}", "procedure")

    def sees_all(self) -> bool:
        """True where this user has the rights without which objects of others in the database are not shown."""
        rights: dict[str, set[str]] = {"": set()}  # of all databases, and by pattern
        for pattern, right in self._on.rows(_RIGHTS):
            rights.setdefault(pattern, set()).add(right)
        everywhere = rights.pop("")
        return all(everywhere | given >= _SEEING for given in rights.values() or [everywhere])

    @contextmanager
    def locked(self, tables: list[str]) -> Iterator[None]:
        """While entered nobody else touches these tables, and each is ours. Raises TargetError, LoadError."""
        if not tables:
            yield
            return
        self._on.run(f"set session lock_wait_timeout = {LOCK_TIMEOUT_S}")
        try:
            self._on.run(f"lock tables {', '.join(f'{quoted(name)} write' for name in tables)}")
        except InUseError:
            raise in_use("show full processlist") from None
        try:
            if not set(tables) <= {each.name for each in self.ours() if each.kind == "table"}:
                raise LoadError("tables of the data set changed while they were waited for", NOTHING_CHANGED)
            yield
        finally:
            if self._on.raw.open:
                self._on.run("unlock tables")

    def refuse_dependents(self) -> None:
        """Raises TargetError with the views, foreign keys and triggers of others that this user can see."""
        ours = {each.name for each in self.ours() if each.kind == "table"}
        dependents = [
            f"view {view}"
            for view, definition in self._on.rows(_VIEWS)
            if any(f"`{DATABASE}`.`{name}`" in definition for name in ours)
        ]
        dependents += [f"foreign key of {table}" for table, name in self._on.rows(_KEYS) if name in ours]
        dependents += [f"trigger {trigger}" for trigger, name in self._on.rows(_TRIGGERS) if name in ours]
        if dependents:
            raise TargetError(
                f"objects of others depend on the data set: {'; '.join(dependents)}",
                "nothing was changed; drop these first, or let them no longer depend on it",
            )

    @property
    def _marks_databases(self) -> bool:
        version = str(self._on.value("select version()"))
        return self._on.mariadb and tuple(map(int, version.split(".")[:2])) >= (10, 5)

    def create_database(self) -> None:
        """The database, unless it is there; marked as ours where it can be."""
        self._on.run(f"create database if not exists {DATABASE} {mark(DATABASE) if self._marks_databases else ''}")

    def owns_database(self) -> bool:
        """True for one that bears our mark."""
        sql = f"select schema_comment from information_schema.schemata where schema_name = '{DATABASE}'"
        return self._marks_databases and self._on.value(sql) == f"{MARK}: {DATABASE}"
