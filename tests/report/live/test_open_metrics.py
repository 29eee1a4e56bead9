"""OpenMetrics: names as node_exporter has them, base units, cumulative buckets, escaped labels, an end."""

from __future__ import annotations

from makers.live_moments import device, histogram, moment

from iocast import metrics
from iocast.metrics import NO_BOUND
from iocast.model.live.moment import Moment
from iocast.model.run import Sample
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


def test_a_histogram_without_a_subject_has_no_other_label() -> None:
    lines = scraped(moment(0, {("latency", ""): histogram({128: 3}, sum_ns=9_000)})).splitlines()
    assert 'iocast_latency_latency_seconds_bucket{le="+Inf"} 3' in lines
    assert "iocast_latency_latency_seconds_count 3" in lines
