"""MySQL 8 and MariaDB 10 and 11: file I/O, statements and sessions of the performance_schema, and status counters.

What it is: file_summary_by_event_name and file_summary_by_instance (count, bytes and time of reads, writes, and all
else, where fsync is counted), statements by digest, InnoDB's status counters, and sessions ten times a second.
Histograms of statements: MySQL 8 has one, MariaDB with the plugin query_response_time.
Why it matters: it says which files and statements the time goes to, above all that the kernel sees.
Needs: PROCESS and SELECT on performance_schema. MariaDB has it off by default: then only status counters and states of
sessions are seen. Sessions are read-only, and every statement ends after 5 seconds.
Overhead: a few milliseconds of one connection a sample, and 1 ms ten times a second.
What it cannot see: in MariaDB 10.11 the redo log, which has no event there: commits show in the layers of the kernel
only. No histograms of waits exist in either. MySQL was not tried against a server yet, MariaDB 10.11 was.
"""

from __future__ import annotations

from collections.abc import Mapping

from iocast.databases.database import AskPassword, DatabaseObserver, Server
from iocast.databases.mysql import mysql_queries
from iocast.databases.mysql.mysql_session import dialler
from iocast.databases.query import Query, RefusedError, Session
from iocast.databases.watched_database import Circumstances, WatchedDatabase
from iocast.metrics import ON_CPU
from iocast.tools.database_rows import Active, ActivityCounts
from iocast.tools.foreign_numbers import moment_ns, number_of

NAME = "mysql"
SCHEMES: tuple[str, ...] = ("mysql", "mariadb")
NEEDS = "PROCESS and SELECT on performance_schema, which must be on for more than status counters"
OVERHEAD = "a few milliseconds of one connection a sample, 1 ms ten times a second"

_TEXT_CHARACTERS = 4000
_JITTER_NS = 2_500_000_000  # uptime is told in whole seconds


def connect(
    url: str, *, ask: AskPassword | None = None, polls_per_s: float = 10.0, packs: bool = False
) -> DatabaseObserver:
    """The observer of the server at `mysql://user@host:port/`, or `mariadb://user@/?socket=PATH`."""
    redacted, dial = dialler(url, ask)
    return WatchedDatabase(_MySQL(), redacted, dial, polls_per_s)


class _MySQL:
    """See `watched_database.Engine`."""

    name = NAME

    def __init__(self) -> None:
        self._instrumented = False
        self._mariadb = False
        self._started_ns = 0
        self._own: set[str] = set()  # our connections; for a moment a statement is shown without its text
        self._histograms: frozenset[str] = frozenset()

    def identify(self, session: Session) -> Server:
        """The server; both products answer alike."""
        (row,) = session.rows(mysql_queries.IDENTITY)
        version = str(row["version"])
        self._own.add(str(row["id"]))
        self._mariadb = "mariadb" in version.lower()
        self._instrumented = bool(number_of(row["instrumented"]))
        return Server(
            product="MariaDB" if self._mariadb else "MySQL",
            version=version.partition("-")[0],
            instance=f"{row['host']}:{row['port']}" if row["port"] else str(row["host"]),
            container=str(row["container"] or ""),
            host=str(row["host"] or ""),
            standby=bool(number_of(row["read_only"])),
            started_unix_ns=self.circumstances(session).started_ns,
        )

    def clock(self, session: Session) -> int:
        """now(6): the time at which the statement began."""
        return moment_ns(session.rows(mysql_queries.CLOCK)[0]["now_us"], 1000)

    def queries(self, session: Session) -> tuple[Query, ...]:
        """By what is switched on."""
        rows = session.rows(mysql_queries.HISTOGRAMS)
        self._histograms = frozenset(str(row["name"]).lower() for row in rows)
        return mysql_queries.queries_of(instrumented=self._instrumented, histograms=self._histograms)

    def unseen(self, session: Session) -> list[str]:
        """What is switched off, and how it is switched on."""
        missing = []
        if not self._instrumented:
            missing.append(
                "files, statements and waits: performance_schema is off; start the server with performance_schema=ON"
                " and performance-schema-instrument='wait/io/file/%=ON'"
            )
        else:
            missing += self._switched_off(session)
        if not self._histograms:
            how = "run: install soname 'query_response_time'" if self._mariadb else "MySQL has one from 8.0 on"
            missing.append(f"histograms of statements: this server has none; {how}")
        if self._mariadb:
            if self._instrumented:
                missing.append("statements of sessions: MariaDB tells the digest of one when it has ended")
            missing.append("the redo log: MariaDB does not instrument it; commits show in the kernel's layers")
        return missing

    def _switched_off(self, session: Session) -> list[str]:
        try:
            on = {str(row["name"]) for row in session.rows(mysql_queries.CONSUMERS) if row["enabled"] == "YES"}
            timed = number_of(session.rows(mysql_queries.INSTRUMENTS)[0]["number"])
        except RefusedError as error:
            return [f"performance_schema: {error.message}; run: grant select on performance_schema.* to this user"]
        missing = [
            f"{what}: the consumer {consumer} is off; run: update performance_schema.setup_consumers set enabled ="
            f" 'YES' where name = '{consumer}'"
            for consumer, what in (
                ("events_waits_current", "events of sessions (states are counted instead)"),
                ("events_statements_current", "statements of sessions"),
            )
            if consumer not in on
        ]
        if not timed:
            missing.append("I/O of data files: the instruments wait/io/file/innodb/% are off, or not timed")
        return missing

    def circumstances(self, session: Session) -> Circumstances:
        """When the server, or its status counters, began. Told in whole seconds, so a new start is one well later."""
        uptimes = [number_of(row["value"]) or 0.0 for row in session.rows(mysql_queries.UPTIME)]
        began_ns = self.clock(session) - round(min(uptimes, default=0.0) * 1e9)
        if abs(began_ns - self._started_ns) > _JITTER_NS:
            self._started_ns = began_ns
        return Circumstances(started_ns=self._started_ns)

    def active(self, session: Session) -> list[Active]:
        """Sessions that run a statement; by their event where it is known, else by their state."""
        sql = mysql_queries.ACTIVE if self._instrumented else mysql_queries.ACTIVE_WITHOUT
        sessions = {}
        for row in session.rows(sql):
            event, state = str(row["event"] or ""), str(row["state"] or "")
            sessions[str(row["id"])] = Active(
                str(row["id"]), event or (f"State|{state}" if state else ON_CPU), str(row["digest"] or "")
            )
        return [each for session_id, each in sessions.items() if session_id not in self._own]

    def texts(self, session: Session, counts: ActivityCounts, known: Mapping[str, str]) -> dict[str, str]:
        """Settings, statements by digest, sessions."""
        by_name = {
            f"setting|{str(row['variable_name']).lower()}": str(row["value"])
            for row in session.rows(mysql_queries.SETTINGS)
        }
        for row in session.rows(mysql_queries.SESSIONS):
            by_name[f"session|{row['id']}"] = f"{row['user']}@{row['host']} {row['db'] or ''}".strip()
        if self._instrumented:
            for row in session.rows(mysql_queries.DIGEST_TEXTS):
                by_name[f"sql|{row['digest']}"] = str(row["text"] or "")[:_TEXT_CHARACTERS]
        return by_name
