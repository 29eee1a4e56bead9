"""OpenMetrics: names as node_exporter has them, base units, cumulative buckets, escaped labels, an end."""

from __future__ import annotations

import json

from makers.live_moments import device, histogram, moment

from iocast import metrics
from iocast.metrics import NO_BOUND
from iocast.model.live.moment import Interval, Moment
from iocast.model.run import Sample
from iocast.report.live.interval_json import interval_json
from iocast.report.live.open_metrics import scraped

LAYER = ("block", 'vda|read "q"')


def test_devices_have_node_exporters_names_and_seconds() -> None:
    text = scraped(moment(0, {(metrics.DISKSTATS, "vda"): device(reads=7, read_ns=2_500_000_000)}))
    assert "# TYPE node_disk_reads_completed counter" in text
    assert 'node_disk_reads_completed_total{device="vda"} 7' in text.splitlines()
    assert 'node_disk_read_time_seconds_total{device="vda"} 2.5' in text.splitlines()
    assert text.endswith("# EOF\n")


def test_a_histogram_is_cumulative() -> None:
    counts = {**histogram({128: 3, 8: 1}, sum_ns=300_000), NO_BOUND: 2.0}
    lines = scraped(moment(0, {LAYER: counts})).splitlines()
    of = 'iocast_block_latency_seconds{}{{subject="vda|read \\"q\\""{}}} {}'
    assert of.format("_bucket", ',le="8e-06"', 1) in lines
    assert of.format("_bucket", ',le="0.000128"', 4) in lines
    assert of.format("_bucket", ',le="+Inf"', 6) in lines
    assert of.format("_count", "", 6) in lines
    assert of.format("_sum", "", 0.0003) in lines


def test_each_family_is_declared_once_and_stands_together() -> None:
    text = scraped(moment(0, {(metrics.DISKSTATS, name): device() for name in ("vda", "vdb")}))
    declared = [line for line in text.splitlines() if line.startswith("# TYPE")]
    assert len(declared) == len(set(declared))
    kinds = [line.partition("{")[0] for line in text.splitlines() if not line.startswith("#")]
    assert [name for at, name in enumerate(kinds) if at == 0 or kinds[at - 1] != name] == list(dict.fromkeys(kinds))


def test_the_watch_itself_is_not_scraped() -> None:
    assert "tick" not in scraped(moment(3, {}))


def test_no_series_stands_there_twice_and_each_has_its_help() -> None:
    """A counter that is new is told with the 0 before it; histograms without a subject have no empty label."""
    new = moment(0, {("block_layer", "loop5|request|write|8192"): {"bytes": 0.0, **histogram({128: 3}, sum_ns=9)}})
    again = Sample(new.time_ns + 1, "block_layer", new.samples[1].subject, "bytes", 8192.0)
    later = Moment(new.time_ns, (*new.samples, again))
    lines = scraped(later).splitlines()
    series = [line.rpartition(" ")[0] for line in lines if not line.startswith("#")]
    assert len(series) == len(set(series))
    of = 'device="loop5",layer="request",op="write",size="8192"'
    assert f"iocast_block_layer_bytes_total{{{of}}} 8192" in lines
    assert f'iocast_block_layer_latency_seconds_bucket{{{of},le="+Inf"}} 3' in lines
    for kind in ("HELP", "TYPE"):
        named = {line.split()[2] for line in lines if line.startswith(f"# {kind}")}
        assert named == {"iocast_block_layer_bytes", "iocast_block_layer_latency_seconds"}


def test_processes_files_and_sessions_are_no_series() -> None:
    single = {
        (metrics.PROCESSES, "4711|postgres"): {"read_bytes": 1.0},
        (metrics.CALLS_BY_FILE, "write|/pg_wal/000000010000000000000001"): {"count": 1.0},
        ("postgresql.sessions", "4711"): {"samples": 1.0},
        ("postgresql.held_locks", "4711|active|t"): {"waiting": 1.0},
    }
    assert "4711" not in scraped(moment(0, single))
    assert "pg_wal" not in scraped(moment(0, single))
    assert "# TYPE iocast_postgresql_pg_stat_database_numbackends gauge" in scraped(
        moment(0, {("postgresql.pg_stat_database", "app"): {"numbackends": 3.0}})
    )


def test_names_are_those_of_node_exporter_and_only_what_never_falls_is_a_counter() -> None:
    text = scraped(
        moment(
            0,
            {
                (metrics.NETWORK, "eth0"): {metrics.RX_BYTES: 5.0, metrics.LINK_BYTES_PER_S: 125e6},
                (metrics.NETWORK, "tcp"): {metrics.RETRANSMITTED: 3.0},
                (metrics.PRESSURE, "io"): {metrics.SOME_NS: 2e9},
                (metrics.CPU, ""): {metrics.CONTEXT_SWITCHES: 9.0, metrics.IOWAIT_NS: 4e9},
                (metrics.CPU, "memory"): {metrics.DIRTY_BYTES: 8.0},
                ("oracle.sysmetric", "1"): {"physical reads per sec": 7.5},
                ("oracle.asm_disk_stat", "1|0|0|DATA|X"): {"total_mb": 2.0},
                ("system_calls", "postgres|pread64|8192"): {"failed": 1.0},
            },
        ),
        open_metrics=False,
    ).splitlines()
    for series in (
        'node_network_receive_bytes_total{device="eth0"} 5',
        'node_network_speed_bytes{device="eth0"} 125000000',
        "iocast_tcp_retransmitted_segments_total 3",
        "node_pressure_io_waiting_seconds_total 2",
        "node_context_switches_total 9",
        "iocast_cpu_iowait_seconds 4",
        "iocast_memory_dirty_bytes 8",
        'iocast_oracle_sysmetric_physical_reads_per_second{subject="1"} 7.5',
        'iocast_oracle_asm_disk_stat_total_bytes{subject="1|0|0|DATA|X"} 2097152',
        'iocast_system_calls_failed_total{command="postgres",op="pread64",size="8192"} 1',
    ):
        assert series in text
    assert "# TYPE node_network_receive_bytes_total counter" in text
    assert "# EOF" not in text


def test_what_was_traced_in_windows_says_so() -> None:
    """The share of the last interval, and how far each mean may be off: as in JSON."""
    layer = ("block_layer", "vda|driver|read|8192")
    watch = (metrics.KERNEL_LAYERS, "")
    before = moment(0, {layer: histogram({128: 0, 1024: 0}, sum_ns=0), watch: {metrics.TRACED_NS: 0.0}})
    after = moment(1, {layer: histogram({128: 900, 1024: 100}, sum_ns=10**8), watch: {metrics.TRACED_NS: 1e8}})
    lines = scraped(after, before).splitlines()
    assert "iocast_traced_ratio 0.1" in lines
    assert "iocast_interval_seconds 1" in lines
    (within,) = [line for line in lines if line.startswith("iocast_block_layer_mean_within_ratio{")]
    row = json.loads(interval_json(Interval(before, after)))["layers"][0]
    assert float(within.split()[-1]) == row["mean_within"]
    assert any(
        "from iocast_traced_ratio of it" in line for line in lines if line.startswith("# HELP iocast_block_layer")
    )
    assert "iocast_traced_ratio" not in scraped(after).replace("from iocast_traced_ratio of it", "")


def test_a_histogram_without_a_subject_has_no_other_label() -> None:
    lines = scraped(moment(0, {("latency", ""): histogram({128: 3}, sum_ns=9_000)})).splitlines()
    assert 'iocast_latency_latency_seconds_bucket{le="+Inf"} 3' in lines
    assert "iocast_latency_latency_seconds_count 3" in lines
