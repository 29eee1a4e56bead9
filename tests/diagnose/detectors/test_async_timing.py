"""Waits that are no times of an I/O: by name, by Little's law, and against the device's own count."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers import card_runs
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.measurement import async_timing
from iocast.diagnose.relations import with_rivals
from iocast.model.histogram import Histogram
from iocast.model.run import Run, Source
from iocast.model.workload import Closed, Poisson
from iocast.tools import importers
from iocast.tools.stated_rows import OpFigures, Row, run

US, MS = 1_000, 1_000_000

RECORDS = """\
<begin record>
timestamp,microsec,1000000,now
latencyunit,microsec
label,{label}
datasource,oracle
16,{quick}
8192,0
<end record>
<begin record>
timestamp,microsec,4000000,now
latencyunit,microsec
label,{label}
datasource,oracle
16,{later}
8192,20
<end record>
"""


def _imported(label: str, tmp_path: Path) -> Run:
    file = tmp_path / "records.txt"
    file.write_text(RECORDS.format(label=label, quick=100, later=9100), encoding="utf-8")
    (found,) = importers.read((str(file),))
    return found


@pytest.mark.parametrize(
    ("label", "says"),
    [
        ("direct path read", "the wait that remained when the session came for blocks"),
        ("Direct path read temp", "the wait that remained"),
        ("db file parallel read", "one wait for a batch of blocks"),
    ],
)
def test_waits_that_are_known_to_be_none_of_an_io(label: str, says: str, tmp_path: Path) -> None:
    (found,) = async_timing.detect(Facts(_imported(label, tmp_path)))
    assert (found.code, found.severity, found.state) == (async_timing.CODE, "warn", "counted")
    assert says in found.says


@pytest.mark.parametrize("label", ["db file sequential read", "log file parallel write"])
def test_synchronous_events_are_times(label: str, tmp_path: Path) -> None:
    assert list(async_timing.detect(Facts(_imported(label, tmp_path)))) == []


def _test(engine: str, mean_us: float, *, depth: int | None = 32, **changes: object) -> Run:
    """A test of ten seconds and 10,000 reads a second, of which each took so long."""
    times = card_runs.histogram((mean_us * US, 100_000))
    reads = OpFigures(op="read", ios=100_000, bytes=100_000 << 13, size_bytes=8192, times=times)
    fields = {"users": 1, "depth": depth, "arrival": Closed(), "engine": engine, **changes}
    row = Row(name="a", test="randread", ops=(reads,), elapsed_ns=10**10, **fields)  # type: ignore[arg-type]
    return run(Source(tool="fio"), [row])


def test_times_that_leave_most_of_the_depth_out() -> None:
    (found,) = async_timing.detect(Facts(_test("libaio", 800)))
    assert found.state == "suggested"
    assert "gives 8 outstanding I/Os, but the load asks for 32" in found.says
    assert with_rivals(found).rivals == ("too_few_in_flight",)


@pytest.mark.parametrize(
    "other",
    [
        _test("libaio", 3100),  # nearly all of it
        _test("psync", 800),  # waits for each of them
        _test("libaio", 800, depth=None),  # nobody says how many
        _test("libaio", 50, depth=1),
        _test("libaio", 800, arrival=Poisson(10_000)),
        _test("libaio", 800, derived=("length",)),
    ],
)
def test_other_tests_are_left_alone(other: Run) -> None:
    assert list(async_timing.detect(Facts(other))) == []


def _row(times: Histogram, device_ns: int, **changes: float) -> Run:
    """Direct reads that the device says it took so long for each of."""
    record = card_runs.reads(times=times)
    did = record.measurement
    seen = {"reads": did.ios, "read_bytes": did.bytes, "read_ns": device_ns * did.ios, "writes": 0, **changes}
    return card_runs.run(replace(record, samples=card_runs.diskstats(did.elapsed_ns, **seen)))


def test_a_device_that_took_longer_than_the_row_it_served() -> None:
    times = card_runs.histogram((300 * US, 5000))
    (found,) = async_timing.detect(Facts(_row(times, 2 * MS)))
    assert (found.severity, found.state) == ("severe", "counted")
    assert "Reads were acknowledged early: 300 µs on average in the test, but 2 ms at vda1" in found.says
    assert list(async_timing.detect(Facts(_row(times, 290 * US)))) == []


def test_one_slow_request_of_the_row_before_is_no_sign() -> None:
    few = card_runs.histogram((400 * US, 128))
    assert list(async_timing.detect(Facts(_row(few, 558 * US)))) == []  # one of 20 ms, counted late
    assert len(list(async_timing.detect(Facts(_row(few, 4 * MS))))) == 1


def test_a_few_requests_of_others_in_the_same_stall_are_no_sign() -> None:
    """137 reads of others, 0.7 %, waited 2.8 s with ours: they made the device's mean twice that of the row."""
    stalled = card_runs.histogram((5 * MS, 20_898), (2800 * MS, 32))
    ours_ns = 20_898 * 5 * MS + 32 * 2800 * MS
    both_ns = ours_ns + 137 * 2000 * MS
    assert both_ns > 2 * ours_ns
    row = _row(stalled, 0, reads=20_930 + 137, read_ns=both_ns)
    assert list(async_timing.detect(Facts(row))) == []
    far_more_ns = both_ns + 137 * 2000 * MS
    assert len(list(async_timing.detect(Facts(_row(stalled, 0, reads=20_930 + 137, read_ns=far_more_ns))))) == 1


def test_a_device_that_did_other_io_as_well_says_nothing() -> None:
    times = card_runs.histogram((300 * US, 5000))
    assert list(async_timing.detect(Facts(_row(times, 2 * MS, reads=9000)))) == []
    assert list(async_timing.detect(Facts(_row(times, 2 * MS, read_bytes=5000 << 17)))) == []
    assert list(async_timing.detect(Facts(card_runs.quick_card()))) == []
