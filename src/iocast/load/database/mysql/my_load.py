"""MariaDB and MySQL as servers of a load: described, loaded by sessions, their counters read before and after a row."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from iocast.formats.database_access.address import AskPassword
from iocast.formats.database_access.my_dialling import MyDialling
from iocast.load.database.client_session import ClientSession
from iocast.load.database.load_server import Built, Counters, Dropped, LoadSession, OnBuild, SessionAsked
from iocast.load.database.mysql.my_connection import OURS, MyConnection
from iocast.load.database.mysql.my_data_set import MyDataSet
from iocast.load.database.mysql.my_procedures import DATABASE
from iocast.load.database.mysql.my_sessions import LoopSession, MyStatements
from iocast.model.database.database_load import CommitLoad, DatabaseLoad, DataSet
from iocast.model.database.database_result import CommitPath, DatabaseServer, LayerBelow, Statements

OTHERS = 0.02  # more timed reads than misses, as a share, are those of read-ahead or of others
_STATUS = (
    "select variable_name, variable_value from information_schema.global_status where variable_name in"
    " ('innodb_buffer_pool_reads', 'innodb_buffer_pool_read_ahead', 'innodb_os_log_written', 'innodb_os_log_fsyncs')"
)
_FILES = (
    "select count_read, sum_timer_read from performance_schema.file_summary_by_event_name"
    " where event_name = 'wait/io/file/innodb/innodb_data_file'"
)


class MyLoad:
    """See `load_server.LoadServer`."""

    def __init__(self, url: str, ask: AskPassword | None, answers: dict[str, str] | None) -> None:
        self._dialling = MyDialling(url, ask, answers)
        self.redacted = self._dialling.redacted
        self._on = MyConnection(self._dialling)
        self._data = MyDataSet(self._on)

    def describe(self) -> DatabaseServer:
        """The server and its data set."""
        return self._data.describe()

    def local_pid(self) -> int | None:
        """The server, where it runs on this machine: its file of the process number says which it is."""
        if not self._on.local:
            return None
        try:
            with open(str(self._on.value("select @@global.pid_file")), encoding="ascii") as file:
                pid = int(file.read())
            with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
                return pid if file.read().startswith(("mariadb", "mysql")) else None
        except (OSError, ValueError):
            return None

    def foreign_sessions(self) -> tuple[int, str]:
        """Sessions of others that run a statement; those of other users are seen with PROCESS."""
        active = self._on.value(
            f"select {OURS} count(*) from information_schema.processlist where command not in"
            " ('Sleep', 'Daemon', 'Binlog Dump') and id <> connection_id()"
            " and coalesce(info, '') not like %s and coalesce(info, '') not like %s and user <> 'system user'"
            " and user <> 'event_scheduler'",
            (f"%{DATABASE}.%", f"%{OURS}%"),
        )
        rights = " ".join(str(row[0]) for row in self._on.rows("show grants"))
        seen = "PROCESS" in rights or "ALL PRIVILEGES ON *.*" in rights
        return int(active), "" if seen else "sessions of other users cannot be seen: grant PROCESS"

    def held_by(self) -> str:
        """Builders, droppers and loads each hold it alone."""
        return "; ".join(each.says for each in self._data.holders())

    def build(self, data_set: DataSet, on_build: OnBuild) -> Built:
        """Builds the data set, or goes on."""
        return self._data.build(data_set, on_build)

    def drop(self) -> Dropped:
        """Removes what `build` made."""
        return self._data.drop()

    def prepare(self, work: DatabaseLoad | CommitLoad) -> tuple[str, ...]:
        """The loops are made anew: another iocast may have built the data set."""
        self._data.lock()
        self._data.make_loops(self.describe().tables)
        if isinstance(work, CommitLoad):
            self._on.run(f"truncate table {DATABASE}.commits")
        return ()

    def now(self) -> object:
        """sysdate(6)."""
        return self._on.value("select sysdate(6)")

    def session(self, asked: SessionAsked) -> LoadSession:
        """A connection of its own."""
        connection = MyConnection(self._dialling)
        if isinstance(asked.work, DatabaseLoad) and asked.work.driver == "client":
            return ClientSession(MyStatements(connection, asked.table, asked.work), asked, asked.work)
        return LoopSession(connection, asked, asked.work)

    def counters(self) -> Counters:
        """Of the whole server: it has none of a session."""
        found = {str(name).lower(): int(value) for name, value in self._status()}
        files = self._on.rows(_FILES) if self._on.value("select @@global.performance_schema") else []
        reads, read_ps = files[0] if files else (None, None)
        misses = found.get("innodb_buffer_pool_reads", 0) + found.get("innodb_buffer_pool_read_ahead", 0)
        return Counters(
            reads=None if reads is None else int(reads),
            read_ns=None if read_ps is None else int(read_ps) // 1000,
            syncs=found.get("innodb_os_log_fsyncs"),
            log_bytes=found.get("innodb_os_log_written"),
            touched=(0, misses, 0, 0),
        )

    def _status(self) -> list[tuple[Any, ...]]:
        if self._on.mariadb:
            return self._on.rows(_STATUS)
        return self._on.rows(_STATUS.replace("information_schema", "performance_schema"))

    def touched(
        self, before: Counters, after: Counters, did: Statements, work: DatabaseLoad | CommitLoad
    ) -> Statements:
        """Blocks by what was asked for; misses are those of the whole server."""
        if isinstance(work, CommitLoad) or before.touched is None or after.touched is None:
            return did
        blocks = (did.reads + did.updates) * work.work_unit + did.scans * work.scan_blocks
        return replace(did, table_blocks=blocks, table_misses=min(blocks, after.touched[1] - before.touched[1]))

    def below(self, before: Counters, after: Counters, did: Statements, work: DatabaseLoad | CommitLoad) -> LayerBelow:
        """Misses, and the time of reads of data files where the server takes it."""
        reads = did.table_misses
        if before.reads is None or after.reads is None or before.read_ns is None or after.read_ns is None:
            return LayerBelow(reads=reads, why_not="performance_schema is off: start the server with it")
        timed, time_ns = after.reads - before.reads, after.read_ns - before.read_ns
        why = ""
        if did.scans:
            why = "scans and single blocks are in one sum: no latency of either"
        elif reads and not timed:
            why = "performance_schema does not instrument files: performance_schema_instrument='wait/io/file/%=ON'"
        elif timed > reads * (1 + OTHERS) + 100:
            why = f"others, or read-ahead, read too: the server counts {timed:,} reads, the load {reads:,} misses"
        return LayerBelow(
            reads=reads, time_ns=None if why else time_ns, timed_by="" if why else "file_summary", why_not=why
        )

    def commits(self, before: Counters, after: Counters, commits: int) -> CommitPath:
        """The redo log of the whole server; MariaDB does not count its syncs any more."""
        syncs = None if before.syncs is None or after.syncs is None else after.syncs - before.syncs
        log = None if before.log_bytes is None or after.log_bytes is None else after.log_bytes - before.log_bytes
        return CommitPath(commits=commits, syncs=syncs, log_bytes=log)

    def close(self) -> None:
        """Ends the connection."""
        self._on.close()


def connect(url: str, ask: AskPassword | None = None, *, answers: dict[str, str] | None = None) -> MyLoad:
    """The server at a URL. Raises SpecError, DatabaseError."""
    return MyLoad(url, ask, answers)
