"""diskspd's text and XML, by hand in their documented form."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from iocast.errors import SourceError
from iocast.model.run import Run
from iocast.model.workload import Uniform
from iocast.tools import diskspd, importers
from iocast.tools.source_files import Head

Reader = Callable[..., Run]


@pytest.mark.parametrize(("name", "users"), [("diskspd.txt", 4), ("diskspd.xml", 2)])
def test_a_timespan_is_a_row(fixtures: Path, name: str, users: int) -> None:
    assert diskspd.sniff(Head(name, (fixtures / name).read_text()))
    (run,) = importers.read((str(fixtures / name),))
    (record,) = run.phases
    reads, writes = record.measurement.classes
    assert (reads.ios, writes.ios, reads.bytes) == (60_000, 20_000, 491_520_000)
    assert record.measurement.rate_per_s == 8000
    assert (record.plan.users, record.plan.depth, record.plan.direct, record.plan.sync) == (users, 8, True, "dsync")
    assert record.phase.workload.locality == Uniform()
    assert reads.size_bytes == 8192
    times = reads.service.coarse
    assert times is not None
    assert (times.mean_ns, times.stdev_ns, times.min_ns, times.max_ns) == (3_000_000, 185_000, 36_000, 17_990_000)
    assert (times.stated_ns(0.99), times.stated_ns(0.999)) == (6_877_000, 11_608_000)
    assert writes.service.quantile_ns(0.5) == 1_833_000
    assert run.host.name == "WIN1"
    assert not run.warnings


def test_without_latency_there_are_no_times(fixtures: Path, read_all: Reader) -> None:
    text = (fixtures / "diskspd.txt").read_text()
    text = text[: text.index("\n\n\ntotal:")].replace("AvgLat", "Other").replace("\tmeasuring latency\n", "")
    (record,) = read_all(("d.txt", text + "\n")).phases
    assert record.measurement.service("read").total == 0
    assert record.measurement.ios == 80_000


def test_pure_writes_have_no_reads(fixtures: Path, read_all: Reader) -> None:
    text = (fixtures / "diskspd.txt").read_text()
    was = "total:         491520000 |        60000 |      46.88 |    6000.00 |    3.000 |      94.24 |     0.185"
    none = "total:                 0 |            0 |       0.00 |       0.00 |    0.000 |       0.00 |       N/A"
    assert was in text
    (record,) = read_all(("d.txt", text.replace(was, none).replace("| Write (ms)", "| Write (ms)"))).phases
    assert [part.op for part in record.measurement.classes] == ["write"]


@pytest.mark.parametrize(
    ("name", "was", "then", "says"),
    [
        ("diskspd.txt", "actual test time", "other", "without their test time"),
        ("diskspd.txt", "    max |", "    mux |", "percentiles without their maximum"),
        ("diskspd.txt", "Write IO", "Wrote IO", "without totals of reads and writes"),
        ("diskspd.txt", "      60000 |", "      6x000 |", "I/Os is"),
        ("diskspd.xml", "<ReadCount>30000", "<ReadCount>3x", "ReadCount is"),
        ("diskspd.xml", "</Results>", "", "the XML is truncated or damaged"),
        ("diskspd.xml", "<Results>", '<!DOCTYPE a [<!ENTITY b "c">]><Results>', "declares entities"),
    ],
)
def test_what_cannot_be_read_is_refused(
    fixtures: Path, read_all: Reader, name: str, was: str, then: str, says: str
) -> None:
    text = (fixtures / name).read_text()
    assert was in text
    with pytest.raises(SourceError) as refused:
        read_all((name, text.replace(was, then)))
    assert says in refused.value.message
