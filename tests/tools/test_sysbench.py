"""sysbench fileio as it prints: reads alone with their latency, mixes without, 0.4 and 1.0."""

from __future__ import annotations

from pathlib import Path

import pytest

from iocast.errors import SourceError
from iocast.tools import importers, sysbench

NEW = """\
sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 4
Initializing random number generator from current time


Extra file open flags: directio
128 files, 16MiB each
2GiB total file size
Block size 16KiB
Number of IO requests: 0
Read/Write ratio for combined random IO test: 1.50
Calling fsync() at the end of test, Enabled.
Using synchronous I/O mode
Doing random read test
Initializing worker threads...

Threads started!


File operations:
    reads/s:                      4000.00
    writes/s:                     0.00
    fsyncs/s:                     0.00

Throughput:
    read, MiB/s:                  62.50
    written, MiB/s:               0.00

General statistics:
    total time:                          10.0000s
    total number of events:              40000

Latency (ms):
         min:                                    0.12
         avg:                                    0.99
         max:                                   10.60
         95th percentile:                        1.86
         sum:                                39600.00

Threads fairness:
    events (avg/stddev):           10000.0000/10.00
    execution time (avg/stddev):   9.9000/0.00
"""
OLD = """\
sysbench 0.4.12:  multi-threaded system evaluation benchmark

Running the test with following options:
Number of threads: 1

Extra file open flags: 0
128 files, 16Mb each
2Gb total file size
Block size 16Kb
Calling fsync() after each write operation.
Using synchronous I/O mode
Doing random r/w test
Threads started!
Done.

Operations performed:  600 Read, 400 Write, 128 Other = 1128 Total
Read 9.375Mb  Written 6.25Mb  Total transferred 15.625Mb  (1.5Mb/sec)
  100.00 Requests/sec executed

Test execution summary:
    total time:                          10.0000s
    total number of events:              1000
    total time taken by event execution: 2.0000
    per-request statistics:
         min:                                  0.01ms
         avg:                                  2.00ms
         max:                                 90.00ms
         approx.  95 percentile:               9.00ms

Threads fairness:
    events (avg/stddev):           1000.0000/0.00
    execution time (avg/stddev):   2.0000/0.00
"""


def test_reads_alone_have_their_latency(tmp_path: Path) -> None:
    (path := tmp_path / "new.txt").write_text(NEW)
    (run,) = importers.read((str(path),))
    (record,) = run.phases
    did = record.measurement
    assert (record.phase.name, record.plan.users, record.plan.depth, record.plan.direct) == ("random read", 4, 1, True)
    assert (did.ios, did.bytes, record.ios_per_s) == (40_000, 40_000 * 16384, 4000.0)
    times = did.service("read")
    assert (times.mean_ns, times.quantile_ns(0.95), times.max_ns) == (990_000, 1_860_000, 10_600_000)
    assert run.warnings == ()


def test_the_latency_of_a_mix_is_of_neither(tmp_path: Path) -> None:
    (path := tmp_path / "old.txt").write_text(OLD)
    (run,) = importers.read((str(path),))
    (record,) = run.phases
    assert {each.op: each.ios for each in record.measurement.classes} == {"read": 600, "write": 400, "fsync": 128}
    assert record.measurement.response().total == 0
    assert record.ios_per_s == 100.0
    assert run.warnings == (sysbench.TOGETHER,)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (NEW[: NEW.index("General")], "it has no total time: sysbench was killed"),
        (NEW.replace("4000.00", "0.00"), "it has no reads and no writes"),
    ],
)
def test_a_report_that_is_cut_or_of_nothing_is_refused(tmp_path: Path, text: str, says: str) -> None:
    (path := tmp_path / "a.txt").write_text(text)
    with pytest.raises(SourceError, match=says):
        importers.read((str(path),))
