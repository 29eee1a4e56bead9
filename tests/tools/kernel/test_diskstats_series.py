"""Copies of /proc/diskstats: real ones, and counters by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from makers.imported_series import values_of

from iocast.errors import SourceError
from iocast.model.run import Run
from iocast.tools import importers
from iocast.tools.kernel import diskstats_series
from iocast.tools.source_files import Head

Reader = Callable[..., Run]

# Reads, merged, sectors, ms, writes, merged, sectors, ms, outstanding, busy ms, queue ms.
COPIES = """\
TS 1281367519
 8 0 sda 100 0 800 50 10 0 80 20 0 100 70
TS 1281367521.0
 8 0 sda 300 10 2400 150 10 0 80 20 1 600 1070
"""


def test_rates_are_differences_over_their_time(read_all: Reader) -> None:
    run = read_all(("ds.txt", COPIES))
    values = values_of(run, "sda")
    assert values["reads_per_s"] == [100.0]
    assert values["read_bytes_per_s"] == [800 * 512]
    assert values["read_await_ns"] == [500_000]
    assert "write_await_ns" not in values  # no write, no time of one
    assert values["queue_mean"] == [0.5]
    assert values["util_percent"] == [25.0]
    assert run.source is not None
    assert run.source.tool == "/proc/diskstats"


def test_a_last_column_that_is_cut_off_leaves_its_time_unknown(read_all: Reader) -> None:
    flushes = COPIES.replace("20 0 100 70", "20 0 100 70 0 0 0 0 5 40").replace("1070", "1070 0 0 0 0 9")
    values = values_of(read_all(("ds.txt", flushes)), "sda")
    assert values["flushes_per_s"] == [2.0]
    assert "flush_await_ns" not in values


def test_real_copies_are_those_of_iostat(fixtures: Path) -> None:
    text = (fixtures / "diskstats_series.txt").read_text()
    assert diskstats_series.sniff(Head("x", text))
    (run,) = importers.read((str(fixtures / "diskstats_series.txt"),))
    writes = [int(line.split()[7]) for line in text.splitlines() if " vda " in line]
    assert values_of(run, "vda")["writes_per_s"] == [writes[1] - writes[0], writes[2] - writes[1]]
    assert not run.warnings


def test_times_that_start_again_go_on(read_all: Reader) -> None:
    """The kernel prints them in 32 bits."""
    text = COPIES.replace(" 800 50 ", f" 800 {2**32 - 50} ")
    assert values_of(read_all(("ds.txt", text)), "sda")["read_await_ns"] == [1_000_000]


def test_a_counter_that_fell_costs_its_interval(read_all: Reader) -> None:
    third = "TS 1281367522\n 8 0 sda 1 0 8 1 0 0 0 0 0 1 1\n"
    run = read_all(("ds.txt", COPIES + third))
    assert len(values_of(run, "sda")["reads_per_s"]) == 1
    assert "a counter of sda fell" in run.warnings[0]


@pytest.mark.parametrize(
    ("was", "then", "says"),
    [
        ("TS 1281367521.0\n", "\n", "copies without their times"),
        ("1281367521.0", "1281367519", "no two copies lie apart"),
        ("sda 300 10", "sda 3x0 10", "without its eleven counters"),
        (" 8 0 sda 300 10 2400 150 10 0 80 20 1 600 1070\n", "", "one copy only"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, was: str, then: str, says: str) -> None:
    assert was in COPIES
    (tmp_path / "ds.txt").write_text(COPIES.replace(was, then) + "\n")
    with pytest.raises(SourceError) as refused:
        diskstats_series.read((str(tmp_path / "ds.txt"),))
    assert says in refused.value.message
