"""Credits that run out between two rows, or in short ones, are seen by all rows at the level; nothing else looks so."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers.left_out import long_after

import iocast
from iocast.analyse.facts import Facts
from iocast.analyse.levels import falls_between


@pytest.fixture(scope="module")
def between(tmp_path_factory: pytest.TempPathFactory) -> iocast.Card:
    """Credits of I/Os that are gone after the second row of four."""
    return iocast.card("sim:nvme,credits=3000/s:280k", out=str(tmp_path_factory.mktemp("between")))


@pytest.fixture(scope="module")
def of_bytes(tmp_path_factory: pytest.TempPathFactory) -> iocast.Card:
    """Credits of bytes that run out within the first row of scans."""
    return iocast.card("sim:qlc-ssd,byte_credits=100MB/s:20GB", out=str(tmp_path_factory.mktemp("bytes")))


def test_credits_of_ios_that_ran_out_between_two_rows_are_found(between: iocast.Card) -> None:
    (found,) = [each for each in between.examination.findings if each.code == "burst_credits"]
    assert found.evidence["baseline_per_s"] == pytest.approx(3000, rel=0.01)
    assert found.evidence["credits"] == pytest.approx(280_000, rel=0.01)
    assert "IOPS fell from 87,126 to 3,003 and stayed there" in found.says
    assert "credit_bytes" not in found.evidence
    assert not [each for each in between.examination.findings if each.code == "throttle"], "one explanation"


def test_a_ladder_is_cut_where_the_rate_fell_between_its_rows(between: iocast.Card) -> None:
    out = between.examination.excluded
    assert {name for name in out if out[name].fell == "after"} >= {
        "randread 8k 32x1",
        "randread 8k 4x16",
        "mixed 8k 8x1",
    }
    assert out["randread 8k 32x1"].why == (
        "it met the storage after the rate had fallen from 87,126 IOPS to 3,003 IOPS, between randread 8k 8x1 and"
        " randread 8k 32x1"
    )
    assert not any("lost" in each.says for each in between.examination.bounds.values()), "no knee of two states"
    grades = between.grades
    assert grades is not None
    interference = next(part for part in grades.parts if part.code == "write_interference")
    assert interference.letter is None, "reads on credits, a mix without"


def test_the_headline_says_on_which_side_its_rows_lie(between: iocast.Card) -> None:
    report = between.report()
    (peak,) = [each for each in report.figures if each.title == "Random 8k reads"]
    assert peak.says == "peak, at 8x1, before the rate fell"
    assert "8x1 reaches 87.1k IOPS, before the rate fell." in report.verdict


def test_credits_of_bytes_are_told_in_bytes(of_bytes: iocast.Card) -> None:
    (found,) = [each for each in of_bytes.examination.findings if each.code == "burst_credits"]
    assert found.phase == "read 1M 1x1"
    assert found.says.startswith("At t=1.2 s throughput fell from 2.3 GB/s to 100 MB/s and stayed there within ")
    assert "and scan 128k 1x1 and 1 more row of other sizes go at the same throughput" in found.says
    assert found.evidence["baseline_bytes_per_s"] == pytest.approx(100e6, rel=0.01)
    assert found.evidence["credit_bytes"] == pytest.approx(20e9, rel=0.05)
    assert not [each for each in of_bytes.examination.findings if each.code in ("stalls", "throttle")]


def test_no_headline_and_no_letter_stands_on_a_row_in_which_the_rate_fell(of_bytes: iocast.Card) -> None:
    assert of_bytes.examination.excluded["read 1M 1x1"].fell == "within"
    report = of_bytes.report()
    (scan,) = [each for each in report.figures if each.title == "1M scan"]
    assert (scan.value, scan.says) == (pytest.approx(100e6, rel=0.01), "at 8x1, after the rate fell")
    assert "1M sequential reads reach 100 MB/s at 8x1, after the rate fell." in report.verdict
    assert of_bytes.grades is not None
    graded = next(part for part in of_bytes.grades.parts if part.code == "scan")
    assert graded.figures["mb_per_s"] == pytest.approx(100, rel=0.01)


@pytest.mark.long
def test_a_bucket_of_bytes_that_is_emptied_by_small_reads_is_one_of_bytes(tmp_path: Path) -> None:
    card = iocast.card("sim:nvme,byte_credits=200MB/s:10GB", out=str(tmp_path))
    (found,) = [each for each in card.examination.findings if each.code == "burst_credits"]
    assert found.says.startswith("Before the row with 64 outstanding I/Os throughput fell from 2.9 GB/s to 200 MB/s")
    assert found.evidence["credit_bytes"] == pytest.approx(10e9, rel=0.01)
    assert [card.examination.bounds[name].by for name in ("read 1M 1x1", "read 1M 8x1")] == ["device_or_limit"] * 2
    assert "an empty burst bucket" in card.examination.bounds["read 1M 8x1"].says


@pytest.mark.long
def test_a_bucket_that_is_empty_within_the_last_row_of_a_ladder_is_told_by_rows_of_other_sizes(tmp_path: Path) -> None:
    card = iocast.card("sim:nvme,byte_credits=300MB/s:15GB,hit=30%:15us", out=str(tmp_path))
    (found,) = [each for each in card.examination.findings if each.code == "burst_credits"]
    assert (found.phase, found.says.partition(" fell")[0]) == ("randread 8k 4x16", "At t=1 s throughput")
    assert found.evidence["baseline_bytes_per_s"] == pytest.approx(300e6, rel=0.01)


@pytest.mark.parametrize(
    "target",
    long_after(
        1,
        [
            "sim:nvme",
            "sim:hdd",
            "sim:cached-array",
            "sim:nfs-filer",
            "sim:nvme,iops=3000/s",
            "sim:nvme,throughput=200MB/s",
            "sim:nvme,bandwidth=200MB/s",
            "sim:nvme,servers=8,usl=0.05:0.02",
            "sim:sata-ssd,stall=300ms/4s",
        ],
    ),
)
def test_storage_whose_rate_never_fell_has_no_such_level(target: str, tmp_path: Path) -> None:
    """A cap, a full link, a law that bends down: the same rate at more load, or less at each, from the start."""
    card = iocast.card(target, out=str(tmp_path))
    assert falls_between(Facts(card.run)) == ()
    assert not [each for each in card.examination.findings if each.code == "burst_credits"]
