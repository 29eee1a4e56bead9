"""Layers beside a load become findings: what loses time above the device, and figures of a database that mislead."""

from __future__ import annotations

import pytest
from makers.card_runs import SECOND_NS, START_UNIX_NS, lognormal, reads
from makers.card_runs import run as run_of

from iocast import metrics
from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.interference import layer_losses
from iocast.model.finding import Finding
from iocast.model.run import Sample

IOS = 20_000
Counters = dict[str, float]
Told = dict[tuple[str, str], Counters]


def counters(count: int, mean_us: float, size_bytes: int = 8192) -> Counters:
    return {"count": count, "sum_ns": count * mean_us * 1000, "bytes": count * size_bytes}


def block(count: int, mean_us: float, size_bytes: int = 8192) -> Told:
    """The three clocks of the device, all alike."""
    clocks = ("bio", "request", "driver")
    return {(metrics.BLOCK_LAYER, f"vda|{clock}|read|8192"): counters(count, mean_us, size_bytes) for clock in clocks}


def of_database(calls: int, call_us: float, counted: int, read_us: float, **told: float) -> Told:
    """A PostgreSQL beside the load: its calls, what it counts, its process (`asked` and `read` bytes, `waits_ns`)."""
    size: Counters = {} if told.get("version") == 17 else {"read_bytes": counted * 8192.0}
    return {
        (metrics.SYSTEM_CALLS, "postgres|pread64|8192"): counters(calls, call_us),
        ("postgresql.pg_stat_io", "client backend|relation|normal"): {
            "reads": counted,
            "read_time_ns": counted * read_us * 1000,
            **size,
        },
        (metrics.PROCESSES, "4711|postgres"): {
            metrics.RCHAR: told.get("asked", calls * 8192.0),
            metrics.READ_BYTES: told.get("read", calls * 8192.0),
            metrics.RUN_DELAY_NS: told.get("waits_ns", 0.0),
            metrics.TIMESLICES: 1.0,
        },
    }


def found(*parts: Told) -> dict[str, Finding]:
    """The findings of a row of IOS reads in a second, beside which these counters went so far."""
    samples = [Sample(START_UNIX_NS, metrics.LOAD, "iocast", metrics.PID, 7)]
    samples += [
        Sample(START_UNIX_NS + at * SECOND_NS, observer, subject, metric, value * at)
        for part in ({(metrics.KERNEL_LAYERS, ""): {metrics.TRACED_NS: 1e9}}, *parts)
        for (observer, subject), told in part.items()
        for metric, value in told.items()
        for at in (0, 1)
    ]
    one = reads(
        "randread", size_bytes=8192, times=lognormal(IOS, 50_000, 0.1), samples=tuple(samples), elapsed_ns=SECOND_NS
    )
    return {each.code: each for each in layer_losses.detect(Facts(run_of(one)))}


OWN: Told = {
    (metrics.SYSTEM_CALLS, "iocast|uring_read|8192"): counters(IOS, 60),
    (metrics.PROCESSES, "7|iocast"): {metrics.READ_BYTES: IOS * 8192.0, metrics.RCHAR: IOS * 8192.0},
}


def test_a_load_and_a_database_that_lose_nothing_have_no_finding() -> None:
    assert found(OWN, block(IOS + 2000, 50), of_database(2000, 60, 2000, 62)) == {}
    assert found(OWN) == {}


def test_a_database_that_waits_for_processors_is_starved() -> None:
    seen = found(OWN, block(IOS + 2000, 50), of_database(2000, 170, 2000, 180, waits_ns=2000 * 110_000.0))
    (finding,) = seen.values()
    assert (finding.code, finding.phase, finding.state) == ("cpu_starvation", "randread", "counted")
    assert finding.says.startswith(
        "Of those watched beside the load: CPU starvation, not the storage: a read call takes"
    )


def test_a_limit_above_the_block_layer_is_named() -> None:
    group: Told = {(metrics.THROTTLING, "/blkio/db|vda"): {metrics.READS: 1000.0}}
    # A limit stands from the beginning; here it is as one that came: what counts is that it is there.
    limit: Told = {(metrics.THROTTLING, "/blkio/db|vda"): {metrics.READS: 1000.0, metrics.READ_IOS_PER_S: 1000.0}}
    assert "throttle_above_block_layer" not in found(OWN, block(IOS, 50), group, of_database(1000, 4000, 1000, 4000))
    seen = found(OWN, block(IOS, 50), limit, of_database(1000, 4000, 1000, 4000))
    assert seen["throttle_above_block_layer"].evidence["limit_per_s"] == 1000


def test_others_that_keep_the_device_busy_are_a_neighbour() -> None:
    own = {**OWN, (metrics.SYSTEM_CALLS, "iocast|uring_read|8192"): counters(IOS, 9000)}
    seen = found(own, block(IOS * 6, 8000, 65_536))
    assert seen["neighbour_on_device"].evidence["others_share"] == pytest.approx(1 - 1 / 48, abs=0.001)
    assert found(OWN, block(IOS, 50)) == {}


def test_what_the_page_cache_holds_as_well_is_double_buffering() -> None:
    seen = found(OWN, block(IOS + 500, 50), of_database(2000, 20, 2000, 22, read=500 * 8192.0))
    (finding,) = seen.values()
    assert (finding.code, finding.evidence["cached_share"]) == ("double_buffering", 0.75)
    assert "75% of what the database reads into its own buffers comes from the page cache" in finding.says


def test_statistics_that_come_when_a_statement_ends_are_late() -> None:
    assert list(found(OWN, block(IOS + 5000, 50), of_database(5000, 60, 3, 60))) == ["late_statistics"]


def test_a_time_of_blocks_is_no_latency() -> None:
    """PostgreSQL 17 reads several blocks with one call and counts blocks (measured: 65,536 of 12.2 us, calls of 83)."""
    seen = found(OWN, block(IOS + 9397, 50), of_database(9397, 83, 65_536, 12.2, version=17))
    (finding,) = seen.values()
    assert finding.code == "blocks_timed_as_reads"
    assert finding.evidence["blocks_a_call"] == pytest.approx(65_536 / 9397)
    assert found(OWN, block(IOS + 9397, 50), of_database(9397, 83, 9400, 85, version=17)) == {}
