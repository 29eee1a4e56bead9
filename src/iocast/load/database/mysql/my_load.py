"""MariaDB and MySQL as servers of a load: described, loaded by sessions, their counters read before and after a row."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from msgspec.structs import replace

from iocast.load.database.client_session import ClientSession
from iocast.load.database.load_server import (
    Built,
    Counters,
    Dropped,
    ForeignSessions,
    LoadSession,
    OnBuild,
    SessionPlan,
)
from iocast.load.database.mysql.my_connection import OURS, MyConnection, RightsError
from iocast.load.database.mysql.my_data_set import MyDataSet
from iocast.load.database.mysql.my_procedures import DATABASE
from iocast.load.database.mysql.my_sessions import LoopSession, MyCommits, MyStatements
from iocast.model.database.database_load import CommitLoad, DatabaseLoad, DataSet
from iocast.model.database.database_result import CommitPath, DatabaseServer, LayerBelow, Statements
from iocast.tools.database_address import AskPassword
from iocast.tools.my_dialling import MyDialling

OTHERS = 0.02  # more misses than blocks, as a share, are those of indexes or of others
_STATUS = (
    "select variable_name, variable_value from information_schema.global_status where variable_name in"
    " ('innodb_buffer_pool_reads', 'innodb_os_log_written', 'innodb_os_log_fsyncs', 'threads_connected')"
)
# The files of the data set: a table of InnoDB has one of its own, with its indexes.
_FILES = (
    "select coalesce(sum(count_read), 0), coalesce(sum(sum_timer_read), 0)"
    " from performance_schema.file_summary_by_instance"
    rf" where event_name = 'wait/io/file/innodb/innodb_data_file' and file_name regexp '/{DATABASE}/t[0-9]+[.]ibd$'"
)
_LOOKS, _LOOK_AGAIN_S = 5, 0.1
_NOT_AWAITED = (
    "updates of several sessions do not wait for the log one by one: a procedure goes on while it is flushed; --driver"
    " client waits for each"
)


class MyLoad:
    """See `load_server.LoadServer`."""

    def __init__(self, url: str, ask: AskPassword | None, answers: dict[str, str] | None) -> None:
        self._dialling = MyDialling(url, ask, answers)
        self.redacted = self._dialling.redacted
        self._on = MyConnection(self._dialling)
        self._data = MyDataSet(self._on)
        self._why_not_files = ""
        self._shape = Shape(0, index_stays=True)

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

    def foreign_sessions(self) -> ForeignSessions:
        """Sessions of others that run a statement; those of other users are seen with PROCESS, else only counted."""
        active = self._on.value(
            f"select {OURS} count(*) from information_schema.processlist where command not in"
            " ('Sleep', 'Daemon', 'Binlog Dump') and id <> connection_id()"
            " and info is not null and info not like %s and info not like %s and user <> 'system user'"
            " and user <> 'event_scheduler'",
            (f"%{DATABASE}.%", f"%{OURS}%"),
        )
        hidden = self._hidden_sessions()
        user = self._on.value("select current_user()")
        return ForeignSessions(int(active), hidden, f"grant process on *.* to {user}" if hidden else "")

    def _hidden_sessions(self) -> int:
        """Connections that the list of processes does not show; one that has just ended is counted for a moment."""
        rights = [str(row[0]).partition(" ON *.*") for row in self._on.rows("show grants")]
        if any(rest and ("PROCESS" in given or "ALL PRIVILEGES" in given) for given, rest, _ in rights):
            return 0
        hidden = []
        for _ in range(_LOOKS):
            status = {str(name).lower(): int(value) for name, value in self._status()}
            shown = int(self._on.value("select count(*) from information_schema.processlist"))
            hidden.append(max(0, status["threads_connected"] - shown))
            if not hidden[-1]:
                break
            time.sleep(_LOOK_AGAIN_S)
        return min(hidden)

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
        server = self.describe()
        self._shape = shape_of(server)
        self._data.make_loops(server.tables)
        if isinstance(work, CommitLoad):
            self._data.empty_commits()
            return ()
        return (_NOT_AWAITED,) if work.update_pct and work.driver == "server" else ()

    def now(self) -> object:
        """sysdate(6)."""
        return self._on.value("select sysdate(6)")

    def session(self, wanted: SessionPlan) -> LoadSession:
        """A connection of its own."""
        connection = MyConnection(self._dialling)
        if isinstance(wanted.work, CommitLoad):
            inserts = MyCommits(connection, wanted.stream, wanted.work.row_bytes)
            return ClientSession(inserts, wanted, DatabaseLoad(driver="client", update_pct=100))
        if wanted.work.driver == "client":
            return ClientSession(MyStatements(connection, wanted.table, wanted.work), wanted, wanted.work)
        return LoopSession(connection, wanted, wanted.work)

    def counters(self) -> Counters:
        """Of the whole server, since it has none of a session; of the files of the data set where it counts by file."""
        status = {str(name).lower(): int(value) for name, value in self._status()}
        files = self._of_files()
        return Counters(
            reads=files[0] if files else None,
            read_ns=files[1] if files else None,
            syncs=status.get("innodb_os_log_fsyncs"),
            log_bytes=status.get("innodb_os_log_written"),
            misses=status.get("innodb_buffer_pool_reads"),
        )

    def _of_files(self) -> tuple[int, int] | None:
        """Reads of the files of the data set, and their time; None, and `_why_not_files`, where it is not told."""
        if not self._on.value("select @@global.performance_schema"):
            self._why_not_files = "performance_schema is off: start the server with it"
            return None
        try:
            ((reads, read_ps),) = self._on.rows(_FILES)
        except RightsError:
            self._why_not_files = "this user may not read it: grant select on performance_schema.* to the user"
            return None
        return int(reads), int(read_ps) // 1000

    def _status(self) -> list[tuple[Any, ...]]:
        if self._on.mariadb:
            return self._on.rows(_STATUS)
        return self._on.rows(_STATUS.replace("information_schema", "performance_schema"))

    def touched(
        self, before: Counters, after: Counters, did: Statements, work: DatabaseLoad | CommitLoad
    ) -> Statements:
        """See `touched_blocks`."""
        return did if isinstance(work, CommitLoad) else touched_blocks(before, after, did, work, self._shape)

    def below(
        self, before: Counters, after: Counters, did: Statements, work: DatabaseLoad | CommitLoad
    ) -> LayerBelow | None:
        """Reads of the data set's files and their time where the server takes it; else misses, without a time."""
        timed, time_ns = _went(before.reads, after.reads), _went(before.read_ns, after.read_ns)
        if timed is None:
            return None if did.table_misses is None else LayerBelow(reads=did.table_misses, why_not=self._why_not_files)
        why = ""
        if did.scans:
            why = "scans and single blocks are in one sum: no latency of either"
        elif did.table_misses and not timed:
            why = "performance_schema does not instrument files: performance_schema_instrument='wait/io/file/%=ON'"
        reads = timed or did.table_misses or 0
        return LayerBelow(
            reads=reads, time_ns=None if why else time_ns, timed_by="" if why else "file_summary", why_not=why
        )

    def commits(self, before: Counters, after: Counters, commits: int) -> CommitPath:
        """The redo log of the whole server; MariaDB does not count its syncs any more."""
        syncs, log_bytes = _went(before.syncs, after.syncs), _went(before.log_bytes, after.log_bytes)
        return CommitPath(commits=commits, syncs=syncs, log_bytes=log_bytes)

    def close(self) -> None:
        """Ends the connection."""
        self._on.close()


class Shape(NamedTuple):
    """What decides whose misses are whose."""

    table_blocks: int  # of each table
    index_stays: bool  # the cache has room for the index, which each statement asks for


def shape_of(server: DatabaseServer) -> Shape:
    """Of a data set on a server. A quarter of the cache is room: pages of the index come again far sooner."""
    room = server.cache_bytes - server.kept_free_bytes
    return Shape(server.table_blocks, index_stays=server.index_bytes * 4 <= room)


def touched_blocks(before: Counters, after: Counters, did: Statements, load: DatabaseLoad, shape: Shape) -> Statements:
    """Blocks by what was asked for; misses by the reads of the data set's files, else by those of the whole server.

    What else may be in the sum is said in `misses_say`, and the figure is a bound; misses that cannot be the load's are
    unknown, and it says why.
    """
    by_key = did.reads + did.updates
    blocks = by_key * load.work_unit + did.scans * min(load.scan_blocks, shape.table_blocks)
    misses = own = _went(before.reads, after.reads)
    if not own:  # nothing was read, or files are not instrumented: the buffer pool knows
        misses = _went(before.misses, after.misses)
    most = blocks if shape.index_stays else blocks + by_key  # a page of the index each
    if misses is None or misses > most * (1 + OTHERS) + 100:
        why = (
            f"{misses or 0:,} misses are counted for {blocks:,} blocks, those of others or of the server's own work too"
        )
        return replace(did, table_blocks=blocks, table_misses=None, misses_say=why)
    say = []
    if misses and not own:
        say.append("misses of the whole server, of which others and its own work may have a part")
    if misses and not shape.index_stays:
        # A page of the table comes again later than one of the index, so that it is missed no less often.
        say.append(f"reads of the index are in the sum, so that the storage has at least {misses / most:.0%}")
    return replace(did, table_blocks=blocks, table_misses=min(blocks, misses), misses_say="; ".join(say))


def _went(before: int | None, after: int | None) -> int | None:
    """How far a counter went; None where it is not told."""
    return None if before is None or after is None else after - before


def connect(url: str, ask: AskPassword | None = None, *, answers: dict[str, str] | None = None) -> MyLoad:
    """The server at a URL. Raises SpecError, DatabaseError."""
    return MyLoad(url, ask, answers)
