"""What databases did in all of a tape: the figures of pgmon, oramon, asm and sysmetric, as tables of its report."""

from __future__ import annotations

from typing import Final

from iocast.analyse.live.asm_disks import AsmRow, asm_rows
from iocast.analyse.live.system_metrics import metric_rows
from iocast.analyse.live.wait_kinds import WAIT_KINDS, waits_by_kind
from iocast.model.live.seen import Seen
from iocast.model.report import Column, Row, Table
from iocast.report.live.database_modes import oramon_lines, pgmon_lines, sysmetric_lines

_NUMBERS: Final = (
    Column("what", "what"),
    Column("value", "mean", "decimal"),
    Column("unit", "unit"),
    Column("wait", "mean wait, ms", "milliseconds"),
)
_WAITS: Final = (
    Column("what", "what"),
    Column("rate", "per s", "rate"),
    Column("wait", "mean wait, ms", "milliseconds"),
)
_METRICS: Final = (
    Column("what", "metric"),
    Column("unit", "unit"),
    Column("instance", "instance"),
    Column("value", "mean", "decimal"),
    Column("note", "note"),
)
_DISKS: Final = (
    Column("instance", "instance"),
    Column("group", "group"),
    Column("fail_group", "failure group", spare=1),
    Column("disk", "disk"),
    Column("reads", "reads/s", "rate"),
    Column("read_bytes", "read", "bytes_per_s"),
    Column("read_time", "a read", "duration"),
    Column("writes", "writes/s", "rate"),
    Column("written_bytes", "written", "bytes_per_s"),
    Column("write_time", "a write", "duration"),
)
_MOST_DISKS: Final = 40
_MS: Final = "ms"
# Of the columns of pgmon: what it is, and its unit.
_WORDS: Final = {
    "AAS": ("active sessions", "sessions"),
    "io_AAS": ("active sessions in I/O", "sessions"),
    "commits/s": ("commits", "per s"),
    "rollbacks/s": ("rollbacks", "per s"),
    "blks_hit/s": ("buffer hits", "blocks/s"),
    "blks_read/s": ("blocks read", "blocks/s"),
    "ms/blk": ("wait a block", _MS),
    "tup_returned/s": ("tuples returned", "per s"),
    "tup_fetched/s": ("tuples fetched", "per s"),
    "tup_inserted/s": ("tuples inserted", "per s"),
    "tup_updated/s": ("tuples updated", "per s"),
    "tup_deleted/s": ("tuples deleted", "per s"),
    "io_reads/s": ("pg_stat_io: reads", "per s"),
    "io_writes/s": ("pg_stat_io: writes", "per s"),
    "io_extends/s": ("pg_stat_io: extends", "per s"),
    "io_fsyncs/s": ("pg_stat_io: fsyncs", "per s"),
    "checkpointer_buffers/s": ("buffers written by checkpoints", "buffers/s"),
    "bgwriter_buffers/s": ("buffers written by the background writer", "buffers/s"),
    "backend_writes/s": ("writes by backends", "per s"),
    "wal_MiB/s": ("WAL", "MiB/s"),
    "wal_syncs/s": ("WAL syncs", "per s"),
    "wal_sync_ms": ("a WAL sync", _MS),
}


def database_tables(seen: Seen) -> tuple[Table, ...]:
    """Those that have any row; a figure that is unknown has none."""
    tables = (_postgresql(seen), _oracle_waits(seen), _asm(seen), _metrics(seen))
    return tuple(table for table in tables if table.rows)


def _postgresql(seen: Seen) -> Table:
    found = pgmon_lines.table(seen)
    rows = tuple(
        _figure(*_WORDS[name], cell)
        for row in found.rows
        for name, cell in zip(found.columns, row, strict=True)
        if name in _WORDS and isinstance(cell, float | int)
    )
    return Table("PostgreSQL", _NUMBERS, rows, key="pgmon")


def _figure(what: str, unit: str, value: float) -> Row:
    """A time has a column of its own."""
    return Row({"what": what, "wait": value * 1e6} if unit == _MS else {"what": what, "unit": unit, "value": value})


def _oracle_waits(seen: Seen) -> Table:
    """Kinds without any wait are left out."""
    waits = waits_by_kind(seen) or {}
    rows = tuple(
        Row({"what": oramon_lines.TITLES[kind], "rate": waits[kind].per_s, "wait": waits[kind].mean_ns})
        for kind in WAIT_KINDS
        if kind in waits and waits[kind].per_s
    )
    return Table("I/O waits of Oracle", _WAITS, rows, key="oramon")


def _asm(seen: Seen) -> Table:
    rows = tuple(_disk(row) for row in asm_rows(seen)[:_MOST_DISKS])
    return Table("Disks of ASM", _DISKS, rows, key="asm")


def _disk(row: AsmRow) -> Row:
    return Row(
        {
            "instance": row.database_instance,
            "group": row.group,
            "fail_group": row.fail_group,
            "disk": row.disk or "all",
            "reads": row.reads.per_s,
            "read_bytes": row.reads.bytes_per_s,
            "read_time": row.reads.mean_ns,
            "writes": row.writes.per_s,
            "written_bytes": row.writes.bytes_per_s,
            "write_time": row.writes.mean_ns,
        }
    )


def _metrics(seen: Seen) -> Table:
    """The mean over the looks: each is of the minute before it."""
    rows = tuple(
        Row(
            {
                "what": each.metric.name,
                "unit": each.metric.unit,
                "instance": instance,
                "value": value,
                "note": sysmetric_lines.NO_LATENCY if each.metric.latency else "",
            }
        )
        for each in metric_rows(seen)
        for instance, value in each.by_instance.items()
    )
    return Table("Metrics of Oracle", _METRICS, rows, key="sysmetric")
