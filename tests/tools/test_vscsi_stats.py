"""vscsiStats, by hand in its documented form, as text and with -c."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from iocast.errors import SourceError
from iocast.model.run import Run
from iocast.tools import importers, vscsi_stats

Reader = Callable[..., Run]
DISK = "worldGroupID : 1001, virtual disk handleID : 8193 (scsi0:0)"


def with_commas(text: str) -> str:
    """The same histograms as -c prints them: the bucket above the last edge has that edge once more."""
    text = re.sub(r"^ *(\d+) +\((?:<=|>) +(\d+)\)$", r"\1,\2", text, flags=re.MULTILINE)
    text = re.sub(r"^ (\w+) : (\d+)$", r"\1,\2", text, flags=re.MULTILINE)
    text = text.replace(" for virtual", ",virtual").replace(", virtual disk", ",virtual disk").replace(" {\n", "\n")
    return text.replace("   {\n", f"{vscsi_stats.CSV_HEAD}\n").replace("   }\n}\n", "")


def test_a_disk_is_a_row_of_reads_and_writes(fixtures: Path) -> None:
    (run,) = importers.read((str(fixtures / "vscsi_stats.txt"),))
    (record,) = run.phases
    reads, writes = record.measurement.classes
    assert (record.phase.name, record.plan.files[0].path) == (DISK, DISK)
    assert (reads.op, reads.ios, reads.size_bytes, reads.bytes) == ("read", 30, 8192, 30 * 8192)
    assert (writes.op, writes.ios, writes.bytes) == ("write", 4, 0)  # of two sizes
    assert (reads.service.min_ns, reads.service.mean_ns, reads.service.max_ns) == (180_000, 420_000, 950_000)
    assert reads.service.quantile_bounds_ns(0.5) == (100_000, 500_000)
    assert writes.service.quantile_bounds_ns(0.99) == (100_000_000, 120_000_000)  # open, up to the largest
    assert {"length", "size", "users", "depth"} <= {*record.unstated}
    assert not run.warnings


def test_commas_say_the_same(fixtures: Path, read_all: Reader) -> None:
    text = (fixtures / "vscsi_stats.txt").read_text()
    (whole,) = importers.read((str(fixtures / "vscsi_stats.txt"),))[0].phases
    (other,) = read_all(("v.csv", with_commas(text))).phases
    assert other.measurement == whole.measurement


def test_a_cut_histogram_is_left_out(fixtures: Path, read_all: Reader) -> None:
    text = (fixtures / "vscsi_stats.txt").read_text()
    run = read_all(("v.txt", text[: text.rindex("(>")]))
    assert [each.op for each in run.phases[0].measurement.classes] == ["read"]
    assert "this histogram is cut: left out" in run.warnings[0]


@pytest.mark.parametrize(
    ("was", "then", "says"),
    [
        (" Read IOs", " IOs", ""),  # writes alone remain
        ("30              (<=             8192)", "31              (<=             8192)", "its count is 34"),
        ("of Read IOs in Microseconds (us)", "of Read IOs", "not in Microseconds"),
        ("mean : 420", "mean : 4200", "do not ascend"),
        ("(<=              100)", "(<=                1)", "its edges do not ascend"),
        ("mean : 420", "mean : fast", "is no line of a histogram"),
    ],
)
def test_what_does_not_fit_is_refused(fixtures: Path, read_all: Reader, was: str, then: str, says: str) -> None:
    text = (fixtures / "vscsi_stats.txt").read_text()
    assert was in text
    if not says:
        (record,) = read_all(("v.txt", text.replace(was, then))).phases
        assert [each.op for each in record.measurement.classes] == ["write"]
        return
    with pytest.raises(SourceError) as refused:
        read_all(("v.txt", text.replace(was, then)))
    assert says in refused.value.message


def test_reads_and_writes_together_are_refused(fixtures: Path, read_all: Reader) -> None:
    text = (fixtures / "vscsi_stats.txt").read_text().replace("Read ", "").replace("Write ", "")
    with pytest.raises(SourceError, match="no complete latency histogram of reads or of writes alone"):
        read_all(("v.txt", text))


def test_a_disk_printed_twice_is_refused(fixtures: Path, read_all: Reader) -> None:
    with pytest.raises(SourceError, match="stands here twice"):
        read_all(("v.txt", 2 * (fixtures / "vscsi_stats.txt").read_text()))
