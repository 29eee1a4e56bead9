"""watch iostat: the arithmetic of sysstat's columns on counters that are known."""

from __future__ import annotations

import pytest
from makers.live_moments import device, moment

from iocast import metrics
from iocast.model.live.moment import Interval
from iocast.report.live.iostat_lines import lines, table

VDA = (metrics.DISKSTATS, "vda")


def _interval() -> Interval:
    before = device(reads=100)
    after = device(
        reads=300,
        reads_merged=50,
        read_bytes=200 * 8192,
        read_ns=400_000_000,
        writes=10,
        written_bytes=10 * 512,
        write_ns=1_000_000,
        busy_ns=250_000_000,
        queue_ns=500_000_000,
    )
    return Interval(moment(0, {VDA: before}), moment(2, {VDA: after}))


def test_columns() -> None:
    found = table(_interval())
    row = dict(zip(found.columns, found.rows[0], strict=True))
    assert row["Device"] == "vda"
    assert (row["r/s"], row["rkB/s"], row["rrqm/s"], row["r_await"], row["rareq-sz"]) == (100, 800, 25, 2, 8)
    assert row["%rrqm"] == 20
    assert (row["w/s"], row["wkB/s"], row["w_await"], row["wareq-sz"]) == (5, 2.5, pytest.approx(0.1), 0.5)
    assert (row["aqu-sz"], row["%util"]) == (0.25, 12.5)


def test_little_holds_within_its_columns() -> None:
    """aqu-sz = IOPS x await, where the kernel's queue time is the sum of its times."""
    view = device(reads=1000, read_ns=3_000_000_000, queue_ns=3_000_000_000)
    found = table(Interval(moment(0, {VDA: device()}), moment(1, {VDA: view})))
    row = dict(zip(found.columns, found.rows[0], strict=True))
    assert isinstance(row["r/s"], float)
    assert isinstance(row["r_await"], float)
    assert row["aqu-sz"] == pytest.approx(row["r/s"] * row["r_await"] / 1000)


def test_a_device_that_rests_shows_zeros_and_what_the_kernel_does_not_count_stays_blank() -> None:
    found = table(Interval(moment(0, {VDA: device()}), moment(1, {VDA: device()})))
    row = dict(zip(found.columns, found.rows[0], strict=True))
    assert row["r_await"] == 0
    assert row["d/s"] is None
    assert row["f/s"] is None


def test_lines_stand_under_their_header() -> None:
    header, row, blank = lines(_interval())
    assert len(header) == len(row)
    assert blank == ""
    for name in ("r/s", "rareq-sz", "w_await", "%util"):
        end = header.index(name) + len(name)
        assert row[end - 1] != " "
        assert row[end : end + 1] in ("", " ")
