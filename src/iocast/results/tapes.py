"""A tape becomes a result: devices, layers, events, sessions and databases, those that took most first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from iocast import metrics
from iocast.analyse.live.asm_disks import asm_rows
from iocast.analyse.live.event_rows import event_rows
from iocast.analyse.live.latency_columns import ENDLESS_NS, Latencies
from iocast.analyse.live.layer_rows import layer_rows
from iocast.analyse.live.postgresql_figures import postgresql_figures
from iocast.analyse.live.session_shares import Share, activity, watched_databases
from iocast.analyse.live.system_metrics import metric_rows
from iocast.analyse.live.tape_summary import TapeSummary
from iocast.analyse.live.wait_kinds import WAIT_KINDS, waits_by_kind
from iocast.model.live.readings import Readings
from iocast.model.results.tapes import (
    ActiveShare,
    AsmDisk,
    DatabaseActivity,
    OracleMetric,
    OracleWaits,
    PostgresqlFigure,
    Tape,
    WatchedDevice,
    WatchedEvent,
    WatchedLayer,
)

MOST, MOST_DISKS = 15, 40
_MS: Final = "ms"
# Of the figures of pgmon: what it is, and its unit.
_POSTGRESQL: Final = {
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


def tape_of(tape: TapeSummary, texts: Mapping[str, str]) -> Tape:
    """The result of a tape; `texts` are those of statements and sessions, by their subjects."""
    return Tape(
        devices_seen=tuple(_devices(tape)),
        layers=tuple(_layers(tape)),
        events=tuple(_events(tape)),
        activity=tuple(_activities(tape, texts)),
        pgmon=tuple(_postgresql(tape)),
        oramon=tuple(_oracle_waits(tape)),
        asm=tuple(_asm(tape)),
        sysmetric=tuple(_oracle_metrics(tape)),
    )


def _devices(tape: TapeSummary) -> Iterator[WatchedDevice]:
    views = tape.views(metrics.DISKSTATS)
    busiest = sorted(views.items(), key=lambda item: (-(item[1].delta(metrics.QUEUE_NS) or 0), item[0]))
    for name, view in busiest[:MOST]:
        yield WatchedDevice(
            device=name,
            reads_per_s=view.per_s(metrics.READS),
            read_bytes_per_s=view.per_s(metrics.READ_BYTES),
            read_await_ns=view.mean(metrics.READ_NS, metrics.READS),
            writes_per_s=view.per_s(metrics.WRITES),
            written_bytes_per_s=view.per_s(metrics.WRITTEN_BYTES),
            write_await_ns=view.mean(metrics.WRITE_NS, metrics.WRITES),
            queue=view.queue_mean,
            busy_share=view.utilisation,
        )


def _layers(tape: TapeSummary) -> Iterator[WatchedLayer]:
    for row in layer_rows(tape):
        yield WatchedLayer(
            layer=row.layer,
            op=row.op,
            where=row.where or None,
            rate_per_s=row.per_s,
            throughput_bytes_per_s=row.bytes_per_s,
            size_bytes=row.mean_size_bytes,
            mean_ns=row.times.mean_ns,
        )


def _events(readings: Readings) -> Iterator[WatchedEvent]:
    """A share stands below the bound of the bucket in which it ends."""
    for each in event_rows(readings)[:MOST]:
        if each.times is not None:
            yield WatchedEvent(
                observer=each.observer,
                subject=each.subject,
                rate_per_s=each.per_s,
                count=each.times.total,
                mean_ns=each.times.mean_ns,
                half_ns=_below(each.times, 0.5),
                most_ns=_below(each.times, 0.99),
            )


def _below(times: Latencies, share: float) -> float | None:
    """None where it ends above the last bound."""
    reached = 0
    for upper_ns, count in sorted(times.counts.items()):
        reached += count
        if reached >= share * times.total:
            return None if upper_ns == ENDLESS_NS else float(upper_ns)
    return None


def _activities(tape: TapeSummary, texts: Mapping[str, str]) -> Iterator[DatabaseActivity]:
    for database in watched_databases(tape):
        database_activity = activity(tape, database)
        if database_activity:
            yield DatabaseActivity(
                database=database,
                polls=database_activity.polls,
                active_mean=database_activity.active_mean,
                waits=_shares(database_activity.waits, "", texts),
                statements=_shares(database_activity.statements, "sql|", texts),
                sessions=_shares(database_activity.sessions, "session|", texts),
            )


def _shares(shares: Sequence[Share], kind: str, texts: Mapping[str, str]) -> tuple[ActiveShare, ...]:
    named = {subject.removeprefix(kind): text for subject, text in texts.items()}
    return tuple(
        ActiveShare(
            what=" ".join(named.get(each.subject, each.subject).split()).replace("|", ": ", 1),
            share=each.share,
            sessions=each.active_mean,
        )
        for each in shares[:MOST]
    )


def _postgresql(readings: Readings) -> Iterator[PostgresqlFigure]:
    """A figure that is unknown has no row; a time has a column of its own."""
    for name, value in (postgresql_figures(readings) or {}).items():
        if name in _POSTGRESQL and isinstance(value, float | int):
            what, unit = _POSTGRESQL[name]
            if unit == _MS:
                yield PostgresqlFigure(what=what, wait_ns=value * 1e6)
            else:
                yield PostgresqlFigure(what=what, value=value, unit=unit)


def _oracle_waits(readings: Readings) -> Iterator[OracleWaits]:
    """Kinds without any wait are left out."""
    waits = waits_by_kind(readings) or {}
    for kind in WAIT_KINDS:
        if kind in waits and (rate := waits[kind].per_s):
            yield OracleWaits(wait=kind, rate_per_s=rate, wait_ns=waits[kind].mean_ns)


def _asm(readings: Readings) -> Iterator[AsmDisk]:
    for row in asm_rows(readings)[:MOST_DISKS]:
        yield AsmDisk(
            instance=row.database_instance,
            group=row.group,
            fail_group=row.fail_group or None,
            disk=row.disk or None,
            reads_per_s=row.reads.per_s,
            read_bytes_per_s=row.reads.bytes_per_s,
            read_time_ns=row.reads.mean_ns,
            writes_per_s=row.writes.per_s,
            written_bytes_per_s=row.writes.bytes_per_s,
            write_time_ns=row.writes.mean_ns,
        )


def _oracle_metrics(readings: Readings) -> Iterator[OracleMetric]:
    """Each look is of the minute before it."""
    for each in metric_rows(readings):
        for instance, value in each.by_instance.items():
            yield OracleMetric(
                what=each.metric.name,
                unit=each.metric.unit,
                instance=instance,
                value=value,
                no_latency=each.metric.latency,
            )
