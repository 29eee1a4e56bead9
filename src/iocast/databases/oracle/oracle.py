"""Oracle Database 12.1 and later, in thin mode: waits with their histograms, I/O by function and file, SQL, sessions.

What it is: event_histogram_micro, system_event, sysstat, sqlstats, iostat_function, iostat_file, iofuncmetric,
filestat, tempstat, sysmetric, asm_disk_iostat with the names of disks, and v$session ten times a second. Of 11.2, and
on closed servers, `iocast_capture.sql` takes the same views with SQL*Plus. Not tried against a server yet: its
statements are parsed and checked against a catalogue of views and columns by version.
Why it matters: its waits have histograms in microseconds, which show a cache and a disk apart.
Needs: select_catalog_role, or select on the views named. Nothing is created. Views of the Diagnostics Pack are read
only when that is asked for, and control_management_pack_access allows it.
Overhead: some milliseconds of one session a sample, about 1 ms ten times a second.
What it cannot see: a latency in `db file parallel read` and `direct path read`: these wait for many I/Os together. Of
RAC, one URL with all hosts, host1,host2, watches each instance by itself; with one host, gv$ views are asked of all.
"""

from __future__ import annotations

from collections.abc import Mapping

from iocast.databases.database import AskPassword, DatabaseObserver, Server
from iocast.databases.oracle.oracle_session import dialler
from iocast.databases.oracle.several_instances import SeveralInstances
from iocast.databases.query import Query, RefusedError, Session
from iocast.databases.watched_database import Circumstances, WatchedDatabase
from iocast.metrics import ACTIVE_SQL, ON_CPU
from iocast.tools.database_rows import Active, ActivityCounts
from iocast.tools.foreign_numbers import moment_ns, number_of
from iocast.tools.oracle import oracle_statements
from iocast.tools.oracle.oracle_statements import Statement

NAME = "oracle"
SCHEMES: tuple[str, ...] = ("oracle",)
NEEDS = "select_catalog_role, Oracle 12.1 or later; not tried against a server yet"
OVERHEAD = "some milliseconds of one session a sample, 1 ms ten times a second"

_JITTER_NS = 2_500_000_000  # starts are told in whole seconds
_TEXTS_A_TIME = 50


def connect(
    url: str, *, ask: AskPassword | None = None, polls_per_s: float = 10.0, packs: bool = False
) -> DatabaseObserver:
    """The observer of `oracle://user@host:1521/service`, or of several instances: `oracle://user@host1,host2/service`."""
    dials = dialler(url, ask)
    if len(dials) == 1:
        return WatchedDatabase(_Oracle(NAME, packs=packs, alone=True), *dials[0], polls_per_s)
    observers: list[DatabaseObserver] = [
        WatchedDatabase(_Oracle(f"{NAME}{at}", packs=packs, alone=False), redacted, dial, polls_per_s)
        for at, (redacted, dial) in enumerate(dials, 1)
    ]
    return SeveralInstances(tuple(observers))


class _Oracle:
    """See `watched_database.Engine`. `alone`: the only connection, which asks for all instances."""

    def __init__(self, name: str, *, packs: bool, alone: bool) -> None:
        self.name = name
        self._packs, self._alone = packs, alone
        self._every_instance = False
        self._version = oracle_statements.ALWAYS
        self._started_ns = 0
        self._parameters: dict[str, str] = {}

    def identify(self, session: Session) -> Server:
        """The instance, and how many there are."""
        (own,) = session.rows(oracle_statements.OWN_INSTANCE)
        if self._alone:
            self._every_instance = len(session.rows(oracle_statements.INSTANCE)) > 1
        self._version = oracle_statements.version_of(str(own["version"]))
        self._parameters = {
            str(row["name"]): str(row["value"] or "") for row in session.rows(oracle_statements.PARAMETERS)
        }
        return Server(
            product="Oracle Database",
            version=str(own["version"]),
            instance=str(own["instance_name"]),
            container=self._container(session),
            host=str(own["host_name"] or ""),
            started_unix_ns=self.circumstances(session).started_ns,
        )

    def _container(self, session: Session) -> str:
        try:
            return str(session.rows(oracle_statements.CONTAINER)[0]["container"] or "")
        except RefusedError:
            return ""  # before 12.1 there are none

    def clock(self, session: Session) -> int:
        """systimestamp."""
        (row,) = session.rows(oracle_statements.CLOCK)
        return oracle_statements.clock_ns(number_of(row["whole_s"]) or 0.0, number_of(row["second_s"]) or 0.0)

    def queries(self, session: Session) -> tuple[Query, ...]:
        """Those of the version; of a pack where it is asked for and licensed."""
        packs = self._packs and self._licensed()
        return tuple(self._query(each) for each in oracle_statements.statements_of(self._version, packs=packs))

    def _query(self, statement: Statement) -> Query:
        return Query(
            name=statement.name,
            sql=statement.sql(every_instance=self._every_instance),
            shape=statement.shape,
            since_entered=statement.since_entered,
        )

    def _licensed(self) -> bool:
        """What the server is told to allow: unknown is not licensed."""
        return self._parameters.get("control_management_pack_access", "NONE").upper() not in ("", "NONE")

    def unseen(self, session: Session) -> list[str]:
        """What is not licensed, not taken, or smeared."""
        missing = []
        if self._packs and not self._licensed():
            missing.append("active_session_history: control_management_pack_access is NONE, so it would show no rows")
        if self._parameters.get("timed_statistics", "TRUE").upper() == "FALSE":
            missing.append("times: timing off: timed_statistics")
        if self._every_instance:
            missing.append(
                "the instances one by one: they are asked together through gv$; name all hosts in the URL,"
                " oracle://user@host1,host2/service"
            )
        return missing

    def circumstances(self, session: Session) -> Circumstances:
        """When the instance started, or the last of those that are asked."""
        sql = oracle_statements.INSTANCE if self._every_instance else oracle_statements.OWN_INSTANCE
        started_ns = max(moment_ns(row["started_s"]) for row in session.rows(sql))
        if abs(started_ns - self._started_ns) > _JITTER_NS:
            self._started_ns = started_ns
        return Circumstances(started_ns=self._started_ns)

    def active(self, session: Session) -> list[Active]:
        """Active sessions; one that does not wait is on a processor, or wants to be."""
        return [
            Active(
                f"{row['inst_id']}|{row['sid']}|{row['serial#']}",
                f"{row['wait_class']}|{row['event']}" if row["state"] == "WAITING" else ON_CPU,
                str(row["sql_id"] or ""),
            )
            for row in session.rows(oracle_statements.sessions(every_instance=self._every_instance))
        ]

    def texts(self, session: Session, counts: ActivityCounts, known: Mapping[str, str]) -> dict[str, str]:
        """Parameters, and the statements that were seen running; never all of the shared pool."""
        by_name = {f"setting|{name}": value for name, value in self._parameters.items()}
        wanted = [each for each in counts.subjects(ACTIVE_SQL) if f"sql|{each}" not in known]
        for sql_id in wanted[:_TEXTS_A_TIME]:
            for row in session.rows(oracle_statements.SQL_TEXT, (sql_id,)):
                by_name[f"sql|{sql_id}"] = " ".join(str(row["sql_text"]).split())
        return by_name
