"""PostgreSQL 14 to 18: cumulative statistics by their columns, and sessions by what they wait for.

What it is: pg_stat_io, pg_stat_wal, pg_stat_database, pg_stat_bgwriter and pg_stat_checkpointer, pg_statio_user_tables
and pg_statio_user_indexes, pg_stat_statements and pg_wait_sampling where they are installed, and pg_stat_activity ten
times a second. Connections are read-only, named `iocast`, and every statement ends after 5 seconds.
Why it matters: it says which statements, files and events the time goes to, above all that the kernel sees.
Needs: a role with pg_monitor; without it, only its own sessions and statements are seen. `track_io_timing` and
`track_wal_io_timing` for times; they are off by default, and then times are unknown, never 0.
Overhead: half a millisecond of one backend a sample, and 0.07 ms ten times a second; more with thousands of tables.
What it cannot see: what a running statement has read so far. PostgreSQL counts it at the end of the statement, or a
second later. In 17 its reads are blocks, even where one system call reads several; no version has histograms.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from iocast.databases.database import AskPassword, DatabaseObserver, Server
from iocast.databases.postgresql import pg_queries
from iocast.databases.postgresql.pg_session import dialler
from iocast.databases.query import Query, Session
from iocast.databases.watched_database import Circumstances, WatchedDatabase
from iocast.errors import DatabaseError
from iocast.metrics import ACTIVE_SQL, ON_CPU, SESSIONS
from iocast.tools.database_rows import Active, ActivityCounts
from iocast.tools.foreign_numbers import moment_ns, whole_of

NAME = "postgresql"
SCHEMES: tuple[str, ...] = ("postgresql", "postgres")
NEEDS = "a role with pg_monitor; track_io_timing and track_wal_io_timing for times"
OVERHEAD = "0.5 ms of one backend a sample, 0.07 ms ten times a second (measured: 40 connections, a small schema)"

_TEXT_CHARACTERS = 4000
_INSUFFICIENT = "<insufficient privilege>"


def connect(
    url: str, *, ask: AskPassword | None = None, polls_per_s: float = 10.0, packs: bool = False
) -> DatabaseObserver:
    """The observer of the server at `postgresql://user@host:port/database`, or of a service: `postgresql:///?service=x`."""
    redacted, dial = dialler(url, ask)
    return WatchedDatabase(_PostgreSQL(), redacted, dial, polls_per_s)


class _PostgreSQL:
    """See `watched_database.Engine`."""

    name = NAME

    def __init__(self) -> None:
        self._version = 0
        self._extensions: dict[str, tuple[str, str]] = {}

    def identify(self, session: Session) -> Server:
        """The server, of a version that can be watched."""
        (row,) = session.rows(pg_queries.IDENTITY)
        self._version = (whole_of(row["number"]) or 0) // 10_000
        if self._version < pg_queries.FIRST_VERSION:
            raise DatabaseError(
                f"PostgreSQL {row['version']} is too old to be watched", f"{pg_queries.FIRST_VERSION} is the first"
            )
        return Server(
            product="PostgreSQL",
            version=str(row["version"]).partition(" ")[0],
            instance=str(row["instance"] or ""),
            container=str(row["container"] or ""),
            host=str(row["host"] or ""),
            standby=bool(row["standby"]),
            started_unix_ns=moment_ns(row["started_us"], 1000),
        )

    def clock(self, session: Session) -> int:
        """clock_timestamp()."""
        return moment_ns(session.rows(pg_queries.CLOCK)[0]["now_us"], 1000)

    def queries(self, session: Session) -> tuple[Query, ...]:
        """By version, and by the extensions of this database."""
        self._extensions = {
            str(row["name"]): (str(row["version"]), str(row["schema"])) for row in session.rows(pg_queries.EXTENSIONS)
        }
        return pg_queries.queries_of(self._version, self._extensions)

    def unseen(self, session: Session) -> list[str]:
        """What the role does not show, and what is not installed."""
        (rights,) = session.rows(pg_queries.RIGHTS)
        missing = []
        if not rights["all_stats"]:
            missing.append(
                f"sessions and statements of other roles: the role {rights['name']} sees only its own; run: grant"
                f" pg_monitor to {rights['name']}"
            )
        if self._version < 16:
            missing.append(f"I/O by context: pg_stat_io is there from PostgreSQL 16 on, this is {self._version}")
        if self._version == 17 or self._version == 16:
            missing.append("the number of read calls: pg_stat_io counts blocks before PostgreSQL 18")
        if "pg_stat_statements" not in self._extensions:
            missing.append(
                "statements: pg_stat_statements is not in this database; add it to shared_preload_libraries, restart,"
                " and run: create extension pg_stat_statements"
            )
        return missing

    def circumstances(self, session: Session) -> Circumstances:
        """When the server was started, and which times it takes."""
        (row,) = session.rows(pg_queries.CIRCUMSTANCES)
        timing = {name: bool(row[name]) for name in (pg_queries.IO_TIMING, pg_queries.WAL_TIMING)}
        return Circumstances(started_ns=moment_ns(row["started_us"], 1000), timing=timing)

    def active(self, session: Session) -> list[Active]:
        """Active client sessions and their workers."""
        return [
            Active(
                str(row["pid"]),
                wait_name(str(row["wait_event_type"]), str(row["wait_event"])) if row["wait_event"] else ON_CPU,
                str(row["query_id"] or ""),
            )
            for row in session.rows(pg_queries.ACTIVE)
        ]

    def texts(self, session: Session, counts: ActivityCounts, known: Mapping[str, str]) -> dict[str, str]:
        """Settings, statements, sessions and files."""
        by_name = {}
        for row in session.rows(pg_queries.SETTINGS):
            by_name[f"setting|{row['name']}"] = (
                f"{row['setting']} {row['unit']}" if row["unit"] else str(row["setting"])
            )
        for row in session.rows(pg_queries.FILES):
            by_name[f"file|{row['path']}"] = str(row["name"])
        pids = [pid for pid in map(whole_of, counts.subjects(SESSIONS)) if pid and f"session|{pid}" not in known]
        for row in session.rows(pg_queries.SESSION_TEXTS, (pids,)) if pids else ():
            who = f"{row['usename']}@{row['datname']}"
            parts = (who, row["application_name"], row["client"], row["backend_type"])
            by_name[f"session|{row['pid']}"] = " ".join(str(part) for part in parts if part)
        return by_name | self._statement_texts(session, counts, known)

    def _statement_texts(self, session: Session, counts: ActivityCounts, known: Mapping[str, str]) -> dict[str, str]:
        if "pg_stat_statements" not in self._extensions:
            return {}
        schema = self._extensions["pg_stat_statements"][1]
        listed = session.rows(f"select distinct queryid from {schema}.pg_stat_statements(false) where queryid <> 0")
        wanted = {str(row["queryid"]) for row in listed} | counts.subjects(ACTIVE_SQL)
        signed = (whole_of(each, signed=True) for each in wanted if f"sql|{each}" not in known)
        numbers = [each for each in signed if each is not None]
        if not numbers:
            return {}
        rows = session.rows(pg_queries.statement_texts(schema), (numbers,))
        return {
            f"sql|{row['queryid']}": " ".join(str(row["query"]).split())[:_TEXT_CHARACTERS]
            for row in rows
            if row["query"] and row["query"] != _INSUFFICIENT
        }


@cache
def _spelling() -> dict[tuple[str, str], str]:
    """Type and name in lower case → `type|name`, as PostgreSQL 18 spells both."""
    text = files("iocast.databases.postgresql").joinpath("wait_events.txt").read_text(encoding="utf-8")
    names = (line.split("|") for line in text.splitlines() if line and not line.startswith("#"))
    return {(kind.lower(), name.lower()): f"{kind}|{name}" for kind, name in names}


def wait_name(kind: str, name: str) -> str:
    """`IO|DataFileRead`: type and name, since one name may be of two types. An unknown event keeps its own spelling."""
    return _spelling().get((kind.lower(), name.lower()), f"{kind}|{name}")
