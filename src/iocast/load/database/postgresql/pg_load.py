"""PostgreSQL as a server of a load: described, loaded by sessions, its counters read before and after each row."""

from __future__ import annotations

import contextlib
from typing import Any

from msgspec.structs import replace

from iocast.errors import LoadError
from iocast.load.database.client_session import ClientSession
from iocast.load.database.key_stream import Kind
from iocast.load.database.load_server import (
    Built,
    Counters,
    Dropped,
    ForeignSessions,
    LoadSession,
    OnBuild,
    SessionPlan,
)
from iocast.load.database.postgresql.pg_connection import PgConnection
from iocast.load.database.postgresql.pg_data_set import PgDataSet
from iocast.load.database.postgresql.pg_procedures import SCHEMA
from iocast.load.database.postgresql.pg_server_session import CommitSession, ServerSession
from iocast.model.database.database_load import CommitLoad, DatabaseLoad, DataSet
from iocast.model.database.database_result import CommitPath, DatabaseServer, LayerBelow, Statements, TimedBy
from iocast.tools.database_address import AskPassword
from iocast.tools.pg_dialling import PgDialling, pg_driver

OTHERS = 0.02  # more reads of the server than of the load, as a share, are those of others
FIRST_IO_VIEW = 16  # the version that brought pg_stat_io
# Of sessions of other roles a role without pg_monitor sees neither what they are nor whether they are active: those
# that have a role and a database are clients, or work for one.
_FOREIGN = (
    "select count(*) filter (where state in ('active', 'fastpath function call')),"
    " count(*) filter (where backend_type is null), count(*) filter (where state = 'disabled'),"
    " quote_ident(current_user)"
    " from pg_stat_activity where pid <> pg_backend_pid() and coalesce(application_name, '') not like 'iocast%'"
    " and (backend_type = 'client backend' or backend_type is null and datid is not null and usesysid is not null)"
)
_IO_OF_CLIENTS = (
    "select sum(reads)::bigint, sum(read_time) from pg_stat_io"
    " where backend_type = 'client backend' and object = 'relation' and context = 'normal'"
)
_IO_OF_DATABASE = "select blks_read, blk_read_time from pg_stat_database where datname = current_database()"
_WAL = "select wal_sync, wal_sync_time, wal_write, wal_write_time, wal_bytes::bigint from pg_stat_wal"
_WAL_18 = (
    "select sum(fsyncs)::bigint, sum(fsync_time), sum(writes)::bigint, sum(write_time),"
    " (select wal_bytes::bigint from pg_stat_wal) from pg_stat_io where object = 'wal'"
)
_TOUCHED = (
    "select coalesce(sum(heap_blks_read + heap_blks_hit), 0), coalesce(sum(heap_blks_hit), 0),"
    " coalesce(sum(idx_blks_read + idx_blks_hit), 0), coalesce(sum(idx_blks_hit), 0)"
    f" from pg_statio_user_tables where schemaname = '{SCHEMA}' and relname ~ '^t[0-9]+$'"
)


class PgLoad:
    """See `load_server.LoadServer`."""

    def __init__(self, url: str, ask: AskPassword | None, *, building: bool, answers: dict[str, str] | None) -> None:
        self._dialling = PgDialling(url, ask, answers)
        self.redacted = self._dialling.redacted
        self._building = building
        self._on = PgConnection(self._dialling, building=building)
        if self._on.version < 14:
            raise LoadError(f"PostgreSQL {self._on.version} is too old", "14 is the first that iocast loads")
        self._data = PgDataSet(self._on)

    def describe(self) -> DatabaseServer:
        """The server and its data set."""
        return self._data.describe()

    def local_pid(self) -> int | None:
        """The process behind this connection, where it runs on this machine."""
        pid = int(self._on.raw.info.backend_pid)
        try:
            with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
                return pid if self._on.local and file.read().startswith("postgres") else None
        except OSError:
            return None

    def foreign_sessions(self) -> ForeignSessions:
        """Sessions that are no iocast; what another role does is seen by members of pg_monitor."""
        active, hidden, silent, role = self._on.rows(_FOREIGN)[0]
        why = f"grant pg_monitor to {role}" if hidden else "set track_activities = on for them" if silent else ""
        return ForeignSessions(int(active), int(hidden) + int(silent), why)

    def held_by(self) -> str:
        """Builders and droppers hold it alone, loads share it."""
        return "; ".join(each.says for each in self._data.holders(of_all=self._building))

    def build(self, data_set: DataSet, on_build: OnBuild) -> Built:
        """Builds the data set, or goes on."""
        return self._data.build(data_set, on_build)

    def drop(self) -> Dropped:
        """Removes what `build` made."""
        return self._data.drop()

    def prepare(self, work: DatabaseLoad | CommitLoad) -> tuple[str, ...]:
        """The loops are made anew: another iocast may have built the data set."""
        self._data.share()
        self._data.make_loops(self.describe().tables)
        if isinstance(work, CommitLoad):
            self._data.empty_commits()
        return ()

    def now(self) -> object:
        """clock_timestamp()."""
        return self._on.value("select clock_timestamp()")

    def session(self, wanted: SessionPlan) -> LoadSession:
        """A connection of its own."""
        connection = PgConnection(self._dialling)
        if isinstance(wanted.work, CommitLoad):
            return CommitSession(connection, wanted, wanted.work)
        if wanted.work.driver == "server":
            return ServerSession(connection, wanted, wanted.work)
        return ClientSession(PgStatements(connection, wanted.table, wanted.work), wanted, wanted.work)

    def counters(self) -> Counters:
        """Reads of client sessions, and what became of the log."""
        version = self._on.version
        reads, read_ms = self._on.rows(_IO_OF_CLIENTS if version >= FIRST_IO_VIEW else _IO_OF_DATABASE)[0]
        syncs, sync_ms, writes, write_ms, log_bytes = self._on.rows(_WAL_18 if version >= 18 else _WAL)[0]
        fetched, hit, index_fetched, index_hit = map(int, self._on.rows(_TOUCHED)[0])
        return Counters(
            touched=(fetched, fetched - hit, index_fetched, index_fetched - index_hit),
            reads=_whole(reads),
            read_ns=_ns(read_ms),
            syncs=_whole(syncs),
            sync_ns=_ns(sync_ms),
            writes=_whole(writes),
            write_ns=_ns(write_ms),
            log_bytes=_whole(log_bytes),
        )

    def touched(
        self, before: Counters, after: Counters, did: Statements, work: DatabaseLoad | CommitLoad
    ) -> Statements:
        """Loops counted it themselves; of client sessions the server does, of these tables."""
        if did.table_blocks or before.touched is None or after.touched is None:
            return did
        went = [now - then for now, then in zip(after.touched, before.touched, strict=True)]
        return replace(did, table_blocks=went[0], table_misses=went[1], index_blocks=went[2], index_misses=went[3])

    def below(self, before: Counters, after: Counters, did: Statements, work: DatabaseLoad | CommitLoad) -> LayerBelow:
        """Reads are those of the sessions themselves; their time is the server's, if all its reads were theirs."""
        reads = (did.table_misses or 0) + did.index_misses
        by: TimedBy = "pg_stat_io" if self._on.version >= FIRST_IO_VIEW else "pg_stat_database"
        if before.reads is None or after.reads is None or before.read_ns is None or after.read_ns is None:
            return LayerBelow(reads=reads, why_not=f"{by} does not tell")
        timed, time_ns = after.reads - before.reads, after.read_ns - before.read_ns
        why = self._why_untimed(reads, timed, time_ns, did)
        late = timed < reads * (1 - OTHERS)
        return LayerBelow(
            reads=reads, time_ns=None if why else time_ns, timed_by="" if why else by, why_not=why, late=late
        )

    def _why_untimed(self, reads: int, timed: int, time_ns: int, did: Statements) -> str:
        """Why the time of reads is no latency of the load's reads; "" when it is."""
        if did.scans:
            return "scans and single blocks are in one sum: no latency of either"
        if reads and timed < reads * (1 - OTHERS):
            return f"the statistics came late: {timed:,} of {reads:,} reads are counted"
        if timed > reads * (1 + OTHERS) + 100:
            return f"others read too: the server counts {timed:,} reads, the load made {reads:,}"
        if reads and not time_ns:
            return "track_io_timing is off, and this role may not set it"
        return ""

    def commits(self, before: Counters, after: Counters, commits: int) -> CommitPath:
        """The log of the whole server in between. No time without track_wal_io_timing."""

        def more(name: str) -> int | None:
            first, last = getattr(before, name), getattr(after, name)
            return None if first is None or last is None else last - first

        sync_ns, write_ns = more("sync_ns"), more("write_ns")
        return CommitPath(
            commits=commits,
            syncs=more("syncs"),
            sync_ns=sync_ns or None,
            writes=more("writes"),
            write_ns=write_ns or None,
            log_bytes=more("log_bytes"),
        )

    def close(self) -> None:
        """Ends the connection."""
        self._on.close()


def connect(
    url: str, ask: AskPassword | None = None, *, building: bool = False, answers: dict[str, str] | None = None
) -> PgLoad:
    """The server at a URL. Raises SpecError, DatabaseError."""
    return PgLoad(url, ask, building=building, answers=answers)


def _whole(value: Any) -> int | None:
    return None if value is None else int(value)


def _ns(milliseconds: Any) -> int | None:
    return None if milliseconds is None else round(float(milliseconds) * 1e6)


class PgStatements:
    """See `client_session.Statements`."""

    def __init__(self, connection: PgConnection, table: int, load: DatabaseLoad) -> None:
        self._on, self._single = connection, load.work_unit == 1
        connection.tried("set track_io_timing = on")
        self._psycopg = pg_driver()
        self._cursor = connection.raw.cursor(binary=True)
        self._sql = _texts(table, load)
        for kind in ("read", "scan"):  # the server has its plans before the first statement that counts
            self.execute(kind, 1, 1)

    def execute(self, kind: Kind, place: int, blocks: int) -> None:
        """One statement, and its result."""
        try:
            self._cursor.execute(self._sql[kind], self._parameters(kind, place, blocks), prepare=True)
            if kind != "update":
                self._cursor.fetchone()
        except self._psycopg.Error as error:
            raise self._on.refusal(error) from None

    def _parameters(self, kind: Kind, place: int, blocks: int) -> tuple[Any, ...]:
        if kind == "scan":
            return f"({place - 1},0)", f"({place - 1 + blocks},0)"
        return (place,) if self._single else (place, place + blocks - 1)

    def close(self) -> None:
        """Ends the connection."""
        with contextlib.suppress(LoadError):
            self._on.close()


def _texts(table: int, load: DatabaseLoad) -> dict[Kind, str]:
    name = f"{SCHEMA}.t{table}"
    single = load.work_unit == 1
    where = "k = %s" if single else "k between %s and %s"
    changed = "c1 = c1 + 1"
    if load.redo == "heavy":
        changed += ", filler = substring(filler from 65) || sha512(filler)"
    return {
        "read": f"select {'c1' if single else 'sum(c1)'} from {name} where {where}",
        "update": f"update only {name} set {changed} where {where}",
        "scan": f"select sum(c1) from {name} where ctid >= %s::tid and ctid < %s::tid",
    }
