"""The data set on MariaDB and MySQL: the database `iocast_load`, built chunk by chunk, resumed, described, dropped.

InnoDB keeps at least two rows in a page, so each page has two: statements go to the first of them only, by a second key
in random order. The second one, which has no such key, fills the rest of the page with random bytes.
"""

from __future__ import annotations

import os
import uuid
from typing import Any

from msgspec.structs import replace

from iocast import __version__
from iocast.errors import TargetError
from iocast.load.database.data_set_plan import (
    FORMAT,
    Chunk,
    Holder,
    Made,
    complete,
    fill,
    refuse_other,
    refuse_size,
    take_lock,
)
from iocast.load.database.load_server import Built, Dropped, OnBuild
from iocast.load.database.mysql.my_connection import MyConnection
from iocast.load.database.mysql.my_procedures import DATABASE, load_procedure
from iocast.model.database.database_load import DataSet, Filling
from iocast.model.database.database_result import DatabaseServer

_MARK = "iocast load data set"
_ROOM_BYTES = 256  # of half a page: headers, keys, counters
_CHUNK_BYTES = 2 << 20  # below the smallest usual max_allowed_packet
_FILLING: Filling = "full"  # always: two rows fill a page
_LOCK = "iocast_load"
_HOLDER = (
    "select l.id, p.user, p.time from (select is_used_lock(%s) id) l left join information_schema.processlist p"
    " on p.id = l.id where l.id is not null and l.id <> connection_id()"
)
_SETTINGS = (
    "innodb_buffer_pool_size", "innodb_flush_method", "innodb_flush_log_at_trx_commit", "innodb_page_size",
    "innodb_doublewrite", "innodb_io_capacity", "innodb_log_file_size", "innodb_read_ahead_threshold", "sync_binlog",
    "log_bin", "performance_schema", "innodb_lru_scan_depth",
)  # fmt: skip

_INDEXES = (
    "select sum(index_length) from information_schema.tables where table_schema = %s and table_name regexp '^t[0-9]+$'"
)
_TABLES = "select table_name, table_type from information_schema.tables where table_schema = %s"
_ROUTINES = "select routine_name, routine_type from information_schema.routines where routine_schema = %s"
_EVENTS = "select event_name, 'EVENT' from information_schema.events where event_schema = %s"
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

    def _made(self) -> Made | None:
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
        return Made(*found[0]) if found else None

    def describe(self) -> DatabaseServer:
        """The server and its data set. Raises TargetError where none is complete."""
        return self.server(complete(self._made(), "server"))

    def server(self, made: Made) -> DatabaseServer:
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
            cache_bytes=(cache := int(settings["innodb_buffer_pool_size"])),
            kept_free_bytes=min(cache, int(settings.get("innodb_lru_scan_depth", 0)) * page),
            index_bytes=int(self._on.value(_INDEXES, (DATABASE,)) or 0),
            data_bytes=made.rows * made.tables * page,
            tables=made.tables,
            table_blocks=made.rows,
            filling=made.filling,
            generation=made.generation,
            settings=settings,
            direct=settings.get("innodb_flush_method", "").upper().startswith("O_DIRECT"),
            timed=settings.get("performance_schema") == "ON",
        )

    def lock(self) -> None:
        """Builders, droppers and loads each alone. Raises TargetError."""
        take_lock(lambda: bool(self._on.value("select get_lock(%s, 0)", (_LOCK,))), self.holders)

    def holders(self) -> list[Holder]:
        """Who holds the lock, apart from this connection; of other users only the number is seen without PROCESS."""
        found = self._on.rows(_HOLDER, (_LOCK,))
        return [
            Holder(
                f"connection {number}"
                + (f" (of {user}, in its present statement or pause for {seconds} s)" if user else ""),
                f"kill {number}",
            )
            for number, user, seconds in found
        ]

    def build(self, asked: DataSet, on_build: OnBuild) -> Built:
        """Builds it, or goes on where an interrupted build ended. Raises TargetError, LoadError."""
        self.lock()
        asked = replace(asked, filling=_FILLING)
        page = int(self._on.value("select @@global.innodb_page_size"))
        rows = asked.blocks(page)
        refuse_size(asked, rows)
        made = self._made()
        refuse_other(made, asked, DATABASE)
        resumed = made is not None
        made = made or self._begin(asked, rows, page)
        for table in range(1, asked.tables + 1):
            self._make_table(table)
            self._fill(made, table, on_build)
        whole = made.rows * made.tables * page
        on_build("analyze", 0, whole, whole)
        for table in range(1, asked.tables + 1):
            self._on.run(f"analyze table {DATABASE}.t{table}")
        self.make_loops(made.tables)
        self._on.run(f"update {DATABASE}.data_set set state = 'complete'")
        return Built(server=self.server(made), resumed=resumed)

    def _begin(self, asked: DataSet, rows: int, page: int) -> Made:
        """The database and its notes; statements that define things cannot be undone, so the mark comes first."""
        made = Made(
            str(uuid.uuid4()), FORMAT, asked.size_bytes, asked.tables, asked.filling, asked.seed, rows, page, "building"
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

    def _fill(self, made: Made, table: int, on_build: OnBuild) -> None:
        """Pairs of rows, a page each. Raises LoadError when it was stopped."""
        done = int(self._on.value(f"select done from {DATABASE}.progress where number = %s", (table,)))
        filler = made.block_bytes // 2 - _ROOM_BYTES

        def write(chunk: Chunk) -> None:
            values: list[Any] = []
            for page, key in enumerate(chunk.keys, chunk.first):
                values += (2 * page, key, os.urandom(filler), 2 * page + 1, None, os.urandom(filler))
            marks = ", ".join(["(%s, %s, _binary %s)"] * (2 * len(chunk.keys)))
            with self._on.transaction():
                self._on.run(f"insert into {DATABASE}.t{table} (p, k, filler) values {marks}", tuple(values))
                self._on.run(f"update {DATABASE}.progress set done = %s where number = %s", (chunk.done, table))

        fill(made, table, done, _CHUNK_BYTES, on_build, write)

    def make_loops(self, tables: int) -> None:
        """The procedures as this iocast knows them."""
        for table in range(1, tables + 1):
            self._on.run(f"drop procedure if exists {DATABASE}.load_{table}")
            self._on.run(load_procedure(table))

    def drop(self) -> Dropped:
        """Removes what `build` made, and nothing else; what others put into the database stays, with the database."""
        self.lock()
        made = self._made()
        exists = self._on.value("select count(*) from information_schema.schemata where schema_name = %s", (DATABASE,))
        if made is None and not exists:
            raise TargetError("this server has no data set of iocast", "nothing was changed")
        if made is not None:  # tables go one by one: whoever finds what is left is not to take it for a data set
            self._on.run(f"update {DATABASE}.data_set set state = 'dropping'")
        count = made.tables if made is not None else 0
        numbers = range(1, count + 1)
        tables = ["commits", "progress", *(f"t{number}" for number in numbers), "data_set"]  # the mark goes last
        loops = {f"load_{number}" for number in numbers}
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
