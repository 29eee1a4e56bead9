"""The data set on PostgreSQL: the schema `iocast_load`, built chunk by chunk, resumed, described and dropped.

Each chunk and the note of how far the table is are one transaction: whoever dies, client or server, leaves a data set
that the next build goes on with, or that `drop` removes.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from iocast import __version__
from iocast.errors import LoadError, TargetError
from iocast.load.database.data_set_plan import (
    FORMAT,
    BuildStoppedError,
    BuiltDataSet,
    Chunk,
    Holder,
    InUseError,
    complete,
    fill,
    in_use,
    refuse_other,
    refuse_size,
    take_lock,
    tell,
)
from iocast.load.database.load_server import Built, Dropped, OnBuild
from iocast.load.database.postgresql.pg_connection import PgConnection
from iocast.load.database.postgresql.pg_objects import PgObjects
from iocast.load.database.postgresql.pg_procedures import SCHEMA, commit_procedure, load_procedure
from iocast.model.database.database_load import DataSet
from iocast.model.database.database_result import DatabaseServer

_PIECES = {"row": 11, "half": 60, "full": 124}
_CHUNK_BYTES = 16 << 20
_LOCK = 0x10CA57  # advisory: builders and droppers alone, loads together
_HOLDERS = (
    "select l.pid, a.application_name, extract(epoch from clock_timestamp() - a.backend_start)::float8 from pg_locks l"
    " left join pg_stat_activity a on a.pid = l.pid where l.locktype = 'advisory' and l.granted and l.classid = 0"
    " and l.objid = %s and l.objsubid = 1 and l.pid <> pg_backend_pid() and l.mode like %s"
    " and l.database = (select oid from pg_database where datname = current_database()) order by l.pid"
)
_VACUUM_ONLY_SINCE = 18
_SETTINGS = (
    "shared_buffers", "effective_io_concurrency", "fsync", "full_page_writes", "synchronous_commit", "wal_sync_method",
    "wal_level", "max_wal_size", "checkpoint_timeout", "data_checksums", "io_method", "debug_io_direct", "autovacuum",
    "track_io_timing", "track_wal_io_timing", "huge_pages", "wal_compression",
)  # fmt: skip


class PgDataSet:
    """The data set of the database that is connected to."""

    def __init__(self, connection: PgConnection) -> None:
        self._on = connection
        self._objects = PgObjects(connection)

    def _built_data_set(self) -> BuiltDataSet | None:
        """What is there; None without the schema. Raises TargetError for what iocast did not make."""
        if not self._objects.has_schema():
            return None
        self._objects.require("data_set")
        (row,) = self._on.rows(
            f"select generation, format, size_bytes, tables, filling, seed, row_count, block_bytes, state"
            f" from only {SCHEMA}.data_set"
        )
        built_data_set = BuiltDataSet(*row)
        numbers = range(1, built_data_set.tables + 1)
        self._objects.require("progress", "commits", *(f"t{number}" for number in numbers))
        self._objects.require_loops("commit_rows", *(f"load_{number}" for number in numbers))
        return built_data_set

    def describe(self) -> DatabaseServer:
        """The server and its data set. Raises TargetError where none is complete."""
        return self.server(complete(self._built_data_set(), "database"))

    def server(self, built_data_set: BuiltDataSet | None) -> DatabaseServer:
        """The server as it is, with what was built."""
        settings = {
            name: f"{value} {unit}" if unit else value
            for name, value, unit in self._on.rows(
                "select name, setting, unit from pg_settings where name = any(%s)", (list(_SETTINGS),)
            )
        }
        block = int(self._on.value("select current_setting('block_size')"))
        cached = int(self._on.value("select setting from pg_settings where name = 'shared_buffers'"))
        names = [f"{SCHEMA}.t{number}" for number in range(1, built_data_set.tables + 1)] if built_data_set else []
        data, index = (
            self._on.rows(
                "select sum(pg_relation_size(t::regclass)), sum(pg_indexes_size(t::regclass))"
                " from unnest(%s::text[]) t",
                (names,),
            )[0]
            if names
            else (0, 0)
        )
        return DatabaseServer(
            product="PostgreSQL",
            version=str(self._on.value("show server_version")).partition(" ")[0],
            block_bytes=block,
            cache_bytes=cached * block,
            data_bytes=int(data or 0),
            index_bytes=int(index or 0),
            tables=built_data_set.tables if built_data_set else 0,
            table_blocks=built_data_set.rows if built_data_set else 0,
            filling=built_data_set.filling if built_data_set else "",
            generation=built_data_set.generation if built_data_set else "",
            settings=settings,
            direct="data" in settings.get("debug_io_direct", ""),
            timed=settings.get("track_io_timing") == "on" or not self._on.tried("set track_io_timing = on"),
        )

    def build(self, data_set: DataSet, on_build: OnBuild) -> Built:
        """Builds it, or goes on where an interrupted build ended. Raises TargetError, LoadError."""
        self._lock()
        block = int(self._on.value("select current_setting('block_size')"))
        rows = data_set.blocks(block)
        refuse_size(data_set, rows)
        built = self._built_data_set()
        refuse_other(built, data_set, SCHEMA)
        resumed = built is not None
        if built is None:
            built = self._begin(data_set, rows, block)
        else:
            self._clear_remains(built)
        self._on.rows("set synchronous_commit = off")  # what is lost in a crash is lost with its note of progress
        for table in range(1, data_set.tables + 1):
            self._fill(built, table, on_build)
        notes = self._finish(built, on_build)
        return Built(server=self.server(self._built_data_set()), resumed=resumed, notes=tuple(notes))

    def _lock(self) -> None:
        take_lock(lambda: self._got("pg_try_advisory_lock"), self.holders)

    def share(self) -> None:
        """While this connection lives nobody drops the data set. Raises TargetError."""
        take_lock(lambda: self._got("pg_try_advisory_lock_shared"), lambda: self.holders(of_all=False))

    def _got(self, function: str) -> bool:
        return bool(self._on.value(f"select {function}(%s)", (_LOCK,)))

    def holders(self, *, of_all: bool = True) -> list[Holder]:
        """Who holds the lock: builders, droppers and, `of_all`, loads. Any role sees that; how long, of its own."""
        rows = self._on.rows(_HOLDERS, (_LOCK, "%" if of_all else "ExclusiveLock"))
        return [
            Holder(
                f"server process {pid} ({name or 'of a name that is hidden'}"
                + (f", connected for {seconds:.0f} s)" if seconds is not None else ")"),
                f"select pg_terminate_backend({pid})",
            )
            for pid, name, seconds in rows
        ]

    def _begin(self, data_set: DataSet, rows: int, block: int) -> BuiltDataSet:
        """Schema, notes and empty tables, all or none."""
        built_data_set = BuiltDataSet(
            str(uuid.uuid4()),
            FORMAT,
            data_set.size_bytes,
            data_set.tables,
            data_set.filling,
            data_set.seed,
            rows,
            block,
            "building",
        )
        try:
            with self._on.transaction():
                self._on.rows(f"create schema {SCHEMA}")
                self._on.rows(
                    f"create table {SCHEMA}.data_set (only_row boolean primary key default true check (only_row),"
                    " generation text, format int, size_bytes bigint, tables int, filling text, seed bigint,"
                    " row_count bigint, block_bytes int, state text, made_by text, begun timestamptz default now())"
                )
                self._on.rows(
                    f"insert into {SCHEMA}.data_set (generation, format, size_bytes, tables, filling, seed, row_count,"
                    " block_bytes, state, made_by) values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
                    (*_values(built_data_set), f"iocast {__version__}"),
                )
                self._on.rows(f"create table {SCHEMA}.progress (number int primary key, done bigint, indexed boolean)")
                self._on.rows(f"create table {SCHEMA}.commits (stream bigint, number bigint, filler bytea)")
                self._on.rows(f"alter table {SCHEMA}.commits alter filler set storage plain")
                for table in range(1, data_set.tables + 1):
                    self._make_table(table)
                self._objects.mark_new()
        except LoadError as error:
            if "permission denied for database" in error.message:
                name = self._on.value("select current_database()")
                role = self._on.value("select current_user")
                raise TargetError(
                    error.message, f"run as its owner: grant create on database {name} to {role}"
                ) from None
            raise
        return built_data_set

    def _clear_remains(self, built_data_set: BuiltDataSet) -> None:
        """Blocks of rows that died with their transaction are used again."""
        for table in range(1, built_data_set.tables + 1):
            self._on.rows(f"vacuum {self._own}{SCHEMA}.t{table}")

    @property
    def _own(self) -> str:
        """The word without which a vacuum goes on to tables of others that inherit from ours."""
        return "only " if self._on.version >= _VACUUM_ONLY_SINCE else ""

    def _make_table(self, table: int) -> None:
        name = f"{SCHEMA}.t{table}"
        self._on.rows(
            f"create table {name} (k bigint not null, c1 bigint not null default 0, filler bytea not null)"
            " with (fillfactor = 10)"
        )
        self._on.rows(f"alter table {name} alter filler set storage plain")
        self._on.rows(f"insert into {SCHEMA}.progress values ({table}, 0, false)")

    def _fill(self, built_data_set: BuiltDataSet, table: int, on_build: OnBuild) -> None:
        """Rows in random order of their keys, then the index. Raises LoadError when it was stopped."""
        progress = f"select done, indexed from only {SCHEMA}.progress where number = %s"
        done, indexed = self._on.rows(progress, (table,))[0]

        def write(chunk: Chunk) -> None:
            with self._objects.touching(f"t{table}", "progress"):
                self._on.rows(
                    f"insert into {SCHEMA}.t{table} (k, filler) select n, (select string_agg(sha512(convert_to("
                    f"%s || ':' || n || ':' || piece, 'UTF8')), ''::bytea) from"
                    f" generate_series(1, {_PIECES[built_data_set.filling]}) piece) from unnest(%s::bigint[]) n",
                    (f"{built_data_set.generation}:{table}", chunk.keys),
                )
                self._on.rows(f"update only {SCHEMA}.progress set done = {chunk.done} where number = {table}")

        fill(built_data_set, table, done, _CHUNK_BYTES, on_build, write)
        if not indexed:
            with self._objects.touching(f"t{table}", "progress"):
                index = f"create unique index t{table}_k on {SCHEMA}.t{table} (k)"
                self._patiently(index, lambda: tell(on_build, "index", built_data_set, table, built_data_set.rows))
                self._on.rows(f"update only {SCHEMA}.progress set indexed = true where number = {table}")

    def _patiently(self, sql: str, on_wait: Callable[[], bool]) -> None:
        """A statement that a person may end. Raises LoadError when that was done."""
        if not (on_wait() and self._on.patiently(sql, on_wait)):
            raise BuildStoppedError

    def _finish(self, built_data_set: BuiltDataSet, on_build: OnBuild) -> list[str]:
        """Statistics, hint bits and a checkpoint, so that a first run does not pay for them."""
        notes = []
        whole = built_data_set.rows * built_data_set.tables * built_data_set.block_bytes
        for table in range(1, built_data_set.tables + 1):
            self._objects.require(f"t{table}")  # a vacuum takes its own lock, and may stand in no transaction
            sql = f"vacuum (freeze, analyze) {self._own}{SCHEMA}.t{table}"
            self._patiently(sql, lambda number=table: on_build("vacuum", number, whole, whole))  # type: ignore[misc]
            blocks = (
                int(self._on.value(f"select pg_relation_size('{SCHEMA}.t{table}'::regclass)"))
                // built_data_set.block_bytes
            )
            if blocks != built_data_set.rows:
                notes.append(
                    f"table {table} has {blocks:,} blocks for {built_data_set.rows:,} rows: some of them are empty"
                )
        self.make_loops(built_data_set.tables)
        on_build("checkpoint", 0, whole, whole)
        if said := self._on.tried("checkpoint"):
            notes.append(f"no checkpoint was made ({said}): the first rows may share the disk with one")
        self._on.rows("set synchronous_commit = on")
        with self._objects.touching("data_set"):
            self._on.rows(f"update only {SCHEMA}.data_set set state = 'complete'")
        return notes

    def make_loops(self, tables: int) -> None:
        """The procedures as this iocast knows them."""
        for table in range(1, tables + 1):
            self._objects.make_loop(f"load_{table}", load_procedure(table))
        self._objects.make_loop("commit_rows", commit_procedure())

    def empty_commits(self) -> None:
        """The rows of earlier commit tests go."""
        with self._objects.touching("commits"):
            self._on.rows(f"truncate only {SCHEMA}.commits")

    def drop(self) -> Dropped:
        """Removes what `build` made, and nothing else; what others put into the schema stays, with the schema."""
        self._lock()
        if not self._objects.has_schema(to_drop=True):
            raise TargetError("this database has no data set of iocast", "nothing was changed")
        try:
            with self._on.transaction():
                dropped, size_bytes, left = self._objects.drop_ours()
        except InUseError:
            raise in_use(self._objects.users()) from None
        objects = tuple(each.shown for each in dropped)
        return Dropped(objects=objects, size_bytes=size_bytes, left=tuple(left), place_stays=bool(left))


def _values(built_data_set: BuiltDataSet) -> tuple[Any, ...]:
    return tuple(getattr(built_data_set, field) for field in built_data_set.__struct_fields__)
