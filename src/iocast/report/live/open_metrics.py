"""Metrics of a moment: cumulative counters for a scraper, in OpenMetrics or in the text format of Prometheus.

What node_exporter has is named as there. Where the layers are traced in windows, gauges of the last interval say which
share of the time was traced, and how far each mean may be off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from iocast import metrics
from iocast.analyse.live.latency_columns import latencies
from iocast.analyse.live.traced import traced
from iocast.metrics import COUNT, NO_BOUND, SUM_NS, bucket_upper_ns
from iocast.model.live.moment import Interval, Moment
from iocast.model.run import Sample
from iocast.text import harmless

OPEN_METRICS: Final = "application/openmetrics-text; version=1.0.0; charset=utf-8"
TEXT: Final = "text/plain; version=0.0.4; charset=utf-8"

# Counter of a device → node_exporter's name without its ending.
_NODE_DISK: Final[Mapping[str, str]] = {
    metrics.DISCARDED_BYTES: "discarded_bytes",
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
_NODE_NETWORK: Final[Mapping[str, str]] = {
    metrics.RX_BYTES: "receive_bytes",
    metrics.RX_PACKETS: "receive_packets",
    metrics.RX_ERRORS: "receive_errs",
    metrics.RX_DROPPED: "receive_drop",
    metrics.TX_BYTES: "transmit_bytes",
    metrics.TX_PACKETS: "transmit_packets",
    metrics.TX_ERRORS: "transmit_errs",
    metrics.TX_DROPPED: "transmit_drop",
}
_NODE_PRESSURE: Final[Mapping[str, str]] = {metrics.SOME_NS: "waiting", metrics.FULL_NS: "stalled"}
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
    metrics.IOWAIT_NS,  # the kernel takes some of it back
    "maxiortim_ns",
    "maxiowtm_ns",
}
_OF_THEIR_OWN: Final = ((metrics.NETWORK, "tcp"), (metrics.CPU, "memory"))  # no device, and no processor
# Views of databases whose figures are all of an instant, or of the last minute.
_GAUGE_VIEWS: Final = ("sysmetric", "iofuncmetric", "asm_disk_stat", "asm_diskgroup_stat", "active_session_history")
# Ends of our names → of metrics, and what one of them is in base units.
_UNITS: Final[Mapping[str, tuple[str, float]]] = {
    "_ns": ("_seconds", 1e-9),
    "_s": ("_seconds", 1.0),
    "_megabytes": ("_bytes", float(1 << 20)),
    "_mb": ("_bytes", float(1 << 20)),
}
_KINDS: Final = ("counter", "gauge", "histogram", "summary")  # no part of a name


# Parts of the subjects, as labels; a subject of others is one label, `subject`.
_LABELS: Final[Mapping[str, tuple[str, ...]]] = {
    metrics.DISKSTATS: ("device",),
    metrics.BLOCK_LAYER: ("device", "layer", "op", "size"),
    metrics.SYSTEM_CALLS: ("command", "op", "size"),
    metrics.CALLS_BY_DEVICE: ("device", "op"),
    metrics.RUN_DELAYS: ("command",),
    metrics.NFS_CLIENT: ("mount_point", "op"),
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


def scraped(moment: Moment, before: Moment | None = None, *, open_metrics: bool = True) -> str:
    """All samples of a moment. Times are seconds; a histogram of latencies has cumulative buckets, sum and count.

    `before`: the moment before it, for the gauges of the interval between them.
    """
    families: dict[str, list[str]] = {}
    helps: dict[str, str] = {}
    for observer, samples in moment.by_observer.items():
        if observer in (metrics.WATCH, metrics.DEVICES_BELOW, *metrics.OF_SINGLE_ONES):
            continue
        if observer.rpartition(".")[2] in _NEVER_ENDING:
            continue
        for family, line in _lines(observer, _newest(samples)):
            families.setdefault(family, []).append(line)
            helps[family] = f"by the observer {observer}{_IN_WINDOWS if observer in _WINDOWED else ''}"
    for family, line in _of_interval(None if before is None else Interval(before, moment)):
        families.setdefault(family, []).append(line)
        helps[family] = "of the last interval"
    out: list[str] = []
    for family, lines in families.items():
        name, _, kind = family.partition(" ")
        what = name.removeprefix("iocast_").replace("_", " ")
        if kind == "counter" and not open_metrics:  # there the ending is a part of the name
            name = f"{name}_total"
        out += [f"# HELP {name} {what}, {helps[family]}.", f"# TYPE {name} {kind}", *lines]
    return "\n".join([*out, *(("# EOF",) if open_metrics else ()), ""])


_WINDOWED: Final = (metrics.BLOCK_LAYER, metrics.SYSTEM_CALLS, metrics.CALLS_BY_DEVICE, metrics.RUN_DELAYS)
_IN_WINDOWS: Final = ", for all of the time from iocast_traced_ratio of it"


def _of_interval(interval: Interval | None) -> Iterator[tuple[str, str]]:
    """The share of the time in which the layers were traced, and how far each mean may be off in 95 of 100 cases."""
    trace = None if interval is None else traced(interval.views(metrics.KERNEL_LAYERS).get(""))
    if interval is None or trace is None:
        return
    share = 1.0 if trace.whole else trace.share
    yield "iocast_traced_ratio gauge", f"iocast_traced_ratio {_number(share)}"
    yield "iocast_interval_seconds gauge", f"iocast_interval_seconds {_number(interval.elapsed_ns / 1e9)}"
    for observer in (metrics.BLOCK_LAYER, metrics.SYSTEM_CALLS):
        name = f"iocast_{observer}_mean_within_ratio"
        for subject, view in interval.views(observer).items():
            times = latencies(view)
            within = None if times is None else times.mean_within(share)
            if within is not None:
                yield f"{name} gauge", f"{name}{{{_labels(observer, subject)}}} {_number(within)}"


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
    ending = next((each for each in _UNITS if sample.metric.endswith(each)), "")
    unit, factor = _UNITS.get(ending, ("", 1.0))
    label = _labels(observer, sample.subject)
    name = _of_node(observer, sample)
    if name.startswith("node_pressure_"):
        label = ""
    what = observer
    if (observer, sample.subject) in _OF_THEIR_OWN:
        what, label = sample.subject, ""
    name = name or _name(f"iocast_{what}_{sample.metric.removesuffix(ending)}{unit}")
    value = sample.value * factor
    shown = f"{{{label}}}" if label else ""
    if sample.metric in _GAUGES or observer.rpartition(".")[2] in _GAUGE_VIEWS:
        return f"{name} gauge", f"{name}{shown} {_number(value)}"
    return f"{name} counter", f"{name}_total{shown} {_number(value)}"


def _of_node(observer: str, sample: Sample) -> str:
    """The name that node_exporter has for the same, without its ending; "" where it has none."""
    if observer == metrics.DISKSTATS and sample.metric in _NODE_DISK:
        return f"node_disk_{_NODE_DISK[sample.metric]}"
    if observer == metrics.DISKSTATS and sample.metric == metrics.IN_FLIGHT:
        return "node_disk_io_now"
    if observer == metrics.NETWORK and sample.metric in _NODE_NETWORK:
        return f"node_network_{_NODE_NETWORK[sample.metric]}"
    if observer == metrics.NETWORK and sample.metric == metrics.LINK_BYTES_PER_S:
        return "node_network_speed_bytes"
    if observer == metrics.PRESSURE and sample.metric in _NODE_PRESSURE:
        return f"node_pressure_{sample.subject}_{_NODE_PRESSURE[sample.metric]}_seconds"
    return "node_context_switches" if sample.metric == metrics.CONTEXT_SWITCHES else ""


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
    """Without what a name may not have, and without the kind of a metric, which stands beside it."""
    parts = re.sub(r"[^a-zA-Z0-9_]", "_", text).split("_")
    return "_".join("second" if part == "sec" else part for part in parts if part not in _KINDS)


def _label(text: str) -> str:
    return harmless(text).replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() and abs(value) < 2**53 else repr(float(value))
