"""OpenMetrics text of a moment: cumulative counters for a scraper, block devices named as node_exporter names them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from iocast import metrics
from iocast.metrics import COUNT, NO_BOUND, SUM_NS, bucket_upper_ns
from iocast.model.live.moment import Moment
from iocast.model.run import Sample
from iocast.text import harmless

CONTENT_TYPE: Final = "application/openmetrics-text; version=1.0.0; charset=utf-8"

# Counter of a device → node_exporter's name without its ending.
_NODE_DISK: Final[Mapping[str, str]] = {
    metrics.READS: "reads_completed",
    metrics.READS_MERGED: "reads_merged",
    metrics.READ_BYTES: "read_bytes",
    metrics.READ_NS: "read_time_seconds",
    metrics.WRITES: "writes_completed",
    metrics.WRITES_MERGED: "writes_merged",
    metrics.WRITTEN_BYTES: "written_bytes",
    metrics.WRITE_NS: "write_time_seconds",
    metrics.BUSY_NS: "io_time_seconds",
    metrics.QUEUE_NS: "io_time_weighted_seconds",
    metrics.DISCARDS: "discards_completed",
    metrics.DISCARDS_MERGED: "discards_merged",
    metrics.DISCARD_NS: "discard_time_seconds",
    metrics.FLUSHES: "flush_requests",
    metrics.FLUSH_NS: "flush_requests_time_seconds",
}
# Figures of an instant; everything else only grows.
_GAUGES: Final = {
    metrics.IN_FLIGHT,
    metrics.FOLLOWED,
    metrics.DEPTH,
    metrics.AIO_CONTEXTS,
    metrics.SILENT_NS,
    "waiting",
    "heap_blks_scanned",
    "numbackends",
    "innodb_row_lock_current_waits",
    "innodb_data_pending_reads",
    "innodb_data_pending_writes",
    "innodb_data_pending_fsyncs",
    "innodb_buffer_pool_pages_dirty",
    "threads_running",
    "threads_connected",
    metrics.EPOCH,
    metrics.LINK_BYTES_PER_S,
    metrics.FILE_BYTES,
    metrics.CACHED_BYTES,
    metrics.DIRTY_BYTES,
    metrics.WRITEBACK_BYTES,
    metrics.AVAILABLE_BYTES,
    metrics.READ_BYTES_PER_S,
    metrics.WRITE_BYTES_PER_S,
    metrics.READ_IOS_PER_S,
    metrics.WRITE_IOS_PER_S,
}


# Parts of the subjects, as labels; a subject of others is one label, `subject`.
_LABELS: Final[Mapping[str, tuple[str, ...]]] = {
    metrics.DISKSTATS: ("device",),
    metrics.BLOCK_LAYER: ("device", "layer", "op", "size"),
    metrics.SYSTEM_CALLS: ("command", "call", "size"),
    metrics.CALLS_BY_DEVICE: ("device", "call"),
    metrics.RUN_DELAYS: ("command",),
    metrics.NFS_CLIENT: ("mount_point", "operation"),
    metrics.NETWORK: ("device",),
    metrics.THROTTLING: ("group", "device"),
    "postgresql.waits": ("type", "event"),
    "postgresql.active_sql": ("queryid",),
    "postgresql.pg_stat_io": ("backend_type", "object", "context"),
    "postgresql.pg_stat_database": ("datname",),
    "postgresql.pg_statio_user_tables": ("schemaname", "relname"),
    "postgresql.pg_statio_user_indexes": ("schemaname", "relname", "indexrelname"),
    "postgresql.pg_stat_statements": ("queryid", "dbid", "userid", "toplevel"),
}
# Of single processes, files and sessions: their names never end, and a scraper would keep them all.
_NEVER_ENDING: Final = (metrics.SESSIONS, metrics.SESSION_WAITS, "held_locks", "pg_stat_progress_vacuum")


def scraped(moment: Moment) -> str:
    """All samples of a moment. Times are seconds; a histogram of latencies has cumulative buckets, sum and count."""
    families: dict[str, list[str]] = {}
    helps: dict[str, str] = {}
    for observer, samples in moment.by_observer.items():
        if observer in (metrics.WATCH, metrics.DEVICES_BELOW, *metrics.OF_SINGLE_ONES):
            continue
        if observer.rpartition(".")[2] in _NEVER_ENDING:
            continue
        for family, line in _lines(observer, _newest(samples)):
            families.setdefault(family, []).append(line)
            helps[family] = observer
    out: list[str] = []
    for family, lines in families.items():
        name, _, kind = family.partition(" ")
        what = name.removeprefix("iocast_").replace("_", " ")
        out += [f"# HELP {name} {what}, by the observer {helps[family]}.", f"# TYPE {name} {kind}", *lines]
    return "\n".join([*out, "# EOF", ""])


def _newest(samples: tuple[Sample, ...]) -> tuple[Sample, ...]:
    """The last of each counter: one that is new is told twice, as it stood before and as it stands."""
    return tuple({(each.subject, each.metric): each for each in samples}.values())


def _labels(observer: str, subject: str) -> str:
    """Without braces; "" for a subject without a name."""
    names, parts = _LABELS.get(observer, ()), subject.split(metrics.PART)
    if not names or len(parts) > len(names):
        return f'subject="{_label(subject)}"' if subject else ""
    return ",".join(f'{name}="{_label(part)}"' for name, part in zip(names, parts, strict=False) if subject)


def _lines(observer: str, samples: tuple[Sample, ...]) -> Iterator[tuple[str, str]]:
    histograms: dict[str, dict[str, float]] = {}
    for sample in samples:
        if sample.metric == NO_BOUND or bucket_upper_ns(sample.metric) is not None:
            histograms.setdefault(sample.subject, {})
    for sample in samples:
        if sample.subject in histograms and (
            sample.metric in (COUNT, SUM_NS, NO_BOUND) or bucket_upper_ns(sample.metric) is not None
        ):
            histograms[sample.subject][sample.metric] = sample.value
        else:
            yield _plain(observer, sample)
    for subject, counts in histograms.items():
        yield from _histogram(observer, subject, counts)


def _plain(observer: str, sample: Sample) -> tuple[str, str]:
    if observer == metrics.DISKSTATS and sample.metric in _NODE_DISK:
        name = f"node_disk_{_NODE_DISK[sample.metric]}"
    elif observer == metrics.DISKSTATS and sample.metric == metrics.IN_FLIGHT:
        name = "node_disk_io_now"
    else:
        seconds = sample.metric.endswith("_ns")
        stem = f"{sample.metric.removesuffix('_ns')}_seconds" if seconds else sample.metric
        name = _name(f"iocast_{observer}_{stem}")
    label = _labels(observer, sample.subject)
    value = sample.value / 1e9 if sample.metric.endswith("_ns") else sample.value
    shown = f"{{{label}}}" if label else ""
    if sample.metric in _GAUGES:
        return f"{name} gauge", f"{name}{shown} {_number(value)}"
    return f"{name} counter", f"{name}_total{shown} {_number(value)}"


def _histogram(observer: str, subject: str, counts: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    """Cumulative buckets. Ours are below their bound where `le` includes it: the same for times in whole ns."""
    name = _name(f"iocast_{observer}_latency_seconds")
    family, label = f"{name} histogram", _labels(observer, subject)
    before, shown = f"{label}," if label else "", f"{{{label}}}" if label else ""
    bounds = sorted((upper_ns, metric) for metric in counts if (upper_ns := bucket_upper_ns(metric)) is not None)
    so_far = 0.0
    for upper_ns, metric in bounds:
        so_far += counts[metric]
        yield family, f'{name}_bucket{{{before}le="{_number(upper_ns / 1e9)}"}} {_number(so_far)}'
    so_far += counts.get(NO_BOUND, 0.0)
    yield family, f'{name}_bucket{{{before}le="+Inf"}} {_number(so_far)}'
    yield family, f"{name}_count{shown} {_number(so_far)}"
    if SUM_NS in counts:
        yield family, f"{name}_sum{shown} {_number(counts[SUM_NS] / 1e9)}"


def _name(text: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_]", "_", text)


def _label(text: str) -> str:
    return harmless(text).replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() and abs(value) < 2**53 else repr(float(value))
