"""What Oracle is asked, live and by the script for SQL*Plus alike: views, columns, and how rows become samples."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from iocast.tools.database_rows import Buckets, Rows, Shape, Statistics, counters
from iocast.tools.foreign_numbers import whole_of

Version = tuple[int, int]
ALWAYS: Final[Version] = (11, 2)
# Waits longer than 2^32 us are counted at this bound; it is not one.
OVERFLOW_US: Final = 4294967295

SYSTEM_STATISTICS: Final = (
    "execute count",
    "user calls",
    "user commits",
    "user rollbacks",
    "parse count (total)",
    "parse count (hard)",
    "session cursor cache hits",
    "session logical reads",
    "physical reads",
    "physical reads direct",
    "physical writes",
    "physical read total IO requests",
    "physical read total multi block requests",
    "physical read total bytes",
    "physical write total IO requests",
    "physical write total multi block requests",
    "physical write total bytes",
    "redo size",
    "redo writes",
    "redo write time",
    "redo synch writes",
    "redo synch time (usec)",  # beside it stands the same in centiseconds: both together would be added up
    "DB time",
    "CPU used by this session",
)
# Times among them; all others count events, blocks or bytes.
_STATISTIC_UNITS: Final = {
    "redo write time": "cs",
    "redo synch time (usec)": "us",
    "db time": "cs",
    "cpu used by this session": "cs",
}
_FILE_KINDS: Final = "small_read small_write large_read large_write"
_IO_BY_KIND: Final = " ".join(f"{kind}_megabytes {kind}_reqs" for kind in _FILE_KINDS.split())
_SERVICE: Final = " ".join(f"{kind}_servicetime:ms/{kind}_reqs" for kind in _FILE_KINDS.split())
_METRICS: Final = " ".join(
    f"{kind}_{unit}" for unit in ("iops", "mbps") for kind in ("small_read", "small_write", "large_read", "large_write")
)


def _since_1970(edge: str) -> str:
    """`begin_time` or `end_time`, dates of the server's own zone, as seconds."""
    return f"round(({edge}_time - date '1970-01-01') * 86400) as {edge}_s"


class Statement(Struct, frozen=True, kw_only=True):
    """One view. `{gv}` in the text is `gv$`, or `v$` where only the own instance is asked."""

    name: str  # the view without gv$
    shape: Shape
    where: str = ""
    first: Version = ALWAYS
    before: Version | None = None  # later versions have a better view
    pack: str = ""  # the licence that looking at it takes
    since_entered: bool = False
    select: str = ""  # the columns where they are more than names

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it gives, in order; a row on paper has no names."""
        return self.shape.columns

    def sql(self, *, every_instance: bool) -> str:
        """Its text: of all instances together, or of the one that is connected to."""
        own = "inst_id" if every_instance else "userenv('instance') as inst_id"
        listed = self.select or ", ".join(self.columns[1:])
        prefix = "gv$" if every_instance else "v$"
        text = f"select {own}, {listed} from {prefix}{self.name}"
        return f"{text} where {self.where}" if self.where else text

    def stands_in(self, version: Version) -> bool:
        """Whether it is the one to ask of a version."""
        return self.first <= version and (self.before is None or version < self.before)


_EVENTS: Final = "wait_class <> 'Idle'"
_IO_EVENTS: Final = (
    "(event in ('db file sequential read', 'db file scattered read', 'db file parallel read', 'db file parallel write',"
    " 'direct path read', 'direct path read temp', 'direct path write', 'direct path write temp', 'log file sync',"
    " 'log file parallel write', 'cell single block physical read', 'cell multiblock physical read',"
    " 'read by other session', 'control file sequential read', 'Disk file I/O Calibration')"
    " or event like 'cell % physical read: %')"
)

STATEMENTS: Final[tuple[Statement, ...]] = (
    Statement(
        name="event_histogram_micro",
        shape=Buckets(
            key=("inst_id", "event"),
            upper="wait_time_micro",
            unit="us",
            count="wait_count",
            unbounded=OVERFLOW_US,
        ),
        where=_IO_EVENTS,
        first=(12, 1),
    ),
    Statement(
        name="event_histogram",
        shape=Buckets(key=("inst_id", "event"), upper="wait_time_milli", unit="ms", count="wait_count"),
        where=_IO_EVENTS,
        before=(12, 1),
    ),
    Statement(
        name="system_event",
        shape=Rows(
            key=("inst_id", "event"),
            counters=counters(
                "total_waits total_timeouts time_waited_micro:us/total_waits"
                " total_waits_fg time_waited_micro_fg:us/total_waits_fg"
            ),
        ),
        where=_EVENTS,
    ),
    Statement(
        name="sysstat",
        shape=Statistics(key=("inst_id",), name="name", value="value", units=_STATISTIC_UNITS),
        where=f"name in ({', '.join(repr(name) for name in SYSTEM_STATISTICS)})",
    ),
    Statement(
        name="sqlstats",
        shape=Rows(
            key=("inst_id", "sql_id", "plan_hash_value"),
            counters=counters(
                "executions elapsed_time:us cpu_time:us user_io_wait_time:us disk_reads buffer_gets rows_processed"
                " physical_read_requests physical_read_bytes physical_write_requests physical_write_bytes"
            ),
        ),
        since_entered=True,
    ),
    Statement(
        name="iostat_function",
        shape=Rows(
            key=("inst_id", "function_name"),
            counters=counters(f"{_IO_BY_KIND} number_of_waits wait_time:ms/number_of_waits"),
        ),
    ),
    Statement(  # of the instance's own minute, which begins at another second on each
        name="iofuncmetric",
        shape=Rows(key=("inst_id", "function_name"), counters=counters(f"{_METRICS} avg_wait_time:ms begin_s end_s")),
        select=", ".join(
            ("function_name", *_METRICS.split(), "avg_wait_time", _since_1970("begin"), _since_1970("end"))
        ),
    ),
    Statement(
        name="sysmetric",
        shape=Statistics(key=("inst_id",), name="metric_name", value="value"),
        where="group_id = 2",
    ),
    Statement(
        name="iostat_file",
        shape=Rows(
            key=("inst_id", "filetype_name", "file_no", "access_method"),
            counters=counters(
                f"{_IO_BY_KIND} {_SERVICE} small_sync_read_reqs small_sync_read_latency:ms/small_sync_read_reqs"
            ),
        ),
        where="small_read_reqs + small_write_reqs + large_read_reqs + large_write_reqs > 0",
        since_entered=True,
    ),
    *(
        Statement(  # the longest I/O since the instance started, or since its file statistics were cleared
            name=name,
            shape=Rows(
                key=("inst_id", "file#"),
                counters=counters("phyrds phywrts readtim:cs/phyrds writetim:cs/phywrts maxiortim:cs maxiowtm:cs"),
            ),
        )
        for name in ("filestat", "tempstat")
    ),
    Statement(
        name="asm_disk_iostat",
        shape=Rows(
            key=("inst_id", "instname", "dbname", "group_number", "disk_number"),
            counters=counters(
                "reads writes read_time:s/reads write_time:s/writes bytes_read bytes_written read_errs write_errs"
            ),
        ),
    ),
    Statement(  # the names of what asm_disk_iostat has numbers for; the views without _stat would look for disks
        name="asm_disk_stat",
        shape=Rows(
            key=("inst_id", "group_number", "disk_number", "name", "failgroup"),
            counters=counters("total_mb free_mb"),
        ),
    ),
    Statement(
        name="asm_diskgroup_stat",
        shape=Rows(key=("inst_id", "group_number", "name"), counters=counters("total_mb free_mb")),
    ),
    Statement(
        name="active_session_history",
        shape=Rows(key=("inst_id", "event"), counters=counters("samples")),
        select="nvl(event, 'CPU') as event, count(*) as samples",
        where="sample_time > systimestamp - interval '60' second group by inst_id, nvl(event, 'CPU')",
        pack="Diagnostics Pack",
    ),
)

_UTC_S: Final = "(cast(sys_extract_utc(systimestamp) as date) - date '1970-01-01') * 86400"
CLOCK: Final = f"select {_UTC_S} as whole_s, extract(second from systimestamp) as second_s from dual"
INSTANCE: Final = (
    "select inst_id, instance_name, host_name, version,"
    f" round((startup_time - sysdate) * 86400 + {_UTC_S}) as started_s from gv$instance"
)
OWN_INSTANCE: Final = (
    "select instance_number as inst_id, instance_name, host_name, version,"
    f" round((startup_time - sysdate) * 86400 + {_UTC_S}) as started_s from v$instance"
)
INSTANCE_COLUMNS: Final = ("inst_id", "instance_name", "host_name", "version", "started_s")
CLOCK_COLUMNS: Final = ("whole_s", "second_s")
PARAMETERS: Final = (
    "select name, value from v$parameter where name in ('control_management_pack_access', 'timed_statistics',"
    " 'db_block_size', 'filesystemio_options', 'disk_asynch_io', 'db_cache_size', 'sga_target', 'memory_target',"
    " 'db_file_multiblock_read_count', 'commit_write', 'commit_wait', 'cluster_database')"
)
CONTAINER: Final = "select sys_context('userenv', 'con_name') as container, user as name from dual"
SESSION_COLUMNS: Final = ("inst_id", "sid", "serial#", "sql_id", "event", "wait_class", "state")
TEXT_COLUMNS: Final = ("sql_id", "sql_text")
ACTIVE_TEXTS: Final = (
    "select distinct sql_id, substr(sql_text, 1, 1000) as sql_text from gv$sqlstats where sql_id in"
    " (select sql_id from gv$session where status = 'ACTIVE' and type = 'USER')"
)
SQL_TEXT: Final = "select sql_id, substr(sql_text, 1, 1000) as sql_text from v$sqlstats where sql_id = :sql_id"


def sessions(*, every_instance: bool) -> str:
    """The sessions that are active, ours left out; as MOATS asks, without any licence."""
    own = "inst_id" if every_instance else "userenv('instance') as inst_id"
    other = "inst_id <> userenv('instance') or " if every_instance else ""
    return (
        f"select {own}, {', '.join(SESSION_COLUMNS[1:])} from {'gv$' if every_instance else 'v$'}session"
        " where status = 'ACTIVE' and type = 'USER' and (wait_class <> 'Idle' or state <> 'WAITING')"
        f" and nvl(module, '-') <> 'iocast' and ({other}sid <> sys_context('userenv', 'sid'))"
    )


def clock_ns(whole_s: float, second_s: float) -> int:
    """The time of the server: whole seconds, which a cast may have rounded, and the second with its fraction."""
    whole = round(whole_s)
    second_ns = round(second_s * 1e9)
    candidates = [(whole - whole % 60 + shift) * 1_000_000_000 + second_ns for shift in (-60, 0, 60)]
    return min(candidates, key=lambda each: abs(each - whole * 1_000_000_000))


def statements_of(version: Version, *, packs: bool = False) -> tuple[Statement, ...]:
    """What a server of this version is asked; views that cost a licence only where `packs` says so."""
    return tuple(each for each in STATEMENTS if each.stands_in(version) and (packs or not each.pack))


def version_of(text: str) -> Version:
    """Of `19.0.0.0.0`: 19 and 0."""
    parts = [part for part in map(whole_of, text.split(".")) if part is not None]
    return (parts[0], parts[1] if len(parts) > 1 else 0) if parts else (0, 0)
