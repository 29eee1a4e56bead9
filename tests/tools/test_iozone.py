"""iozone's table and its children, by hand in their documented form."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from iocast.errors import SourceError
from iocast.model.run import Run
from iocast.model.workload import Sequential, Uniform
from iocast.tools import importers, iozone
from iocast.tools.source_files import Head

Reader = Callable[..., Run]

CHILDREN = """\
	Output is in kBytes/sec
	Throughput test with 4 processes
	Each process writes a 524288 kByte file in 64 kByte records

	Children see throughput for  4 initial writers 	=  204800.00 kB/sec
	Parent sees throughput for  4 initial writers 	=  104800.00 kB/sec
	Children see throughput for 4 random readers 	=   51200.50 kB/sec

iozone test complete.
"""


def test_figures_are_found_by_where_they_stand(fixtures: Path) -> None:
    assert iozone.sniff(Head("x", (fixtures / "iozone.txt").read_text()))
    (run,) = importers.read((str(fixtures / "iozone.txt"),))
    found = {record.phase.name: record for record in run.phases}
    assert len(found) == 6 + 4 + 13
    assert found["random read 4k"].measurement.bytes_per_s == pytest.approx(9959 * 1024, rel=1e-6)
    assert found["random read 4k"].measurement.rate_per_s == pytest.approx(9959 / 4, rel=1e-6)
    assert found["random read 4k"].phase.workload.locality == Uniform()
    # A line in which sequential reads were not asked for.
    assert "read 1024k" not in found
    assert found["random read 1024k"].measurement.bytes_per_s == pytest.approx(375_988 * 1024, rel=1e-6)
    assert found["stride read 64k"].measurement.bytes_per_s == pytest.approx(9 * 1024, rel=1e-6)
    assert found["freread 64k"].measurement.bytes_per_s == pytest.approx(13 * 1024, rel=1e-6)
    assert found["write 4k"].plan.direct
    assert found["write 4k"].measurement.service().total == 0
    assert run.source is not None
    assert run.source.version == "3.492"
    assert "fsync" in run.source.notes[0]
    assert not run.warnings


def test_children_are_users(read_all: Reader) -> None:
    writers, readers = read_all(("t.txt", CHILDREN)).phases
    assert (writers.phase.name, writers.plan.users) == ("initial writer 64k", 4)
    assert writers.measurement.bytes_per_s == pytest.approx(204_800 * 1024, rel=1e-6)
    assert writers.measurement.ios == 4 * 524_288 // 64
    assert writers.phase.workload.locality == Sequential()
    assert [part.op for part in readers.measurement.classes] == ["read"]


def test_operations_are_operations(fixtures: Path, read_all: Reader) -> None:
    text = (fixtures / "iozone.txt").read_text().replace("in kBytes/sec", "in operations per second")
    run = read_all(("o.txt", text))
    assert run.phases[0].measurement.rate_per_s == pytest.approx(2604, rel=1e-6)


@pytest.mark.parametrize(
    ("was", "then", "says"),
    [
        ("     2604", "   2604  ", '"2604" stands under no heading'),
        ("     2604", "     2x04", "write is"),
        ("in kBytes/sec", "in microseconds per operation", "output in microseconds"),
    ],
)
def test_what_cannot_be_read_is_refused(fixtures: Path, read_all: Reader, was: str, then: str, says: str) -> None:
    text = (fixtures / "iozone.txt").read_text()
    assert was in text
    with pytest.raises(SourceError) as refused:
        read_all(("i.txt", text.replace(was, then)))
    assert says in refused.value.message
