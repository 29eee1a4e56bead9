"""The data set on MariaDB and MySQL: the database `iocast_load`, built chunk by chunk, resumed, described, dropped.

InnoDB keeps at least two rows in a page, so each page has two: statements go to the first of them only, by a second key
in random order. The second one, which has no such key, fills the rest of the page with random bytes.
"""

from __future__ import annotations

import os
import uuid
from typing import Any

from msgspec import Struct

from iocast import __version__
from iocast.errors import LoadError, TargetError
from iocast.load.database.key_order import KeyOrder
from iocast.load.database.load_server import Built, Dropped, OnBuild
from iocast.load.database.mysql.my_connection import MyConnection
from iocast.load.database.mysql.my_procedures import DATABASE, commit_procedure, load_procedure
from iocast.model.database.database_load import LEAST_BLOCKS, MOST_BLOCKS, DataSet
from iocast.model.database.database_result import DatabaseServer

FORMAT = 1
_MARK = "iocast load data set"
_ROOM_BYTES = 256  # of half a page: headers, keys, counters
_CHUNK_BYTES = 2 << 20  # below the smallest usual max_allowed_packet
_LOCK = "iocast_load"
_SETTINGS = (
    "innodb_buffer_pool_size", "innodb_flush_method", "innodb_flush_log_at_trx_commit", "innodb_page_size",
    "innodb_doublewrite", "innodb_io_capacity", "innodb_log_file_size", "innodb_read_ahead_threshold", "sync_binlog",
    "log_bin", "performance_schema",
)  # fmt: skip

_TABLES = "select table_name, table_type from information_schema.tables where table_schema = %s"
_ROUTINES = "select routine_name, routine_type from information_schema.routines where routine_schema = %s"
_EVENTS = "select event_name, 'EVENT' from information_schema.events where event_schema = %s"


class _Made(Struct, frozen=True):
    """The row of `iocast_load.data_set`."""

    generation: str
    format: int
    size_bytes: int
    tables: int
    filling: str
    seed: int
    rows: int
    block_bytes: int
    state: str

    def fits(self, asked: DataSet) -> bool:
        """True when this is what was asked for."""
        same = (self.size_bytes, self.tables, self.seed)
        return self.format == FORMAT and same == (asked.size_bytes, asked.tables, asked.seed)


_COLUMNS = "generation, format, size_bytes, tables_made, filling, seed, row_count, block_bytes, state"


class MyDataSet:
    """The data set of the server that is connected to."""

    def __init__(self, connection: MyConnection) -> None:
        self._on = connection

    def _objects(self) -> dict[str, str]:
        """What is in the database: name → "table", "view", "procedure", ..."""
        found: dict[str, str] = {}
        for query in (_TABLES, _ROUTINES, _EVENTS):
            found |= dict(self._on.rows(query, (DATABASE,)))
        return {str(name): str(kind) for name, kind in found.items()}

    def _made(self) -> _Made | None:
        """What is there; None for nothing, or an empty database. Raises TargetError for what iocast did not make."""
        objects = self._objects()
        if not objects:
            return None
        comment = self._on.value(
            "select table_comment from information_schema.tables where table_schema = %s and table_name = 'data_set'",
            (DATABASE,),
        )
        if not str(comment or "").startswith(_MARK):
            raise TargetError(
                f"the database {DATABASE} of this server was not made by iocast",
                "nothing was changed; rename that database, or use another server",
            )
        found = self._on.rows(f"select {_COLUMNS} from {DATABASE}.data_set")
        return _Made(*found[0]) if found else None

    def describe(self) -> DatabaseServer:
        """The server and its data set. Raises TargetError where none is complete."""
        made = self._made()
        if made is None:
            raise TargetError("this server has no data set of iocast", "build one: iocast load-db build URL --size 4G")
        if made.state != "complete" or made.format != FORMAT:
            raise TargetError(
                "the data set of this server is not complete" if made.format == FORMAT else "another iocast built it",
                "run `iocast load-db build` with the same options again, or `iocast load-db drop`",
            )
        return self.server(made)

    def server(self, made: _Made) -> DatabaseServer:
        """The server as it is, with what was built."""
        settings = {
            str(name): str(value)
            for name, value in self._on.rows(f"show global variables where variable_name in {_SETTINGS}")
        }
        version = str(self._on.value("select version()"))
        page = int(settings["innodb_page_size"])
        return DatabaseServer(
            product="MariaDB" if self._on.mariadb else "MySQL",
            version=version.partition("-")[0],
            block_bytes=page,
            cache_bytes=int(settings["innodb_buffer_pool_size"]),
            data_bytes=made.rows * made.tables * page,
            tables=made.tables,
            table_blocks=made.rows,
            filling="full",
            generation=made.generation,
            settings=settings,
            direct=settings.get("innodb_flush_method", "").upper().startswith("O_DIRECT"),
            timed=settings.get("performance_schema") == "ON",
        )

    def lock(self) -> None:
        """Builders, droppers and loads each alone. Raises TargetError."""
        if not self._on.value("select get_lock(%s, 0)", (_LOCK,)):
            raise TargetError("another iocast builds, loads or drops this data set", "wait for it to end")

    def build(self, asked: DataSet, on_build: OnBuild) -> Built:
        """Builds it, or goes on where an interrupted build ended. Raises TargetError, LoadError."""
        self.lock()
        page = int(self._on.value("select @@global.innodb_page_size"))
        rows = asked.blocks(page)
        if not LEAST_BLOCKS <= rows <= MOST_BLOCKS:
            raise TargetError(
                f"a table of {rows:,} blocks is too small or too large",
                f"each takes {LEAST_BLOCKS} to {MOST_BLOCKS:,} blocks of {page} bytes: change --size or --tables",
            )
        made = self._made()
        if made is not None and (made.state == "complete" or not made.fits(asked)):
            what = "a complete data set" if made.state == "complete" else "an unfinished data set of another shape"
            raise TargetError(f"{DATABASE} holds {what} already", "remove it first: iocast load-db drop URL")
        resumed = made is not None
        made = made or self._begin(asked, rows, page)
        for table in range(1, asked.tables + 1):
            self._make_table(table)
            if not self._fill(made, table, on_build):
                raise LoadError("stopped: the data set is not complete", "the same command goes on; or use drop")
        whole = made.rows * made.tables * page
        on_build("analyze", 0, whole, whole)
        for table in range(1, asked.tables + 1):
            self._on.run(f"analyze table {DATABASE}.t{table}")
        self.make_loops(made.tables)
        self._on.run(f"update {DATABASE}.data_set set state = 'complete'")
        return Built(server=self.server(made), resumed=resumed)

    def _begin(self, asked: DataSet, rows: int, page: int) -> _Made:
        """The database and its notes; statements that define things cannot be undone, so the mark comes first."""
        made = _Made(
            str(uuid.uuid4()), FORMAT, asked.size_bytes, asked.tables, "full", asked.seed, rows, page, "building"
        )
        self._on.run(f"create database if not exists {DATABASE}")
        self._on.run(
            f"create table if not exists {DATABASE}.data_set (only_row int primary key, generation varchar(36),"
            " format int,"
            " size_bytes bigint, tables_made int, filling varchar(8), seed bigint, row_count bigint, block_bytes int,"
            f" state varchar(16), made_by varchar(64)) engine = innodb comment '{_MARK}'"
        )
        self._on.run(
            f"create table if not exists {DATABASE}.progress (number int primary key, done bigint) engine = innodb"
        )
        self._on.run(
            f"create table if not exists {DATABASE}.commits (id bigint auto_increment primary key, stream bigint,"
            " number bigint, filler varbinary(8192)) engine = innodb"
        )
        self._on.run(
            f"insert into {DATABASE}.data_set values (1, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
            (*(getattr(made, field) for field in made.__struct_fields__), f"iocast {__version__}"),
        )
        return made

    def _make_table(self, table: int) -> None:
        self._on.run(
            f"create table if not exists {DATABASE}.t{table} (p bigint primary key, k bigint unique, c1 bigint not null"
            " default 0, filler varbinary(32000) not null) engine = innodb row_format = dynamic"
        )
        self._on.run(f"insert ignore into {DATABASE}.progress values (%s, 0)", (table,))

    def _fill(self, made: _Made, table: int, on_build: OnBuild) -> bool:
        """Pairs of rows, a page each; False when it was stopped."""
        done = int(self._on.value(f"select done from {DATABASE}.progress where number = %s", (table,)))
        order = KeyOrder(made.rows, made.seed, table)
        chunk = max(1, _CHUNK_BYTES // made.block_bytes)
        filler = made.block_bytes // 2 - _ROOM_BYTES
        before, whole = (table - 1) * made.rows, made.rows * made.tables
        while done < made.rows:
            if not on_build("fill", table, (before + done) * made.block_bytes, whole * made.block_bytes):
                return False
            count = min(chunk, made.rows - done)
            values: list[Any] = []
            for page, key in enumerate(order.keys(done, count), done):
                values += (2 * page, key, os.urandom(filler), 2 * page + 1, None, os.urandom(filler))
            marks = ", ".join(["(%s, %s, _binary %s)"] * (2 * count))
            with self._on.transaction():
                self._on.run(f"insert into {DATABASE}.t{table} (p, k, filler) values {marks}", tuple(values))
                self._on.run(f"update {DATABASE}.progress set done = %s where number = %s", (done + count, table))
            done += count
        return True

    def make_loops(self, tables: int) -> None:
        """The procedures as this iocast knows them."""
        for table in range(1, tables + 1):
            self._on.run(f"drop procedure if exists {DATABASE}.load_{table}")
            self._on.run(load_procedure(table))
        self._on.run(f"drop procedure if exists {DATABASE}.commit_rows")
        self._on.run(commit_procedure())

    def drop(self) -> Dropped:
        """Removes what `build` made, and nothing else; what others put into the database stays, with the database."""
        self.lock()
        made = self._made()
        exists = self._on.value("select count(*) from information_schema.schemata where schema_name = %s", (DATABASE,))
        if made is None and not (exists and not self._objects()):
            raise TargetError("this server has no data set of iocast", "nothing was changed")
        count = made.tables if made is not None else 0
        numbers = range(1, count + 1)
        tables = ["commits", "progress", *(f"t{number}" for number in numbers), "data_set"]  # the mark goes last
        loops = {"commit_rows", *(f"load_{number}" for number in numbers)}
        objects = self._objects()
        size = made.rows * made.tables * made.block_bytes if made is not None else 0
        dropped = []
        for name in sorted(loops & objects.keys()):
            self._on.run(f"drop procedure {DATABASE}.{name}")
            dropped.append(f"{DATABASE}.{name}")
        for name in tables:
            if objects.get(name) == "BASE TABLE":
                self._on.run(f"drop table {DATABASE}.{name}")
                dropped.append(f"{DATABASE}.{name}")
        left = tuple(f"{DATABASE}.{name}" for name in sorted(self._objects()))
        if not left:
            self._on.run(f"drop database {DATABASE}")
        return Dropped(objects=tuple(dropped), size_bytes=size, left=left)
