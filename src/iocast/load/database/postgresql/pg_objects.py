"""What in the schema `iocast_load` iocast made: objects of its owner whose comment has their own name and OID.

An OID alone would be enough, but for what somebody renamed or moved: that is theirs now. A comment alone is copied by
dumps. A clone of a database has both: the comment of the schema has the OID of its database, too. Look after a lock was
taken, within the transaction that holds it: then nothing changes between look and deed.

Only the role that built a data set works on it: what an owner hangs on a table, and what it calls, runs with the rights
of whoever writes to it, and `set role` is undone by that very code. Nor may anything of others hang on our tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from iocast.errors import LoadError, TargetError
from iocast.load.database.data_set_plan import MARK, NOTHING_CHANGED, replaced, unmarked
from iocast.load.database.postgresql.pg_connection import PgConnection
from iocast.load.database.postgresql.pg_procedures import SCHEMA

LOCK_TIMEOUT_S = 10.0  # of the drop, for whoever reads a table of ours
_MARKED = f"coalesce(obj_description({{oid}}, '{{catalogue}}') = '{MARK}: ' || {{name}} || ', oid ' || {{oid}}, false)"
_HERE = f"to_regnamespace('{SCHEMA}')"
_OWNER = f"(select nspowner from pg_namespace where oid = {_HERE})"
_TABLES = (
    f"select oid, '{SCHEMA}.' || quote_ident(relname), relname,"
    f" relkind = 'r' and relowner = {_OWNER} and {_MARKED.format(oid='oid', catalogue='pg_class', name='relname')}"
    f" from pg_class where relnamespace = {_HERE} and relkind not in ('i', 'I')"
    " and (%s::text[] is null or relname = any(%s)) order by relname"
)
_ROUTINES = (
    "select oid, oid::regprocedure::text, proname,"
    f" proowner = {_OWNER} and {_MARKED.format(oid='oid', catalogue='pg_proc', name='proname')}"
    f" from pg_proc where pronamespace = {_HERE} order by proname"
)
_WRITTEN = (
    "select oid, oid::regprocedure::text from pg_proc"
    f" where pronamespace = {_HERE} and proname = %s and xmin = pg_current_xact_id()::xid"
)
# A database that was cloned as a template has our OIDs and comments, too, and none that we built.
_DATABASE = "(select oid from pg_database where datname = current_database())"
_SCHEMA_MARK = f"'{MARK}: ' || nspname || ', oid ' || oid || ', database ' || {_DATABASE}"
_SCHEMA = (
    f"select {_SCHEMA_MARK}, coalesce(obj_description(oid, 'pg_namespace') = {_SCHEMA_MARK}, false),"
    " coalesce(obj_description(oid, 'pg_namespace'), ''), pg_has_role(nspowner, 'usage'),"
    " pg_get_userbyid(nspowner), pg_get_userbyid(nspowner) = all(array[current_user, session_user])"
    f" from pg_namespace where oid = {_HERE}"
)
_ALL = (
    "select (pg_identify_object(classid, objid, objsubid)).identity from pg_depend"
    f" where refclassid = 'pg_namespace'::regclass and refobjid = {_HERE} and deptype = 'n' order by 1"
)
# What goes with a table, or is cut short by it, without a word of the server: of ours are constraints and indexes only.
_TIED = (
    "select pg_describe_object(classid, objid, objsubid) || ' belongs to ' || refobjid::regclass from pg_depend"
    " where refclassid = 'pg_class'::regclass and refobjid = any(%s) and deptype = 'a'"
    " and classid not in ('pg_constraint'::regclass, 'pg_attrdef'::regclass)"
    " and not exists (select from pg_class"
    " where classid = 'pg_class'::regclass and oid = objid and relkind in ('i', 'I'))"
    " union select 'table ' || inhparent::regclass || ' has the part ' || inhrelid::regclass"
    " from pg_inherits where inhrelid = any(%s)"
    " union select pg_describe_object(classid, objid, objsubid) || ' belongs to the schema' from pg_depend"
    f" where refclassid = 'pg_namespace'::regclass and refobjid = {_HERE} and deptype = 'a'"
)
# What would run when our tables are written to or vacuumed, or change with them, and was not made by us. Our tables
# depend on the schema alone (types and access methods of the server have no entry): on no type or domain of others, and
# none is a partition of another table. To them belong indexes, defaults, constraints and the types of their rows, and
# no trigger, rule, policy or statistics object. These call nothing that others could have made, nor functions of the
# server, which leave no entry and of which some change what is others'. A foreign key that refers to our tables
# carries our updates over; one of ours locks rows of others.
_HUNG = (
    "select obj_id.type || ' ' || obj_id.identity || ' is used by ' || objid::regclass from pg_depend,"
    " pg_identify_object(refclassid, refobjid, 0) obj_id where classid = 'pg_class'::regclass"
    " and objid = any(%(ours)s) and refclassid <> 'pg_namespace'::regclass"
    " and (refclassid, refobjid) <> ('pg_class'::regclass, objid)"
    " union select pg_describe_object(classid, objid, objsubid) from pg_depend"
    " where refclassid = 'pg_class'::regclass and refobjid = any(%(ours)s) and deptype in ('a', 'i')"
    " and classid not in ('pg_attrdef'::regclass, 'pg_constraint'::regclass, 'pg_type'::regclass,"
    " 'pg_publication_rel'::regclass) and not exists (select from pg_class"
    " where classid = 'pg_class'::regclass and oid = objid and relkind in ('i', 'I', 't'))"
    " union select pg_describe_object(part.classid, part.objid, 0) from pg_depend part"
    " join pg_depend called on (called.classid, called.objid) = (part.classid, part.objid)"
    " where part.refclassid = 'pg_class'::regclass and part.refobjid = any(%(ours)s)"
    " and part.classid in ('pg_attrdef'::regclass, 'pg_constraint'::regclass, 'pg_class'::regclass)"
    " and called.refclassid in ('pg_proc'::regclass, 'pg_operator'::regclass, 'pg_type'::regclass,"
    " 'pg_opclass'::regclass, 'pg_opfamily'::regclass)"
    " union select pg_describe_object('pg_attrdef'::regclass, oid, 0) from pg_attrdef"
    " where adrelid = any(%(ours)s) and pg_get_expr(adbin, adrelid) not in ('true', 'now()', '0')"
    " union select pg_describe_object('pg_constraint'::regclass, oid, 0) from pg_constraint"
    " where conrelid = any(%(ours)s) and contype = 'c' and pg_get_constraintdef(oid) <> 'CHECK (only_row)'"
    " union select pg_describe_object('pg_constraint'::regclass, oid, 0) || ' refers to ' || confrelid::regclass"
    " from pg_constraint where contype = 'f' and (confrelid = any(%(ours)s) or conrelid = any(%(ours)s))"
    " order by 1"
)
_SURVIVORS = (
    "select (select count(*) from pg_class where oid = any(%s)) + (select count(*) from pg_proc where oid = any(%s))"
)
_USERS = (
    "select distinct l.pid, coalesce(nullif(a.application_name, ''), 'without a name') from pg_locks l"
    " left join pg_stat_activity a on a.pid = l.pid where l.relation = any(%s) and l.granted"
    " and l.pid <> pg_backend_pid() order by 1"
)


class PgObject(NamedTuple):
    """A table or a routine in the schema."""

    oid: int
    shown: str  # as statements name it
    name: str
    ours: bool


class PgObjects:
    """Tables, routines and the schema itself, as they are now."""

    def __init__(self, connection: PgConnection) -> None:
        self._on = connection

    def tables(self, *names: str) -> list[PgObject]:
        """All relations of the schema but indexes, or those of these names; ours are tables."""
        wanted = list(names) or None
        return [PgObject(*row) for row in self._on.rows(_TABLES, (wanted, wanted))]

    def routines(self) -> list[PgObject]:
        """All functions and procedures of the schema."""
        return [PgObject(*row) for row in self._on.rows(_ROUTINES)]

    def has_schema(self, *, to_drop: bool = False) -> bool:
        """False without the schema. Raises TargetError for one of others, or without marks that can be read.

        A drop runs nothing of the owner's, and is for all who have the owner's rights.
        """
        for _, marked, comment, may, owner, own in self._on.rows(_SCHEMA):
            if not marked and comment.startswith(MARK):
                raise unmarked(f"schema {SCHEMA}", f"drop schema {SCHEMA} cascade")
            if not marked:
                raise TargetError(
                    f"the schema {SCHEMA} of this database was not made by iocast",
                    "nothing was changed; use another database, or rename that schema",
                )
            if not (may if to_drop else own):
                raise TargetError(
                    f"the schema {SCHEMA} belongs to the role {owner}, whose code would run with your rights",
                    f"connect as {owner}, or drop the data set and build it as the role that tests",
                )
            return True
        return False

    def mark_new(self) -> None:
        """Marks the schema and its tables, in the transaction that made them all."""
        for mark, *_ in self._on.rows(_SCHEMA):
            self._on.rows(f"comment on schema {SCHEMA} is '{mark}'")
        for each in self.tables():
            self._on.rows(f"comment on table {each.shown} is '{MARK}: {each.name}, oid {each.oid}'")

    def require(self, *tables: str) -> None:
        """Raises TargetError unless all these tables are ours, and nothing of others hangs on them."""
        ours = [each for each in self.tables(*tables) if each.ours]
        if missing := set(tables) - {each.name for each in ours}:
            raise replaced(f"{SCHEMA}.{min(missing)}", "table")
        if hung := [says for (says,) in self._on.rows(_HUNG, {"ours": [each.oid for each in ours]})]:
            raise TargetError(
                f"objects of others hang on tables of the data set and would run with your rights: {'; '.join(hung)}",
                "nothing was changed; drop these first",
            )

    @contextmanager
    def touching(self, *tables: str) -> Iterator[None]:
        """A transaction in which these tables are locked and ours before anything is written to them."""
        with self._on.transaction():
            self._on.rows(f"lock table only {', '.join(f'{SCHEMA}.{name}' for name in tables)} in row exclusive mode")
            self.require(*tables)
            yield

    def require_loops(self, *names: str) -> None:
        """Raises TargetError for a routine of others that bears the name of a loop."""
        for each in self.routines():
            if each.name in names and not each.ours:
                raise replaced(each.shown, "procedure")

    def make_loop(self, name: str, definition: str) -> None:
        """A procedure, made or made anew in place of ours only. Another list of parameters needs another `FORMAT`."""
        with self._on.transaction():
            former = next((each for each in self.routines() if each.name == name and each.ours), None)
            self._on.rows(f"create {'or replace ' if former else ''}procedure {definition}")
            # The one row of this name that this transaction wrote; nobody changes it before the end of that.
            ((oid, shown),) = self._on.rows(_WRITTEN, (name,))
            if former and oid != former.oid:
                raise replaced(former.shown, "procedure")
            if not former:
                self._on.rows(f"comment on procedure {shown} is '{MARK}: {name}, oid {oid}'")

    def drop_ours(self) -> tuple[list[PgObject], int, list[str]]:
        """Drops what is ours, and the schema where that is all: what was dropped, its size, what of others stays.

        In a transaction, since all or nothing is dropped. Raises LoadError, TargetError.
        """
        self._on.rows("set local search_path to ''")  # so that refusals name schemas
        self._on.rows(f"set local lock_timeout = '{round(LOCK_TIMEOUT_S * 1000)}ms'")
        tables = self._locked()
        routines = [each for each in self.routines() if each.ours]
        oids = [each.oid for each in tables]
        if tied := [says for (says,) in self._on.rows(_TIED, (oids, oids))]:
            raise TargetError(f"objects of others are tied to the data set: {'; '.join(tied)}", NOTHING_CHANGED)
        size = self._on.value("select coalesce(sum(pg_total_relation_size(o)), 0) from unnest(%s::oid[]) o", (oids,))
        for kind, group in (("routine", routines), ("table", tables)):
            if group:
                self._on.rows(f"drop {kind} {', '.join(each.shown for each in group)}")
        survivors = self._on.value(_SURVIVORS, (oids, [each.oid for each in routines]))
        if survivors:  # names were dropped, and others than we looked at bore them
            raise LoadError("objects of the data set changed while they were dropped", NOTHING_CHANGED)
        others = [name for (name,) in self._on.rows(_ALL)]
        self._on.rows(f"comment on schema {SCHEMA} is null" if others else f"drop schema {SCHEMA}")
        return [*tables, *routines], int(size), others

    def _locked(self) -> list[PgObject]:
        """Our tables, locked: as they are once all their users have gone."""
        tables = [each for each in self.tables() if each.ours]
        if tables:
            self._on.rows(f"lock table {', '.join(each.shown for each in tables)} in access exclusive mode")
        if [each for each in self.tables() if each.ours] != tables:
            raise LoadError("tables of the data set changed while they were waited for", NOTHING_CHANGED)
        return tables

    def users(self) -> str:
        """Who holds locks on our tables, and the statement that ends each."""
        oids = [each.oid for each in self.tables() if each.ours]
        return "; ".join(
            f"server process {pid} ({name}): select pg_terminate_backend({pid})"
            for pid, name in self._on.rows(_USERS, (oids,))
        )
