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
    BuiltDataSet,
    Chunk,
    Holder,
    complete,
    fill,
    refuse_other,
    refuse_size,
    take_lock,
)
from iocast.load.database.load_server import Built, Dropped, OnBuild
from iocast.load.database.mysql.my_connection import MyConnection
from iocast.load.database.mysql.my_objects import MyObjects, mark, quoted
from iocast.load.database.mysql.my_procedures import DATABASE, load_procedure
from iocast.model.database.database_load import DataSet, Filling
from iocast.model.database.database_result import DatabaseServer

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
_COLUMNS = "generation, format, size_bytes, tables_made, filling, seed, row_count, block_bytes, state"


class MyDataSet:
    """The data set of the server that is connected to."""

    def __init__(self, connection: MyConnection) -> None:
        self._on = connection
        self._objects = MyObjects(connection)

    def _built_data_set(self) -> BuiltDataSet | None:
        """What is there; None for nothing, or an empty database. Raises TargetError for what iocast did not make."""
        if not self._objects.has_data_set():
            return None
        self._objects.require_table("data_set")
        rows = self._on.rows(f"select {_COLUMNS} from {DATABASE}.data_set")
        if not rows:
            return None  # the build was killed before this note
        built_data_set = BuiltDataSet(*rows[0])
        numbers = range(1, built_data_set.tables + 1)
        tables = {"progress", "commits", *(f"t{number}" for number in numbers)}
        loops = {f"load_{number}" for number in numbers}
        self._objects.require(tables, loops, complete=built_data_set.state == "complete")
        return built_data_set

    def describe(self) -> DatabaseServer:
        """The server and its data set. Raises TargetError where none is complete."""
        return self.server(complete(self._built_data_set(), "server"))

    def server(self, built_data_set: BuiltDataSet) -> DatabaseServer:
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
            data_bytes=built_data_set.rows * built_data_set.tables * page,
            tables=built_data_set.tables,
            table_blocks=built_data_set.rows,
            filling=built_data_set.filling,
            generation=built_data_set.generation,
            settings=settings,
            direct=settings.get("innodb_flush_method", "").upper().startswith("O_DIRECT"),
            timed=settings.get("performance_schema") == "ON",
        )

    def lock(self) -> None:
        """Builders, droppers and loads each alone. Raises TargetError."""
        take_lock(lambda: bool(self._on.value("select get_lock(%s, 0)", (_LOCK,))), self.holders)

    def holders(self) -> list[Holder]:
        """Who holds the lock, apart from this connection; of other users only the number is seen without PROCESS."""
        rows = self._on.rows(_HOLDER, (_LOCK,))
        return [
            Holder(
                f"connection {number}"
                + (f" (of {user}, in its present statement or pause for {seconds} s)" if user else ""),
                f"kill {number}",
            )
            for number, user, seconds in rows
        ]

    def build(self, data_set: DataSet, on_build: OnBuild) -> Built:
        """Builds it, or goes on where an interrupted build ended. Raises TargetError, LoadError."""
        self.lock()
        data_set = replace(data_set, filling=_FILLING)
        page = int(self._on.value("select @@global.innodb_page_size"))
        rows = data_set.blocks(page)
        refuse_size(data_set, rows)
        built = self._built_data_set()
        refuse_other(built, data_set, DATABASE)
        resumed = built is not None
        built = built or self._begin(data_set, rows, page)
        self._make_tables(data_set.tables)
        for table in range(1, data_set.tables + 1):
            self._fill(built, table, on_build)
        whole = built.rows * built.tables * page
        on_build("analyze", 0, whole, whole)
        for table in range(1, data_set.tables + 1):
            self._on.run(f"analyze table {DATABASE}.t{table}")
        self.make_loops(built.tables)
        with self._on.transaction():
            self._on.run(f"update {DATABASE}.data_set set state = 'complete'")
            self._objects.require_table("data_set")
        return Built(server=self.server(built), resumed=resumed)

    def _begin(self, data_set: DataSet, rows: int, page: int) -> BuiltDataSet:
        """The database and its notes; statements that define things cannot be undone, so the mark comes first."""
        built = BuiltDataSet(
            str(uuid.uuid4()),
            FORMAT,
            data_set.size_bytes,
            data_set.tables,
            data_set.filling,
            data_set.seed,
            rows,
            page,
            "building",
        )
        self._objects.create_database()
        self._make_table(
            "data_set",
            "only_row int primary key, generation varchar(36), format int, size_bytes bigint, tables_made int,"
            " filling varchar(8), seed bigint, row_count bigint, block_bytes int, state varchar(16),"
            " made_by varchar(64)",
        )
        self._on.run(
            f"insert into {DATABASE}.data_set values (1, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
            (*(getattr(built, field) for field in built.__struct_fields__), f"iocast {__version__}"),
        )
        return built

    def _make_table(self, name: str, columns: str) -> None:
        """A table, unless ours is there already. Raises TargetError where another one bears its name."""
        self._on.run(
            f"create table if not exists {DATABASE}.{name} ({columns}) engine = innodb row_format = dynamic"
            f" {mark(name)}"
        )
        self._objects.require_table(name)

    def _make_tables(self, count: int) -> None:
        self._make_table("progress", "number int primary key, done bigint")
        self._make_table(
            "commits", "id bigint auto_increment primary key, stream bigint, number bigint, filler varbinary(8192)"
        )
        for table in range(1, count + 1):
            self._make_table(
                f"t{table}",
                "p bigint primary key, k bigint unique, c1 bigint not null default 0, filler varbinary(32000) not null",
            )
            self._on.run(f"insert ignore into {DATABASE}.progress values (%s, 0)", (table,))

    def _fill(self, built_data_set: BuiltDataSet, table: int, on_build: OnBuild) -> None:
        """Pairs of rows, a page each. Raises LoadError when it was stopped."""
        done = int(self._on.value(f"select done from {DATABASE}.progress where number = %s", (table,)))
        filler = built_data_set.block_bytes // 2 - _ROOM_BYTES

        def write(chunk: Chunk) -> None:
            values: list[Any] = []
            for page, key in enumerate(chunk.keys, chunk.first):
                values += (2 * page, key, os.urandom(filler), 2 * page + 1, None, os.urandom(filler))
            marks = ", ".join(["(%s, %s, _binary %s)"] * (2 * len(chunk.keys)))
            with self._on.transaction():
                self._on.run(f"insert into {DATABASE}.t{table} (p, k, filler) values {marks}", tuple(values))
                self._on.run(f"update {DATABASE}.progress set done = %s where number = %s", (chunk.done, table))
                for name in (f"t{table}", "progress"):  # which nobody can replace until the transaction ends
                    self._objects.require_table(name)

        fill(built_data_set, table, done, _CHUNK_BYTES, on_build, write)

    def make_loops(self, tables: int) -> None:
        """The procedures as this iocast knows them. Raises TargetError for one of others with such a name."""
        for table in range(1, tables + 1):
            self._objects.require_loops({f"load_{table}"})
            self._on.run(f"drop procedure if exists {DATABASE}.load_{table}")
            self._on.run(load_procedure(table))

    def empty_commits(self) -> None:
        """The rows of earlier commit tests go."""
        with self._objects.locked(["commits"]):
            self._on.run(f"truncate table {DATABASE}.commits")

    def drop(self) -> Dropped:
        """Removes what `build` made, and nothing else; what others put into the database stays, with the database.

        Statements that define things cannot be undone, so that the note that it is being dropped comes first, and the
        table with the note goes last.
        """
        self.lock()
        if not self._objects.has_data_set() and not self._objects.owns_database():
            raise TargetError("this server has no data set of iocast", "nothing was changed")
        self._objects.refuse_dependents()
        ours = self._objects.ours()
        tables = [each.name for each in ours if each.kind == "table"]
        note = [name for name in tables if name == "data_set"]
        with self._objects.locked(tables):
            for _ in note:
                self._on.run(f"update {DATABASE}.data_set set state = 'dropping'")
            for name in tables:
                if name not in note:
                    self._on.run(f"drop table {quoted(name)}")
        for each in ours:
            if each.kind == "procedure":
                self._on.run(f"drop procedure {each.shown}")
        with self._objects.locked(note):
            for name in note:
                self._on.run(f"drop table {DATABASE}.{name}")
        left = tuple(each.shown for each in self._objects.all())
        stays = bool(left) or not (self._objects.owns_database() and self._objects.sees_all())
        if not stays:
            self._on.run(f"drop database {DATABASE}")
        size_bytes = sum(each.size_bytes for each in ours)
        objects = tuple(each.shown for each in ours)
        return Dropped(objects=objects, size_bytes=size_bytes, left=left, place_stays=stays)
