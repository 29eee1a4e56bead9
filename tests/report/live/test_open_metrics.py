"""OpenMetrics: names as node_exporter has them, base units, cumulative buckets, escaped labels, an end."""

from __future__ import annotations

from makers.live_moments import device, histogram, moment

from iocast import metrics
from iocast.metrics import NO_BOUND
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
