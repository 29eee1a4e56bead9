"""Layers recorded beside a load: lined up row by row, the load apart from others, the one that loses time named."""

from __future__ import annotations

from makers.card_runs import SECOND_NS, START_UNIX_NS, lognormal, reads
from makers.card_runs import run as run_of

from iocast import metrics
from iocast.analyse.facts import Facts
from iocast.analyse.live.row_layers import row_layers as layers_beside
from iocast.model.report import Section
from iocast.model.run import PhaseRecord, Run, Sample
from iocast.report.layers_section import section
from iocast.results.row_layers import row_layers

IOS = 20_000


def counted(observer: str, subject: str, **counters: float) -> list[Sample]:
    """Counters that stood at 0 when the load began; a second later they stand here."""
    return [
        Sample(START_UNIX_NS + at * SECOND_NS, observer, subject, metric, value * at)
        for metric, value in counters.items()
        for at in (0, 1)
    ]


def beside(call_us: float, device_us: float, share: float = 1.0) -> tuple[Sample, ...]:
    """A second in which the load reads IOS times, and PostgreSQL 1000 times; so much of it was traced."""
    blocks = [
        each
        for clock in ("bio", "request", "driver")
        for each in counted(
            metrics.BLOCK_LAYER, f"vda|{clock}|read|4096", count=IOS, sum_ns=IOS * device_us * 1000, bytes=IOS * 4096
        )
    ]
    own = counted(metrics.SYSTEM_CALLS, "iocast|uring_read|4096", count=IOS, sum_ns=IOS * call_us * 1000)
    others = counted(metrics.SYSTEM_CALLS, "postgres|pread64|8192", count=1000, sum_ns=2e8)
    trace = counted(metrics.KERNEL_LAYERS, "", traced_ns=share * 1e9, reader_cpu_ns=2e7, lost_events=0)
    rows = {"reads": 1000, "read_time_ns": 3e8, "read_bytes": 8_192_000}
    database = counted("postgresql.pg_stat_io", "client backend|relation|normal", **rows)
    load = [Sample(START_UNIX_NS, metrics.LOAD, "iocast", metrics.PID, 7)]
    return (*load, *blocks, *own, *others, *trace, *database)


def seen(samples: tuple[Sample, ...]) -> tuple[Run, PhaseRecord]:
    """A run of one row with these samples."""
    one = reads("randread", size_bytes=4096, times=lognormal(IOS, 50_000, 0.1), samples=samples, elapsed_ns=SECOND_NS)
    return run_of(one), one


def told(samples: tuple[Sample, ...]) -> Section:
    facts = Facts(seen(samples)[0])
    found = section(facts, row_layers(facts))
    assert found is not None
    return found


def test_the_load_stands_beside_its_layers_and_the_database_apart() -> None:
    load, database = told(beside(100, 90)).tables[0].rows
    assert (load.cells["who"], database.cells["who"]) == ("load", "database")
    assert (load.cells["call_rate_per_s"], load.cells["block_rate_per_s"]) == (IOS, IOS)
    assert (load.cells["call_mean_ns"], load.cells["driver_mean_ns"]) == (100_000, 90_000)
    assert load.cells["code"] == "no layer"
    assert (database.cells["rate_per_s"], database.cells["mean_ns"]) == (1000, 300_000)
    assert (database.cells["call_rate_per_s"], database.cells["call_mean_ns"]) == (1000, 200_000)


def test_the_layer_that_loses_time_is_named_with_its_row() -> None:
    found = told(beside(900, 90))
    assert found.tables[0].rows[0].cells["code"] == "file system"
    assert found.paragraphs[0].startswith("randread: The file system layer, or a lock in it: a read call takes 900 µs")


def test_it_is_said_that_layers_were_traced_in_windows_and_what_that_took() -> None:
    windows, cost = told(beside(100, 90, share=0.25)).tables[0].notes[1:]
    assert "25" in windows
    assert "windows" in windows
    assert cost == "Reading the trace took up to 2.0% of one CPU."
    run, one = seen(beside(100, 90))
    found = layers_beside(run, one)
    assert found is not None
    assert found.devices == ("vda",), "the disk below the partition"
    assert found.traced is not None
    assert found.traced.whole


def test_a_row_without_layers_has_no_section() -> None:
    assert section(Facts(seen(())[0]), ()) is None
